"""A whole recurrence as one Triton kernel that stays on the chip: weights are read once, steps meet at a barrier.

Program (j, r) owns BJ units and BN rows: it keeps their states in registers and, in shared memory, the weights of every
product into its units. Each step it multiplies them with the operand of all units (bf16 or float16, read through the
second-level cache, where the other programs left it), does its share of the pointwise maths in float32, and writes its
share of the next operand. Rows are independent, so only programs that share rows wait for each other.

Backwards is the same with gradients: a program gathers the gradients of all gates through its units' columns.

A product of three or four gates is one matrix product of 4 BJ rows. One of fewer gates is split along the operand's
units over the warps and summed, because sixteen rows alone would leave most of the chip's warps idle.
"""

from __future__ import annotations

from collections.abc import Iterable

from foresay.kernels.recurrent.fuse import Fused, Kernel
from foresay.kernels.recurrent.spread import BJ, Shape
from foresay.kernels.recurrent.triton_expressions import expression, identifier

CACHED = "cache_modifier='.cg'"  # through the second-level cache, where other programs' stores arrive


class Lines:
    """Lines of a kernel, indented by `depth`."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def __call__(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)


class Written:
    """What the kernels of both directions share; all gates, states and values are `size` wide."""

    direction: str

    def __init__(self, fused: Fused, shape: Shape, *, masked: bool) -> None:
        self.fused, self.shape, self.masked = fused, shape, masked
        self.maths, self.phases = fused.phases.maths, fused.phases.phases
        self.size = self.maths.widths["state:h"]
        self.sources = list(fused.runs)
        self.reads = [key for kind in ("vector", "noise") for key in self.maths.read(kind)]
        self.vectors = [key for key in self.reads if key.startswith("vector:")]
        self.noises = [identifier(key) for key in self.reads if key.startswith("noise:")]
        self.gates = [*self.maths.fed, *(gate for gate in self.maths.gates if gate not in self.maths.fed)]
        self.unfed = [gate for gate in self.gates if gate not in self.maths.fed]

    def lines(self) -> list[str]:
        """The whole kernel."""
        raise AssertionError(f"{type(self).__name__} writes nothing")

    def flags(self) -> list[str]:
        """Names of what is fixed when a kernel is compiled."""
        return [f"ROW_{identifier(key)}" for key in self.vectors]

    def arguments(self) -> list[str]:
        """The names of the kernel's pointers in order."""
        names = ["fed", "unfed", *(f"state:{name}" for name in self.maths.states), *self.reads]
        names += [f"weight:{source}" for source in self.sources]
        return names + (["mask"] if self.masked else [])

    def head(self, w: Lines) -> None:
        pointers = ", ".join(identifier(name) for name in self.arguments())
        flags = "".join(f", {flag}: tl.constexpr" for flag in self.flags())
        w.lines.append("@triton.jit")
        w.lines.append(f"def {self.direction}({pointers}, counter, T, B{flags}):")
        w(f"H: tl.constexpr = {self.size}")
        w(f"BN: tl.constexpr = {self.shape.rows}")
        w(f"CF: tl.constexpr = {self.fused.columns['fed']}")
        w(f"CU: tl.constexpr = {self.fused.columns['unfed']}")
        w(f"J = tl.program_id(0) * {BJ} + tl.arange(0, {BJ})")
        w("R = tl.program_id(1) * BN + tl.arange(0, BN)")
        w("counter += tl.program_id(1) * 32")
        w("together = tl.num_programs(0)")
        w("target = 0")
        w("real_row = R < B")
        w("keep = (J < H)[:, None] & real_row[None, :]")
        w("here = R[None, :] * H + J[:, None]")
        w("here_fed = R[None, :] * CF + J[:, None]")
        w("here_unfed = R[None, :] * CU + J[:, None]")
        for key in self.vectors:
            name = identifier(key)
            at = f"R[None, :] * ROW_{name} + J[:, None]"  # ROW is 0 where all rows share the vector
            w(f"{name}_value = tl.load({name} + {at}, mask=keep, other=0).to(tl.float32)")

    def place(self, gate: str) -> str:
        array = "fed" if gate in self.maths.fed else "unfed"
        order = self.maths.fed if gate in self.maths.fed else self.unfed
        return f"here_{array} + {list(order).index(gate) * self.size}"

    def array(self, gate: str) -> str:
        return "fed" if gate in self.maths.fed else "unfed"

    def units(self, w: Lines, name: str, begin: int, size: int, *, split: int) -> None:
        """Names the units of a chunk; `split` over so many warps, 0 where the chunk stays whole."""
        if split:
            per = size // split
            w(f"{name} = tl.arange(0, {split})[:, None] * {per} + tl.arange(0, {per})[None, :] + {begin}")
        else:
            w(f"{name} = tl.arange(0, {size}) + {begin}")

    def meet(self, w: Lines) -> None:
        w("target += together")
        w("wait(counter, target)")

    def compute(self, w: Lines, kernel: Kernel, phase: int, names: dict[str, str]) -> dict[str, str]:
        """The pointwise operations of a kernel; names of inputs and results as variables."""
        names = dict(names)
        for part in kernel.parts:
            for step in part.operations:
                names[step.name] = f"p{phase}_{step.name}"
                w(f"{names[step.name]} = {expression(step, names)}")
        return names

    def names(self) -> dict[str, str]:
        names = {f"gate:{gate}": f"gate_{gate}" for gate in self.gates}
        names |= {f"state:{name}": f"before_{name}" for name in self.maths.states}
        return names | {key: f"{identifier(key)}_value" for key in self.reads}

    def load_noises(self, w: Lines, mask: str) -> None:
        """What a step reads whatever its direction: noise, and which rows are real."""
        for name in self.noises:
            w(f"{name}_value = tl.load({name} + here, mask={mask}, other=0).to(tl.float32)")
        if self.masked:
            within = "real_row" if mask == "keep" else "real_row & (t + 1 < T)"
            w(f"real = tl.load(mask + R, mask={within}, other=0)[None, :] != 0")

    def put(self, w: Lines, pointer: str, place: str, value: str) -> None:
        whole = f"tl.zeros([{BJ}, BN], dtype=tl.float32) + {value}"  # a value may be a number
        w(f"tl.store({pointer} + {place}, ({whole}).to({pointer}.dtype.element_ty), mask=keep)")

    def advance(self, w: Lines, pointers: Iterable[str], sign: str) -> None:
        for pointer in pointers:
            width = {"fed": "CF", "dfed": "CF", "unfed": "CU", "dunfed": "CU"}.get(pointer, "H")
            w(f"{pointer} {sign} B * {width}")
