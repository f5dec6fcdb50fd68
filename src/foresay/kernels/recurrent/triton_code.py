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

import re
from collections.abc import Iterable
from dataclasses import dataclass

from foresay.kernels.recurrent.fuse import Fused, Kernel, Run, products_after
from foresay.kernels.recurrent.graph import Operation, Value
from foresay.kernels.recurrent.maths import delay

BJ = 16
LOADED = 1 << 16  # bytes
CACHED = "cache_modifier='.cg'"  # through the second-level cache, where other programs' stores arrive
PRELUDE = """
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def sigmoid(x):
    return 1 / (1 + tl.exp(-x))


@triton.jit
def tanh(x):
    return 2 / (1 + tl.exp(-2 * x)) - 1


@triton.jit
def arrive(counter):
    tl.debug_barrier()
    tl.atomic_add(counter, 1, sem="release", scope="gpu")


@triton.jit
def look(counter):
    return tl.inline_asm_elementwise(
        "ld.global.acquire.gpu.u32 $0, [$1];", "=r,l", [counter], dtype=tl.int32, is_pure=False, pack=1
    )


@triton.jit
def wait(counter, target):
    while look(counter) < target:
        pass
    tl.debug_barrier()
"""
INFIX = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "div": "/",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
INFIX |= {"and": "&", "or": "|"}
CALLS = {
    "sigmoid": "sigmoid",
    "tanh": "tanh",
    "exp": "tl.exp",
    "log": "tl.log",
    "sqrt": "tl.sqrt",
    "rsqrt": "tl.rsqrt",
    "abs": "tl.abs",
    "erf": "tl.erf",
    "sin": "tl.sin",
    "cos": "tl.cos",
    "log1p": "libdevice.log1p",
    "expm1": "libdevice.expm1",
    "maximum": "tl.maximum",
    "minimum": "tl.minimum",
    "where": "tl.where",
}


def identifier(key: str) -> str:
    """A key as a variable: value:rh -> value_rh."""
    return re.sub(r"\W", "_", key)


def expression(step: Operation, name: dict[str, str]) -> str:
    a = [name[argument] if isinstance(argument, str) else repr(argument) for argument in step.arguments]
    if step.kind in INFIX:
        return f"{a[0]} {INFIX[step.kind]} {a[1]}"
    if step.kind in ("neg", "not"):
        return f"{'-' if step.kind == 'neg' else '~'}({a[0]})"
    extra = ", propagate_nan=tl.PropagateNan.ALL" if step.kind in ("maximum", "minimum") else ""
    return f"{CALLS[step.kind]}({', '.join(a)}{extra})"


@dataclass(frozen=True)
class Shape:
    """How a recurrence is spread: rows of a program (BN), its warps, and the most units of one tl.dot."""

    rows: int
    warps: int
    most: int

    def chunks(self, units: int, *, split: bool) -> list[tuple[int, int]]:
        """(first unit, how many) of each dot: powers of two, the last one reaching past the end as little as can be.

        Where the warps split a chunk, each gets sixteen units at least.
        """
        least = 16 * self.warps if split else 16
        chunks, begin = [], 0
        while begin < units:
            left = -(-(units - begin) // least) * least
            size = min(self.most, 1 << (left.bit_length() - 1))
            chunks.append((begin, size))
            begin += size
        return chunks


class _Lines:
    def __init__(self) -> None:
        self.lines: list[str] = []
        self.depth = 1

    def __call__(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)


def pieces(gates: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Gates in groups that are multiplied together: four at a time (three count as four), else one by one."""
    fours = [gates[i : i + 4] for i in range(0, len(gates), 4)]
    return [one for piece in fours for one in ([piece] if len(piece) > 2 else [(gate,) for gate in piece])]


class Persistent:
    """Writes both kernels of a cell whose gates, states and values are all `size` wide."""

    def __init__(self, fused: Fused, *, masked: bool, forwards: Shape, backwards: Shape) -> None:
        self.fused, self.masked = fused, masked
        self.maths, self.phases = fused.phases.maths, fused.phases.phases
        self.size = self.maths.widths["state:h"]
        self.shapes = {"forwards": forwards, "backwards": backwards}
        # operands on their way at once on the way back: all of a narrow one, or shared memory would not hold them
        self.together = max(1, LOADED // (backwards.most * backwards.rows * 2))
        self.sources = list(fused.runs)
        self.reads = [key for kind in ("vector", "noise") for key in self.maths.read(kind)]
        self.gates = [*self.maths.fed, *(gate for gate in self.maths.gates if gate not in self.maths.fed)]
        self.unfed = [gate for gate in self.gates if gate not in self.maths.fed]

    def source(self) -> str:
        return "\n".join([PRELUDE, "", *self._forwards(), "", *self._backwards(), ""])

    # what both kernels share

    def arguments(self, direction: str) -> list[str]:
        """The names of the kernel's pointers in order."""
        names = ["fed", "unfed", *(f"state:{name}" for name in self.maths.states), *self.reads]
        names += [f"weight:{source}" for source in self.sources]
        names += ["mask"] if self.masked else []
        if direction == "forwards":
            return names + [f"operand:{key}" for key in self.fused.phases.operands]
        names += ["dfed", "dunfed"]
        names += [f"outer:{name}" for name in self.maths.states] + [f"first:{name}" for name in self.maths.states]
        return names + [f"d{key}" for key in self.reads if key.startswith("vector:")]

    def _head(self, w: _Lines, direction: str) -> None:
        shape = self.shapes[direction]
        pointers = ", ".join(identifier(name) for name in self.arguments(direction))
        outer = (
            "".join(f", OUTER_{name}: tl.constexpr" for name in self.maths.states) if direction == "backwards" else ""
        )
        vectors = "".join(f", ROW_{identifier(k)}: tl.constexpr" for k in self.reads if k.startswith("vector:"))
        w.lines.append("@triton.jit")
        w.lines.append(f"def {direction}({pointers}, counter, T, B{outer}{vectors}):")
        w(f"H: tl.constexpr = {self.size}")
        w(f"BN: tl.constexpr = {shape.rows}")
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
        for key in self.reads:
            if key.startswith("vector:"):
                name = identifier(key)
                at = f"R[None, :] * ROW_{name} + J[:, None]"  # ROW is 0 where all rows share the vector
                w(f"{name}_value = tl.load({name} + {at}, mask=keep, other=0).to(tl.float32)")

    def _place(self, gate: str) -> str:
        array = "fed" if gate in self.maths.fed else "unfed"
        order = self.maths.fed if gate in self.maths.fed else self.unfed
        return f"here_{array} + {list(order).index(gate) * self.size}"

    def _array(self, gate: str) -> str:
        return "fed" if gate in self.maths.fed else "unfed"

    def _units(self, w: _Lines, name: str, begin: int, size: int, *, split: int) -> None:
        """Names the units of a chunk; `split` over so many warps, 0 where the chunk stays whole."""
        if split:
            per = size // split
            w(f"{name} = tl.arange(0, {split})[:, None] * {per} + tl.arange(0, {per})[None, :] + {begin}")
        else:
            w(f"{name} = tl.arange(0, {size}) + {begin}")

    def _meet(self, w: _Lines) -> None:
        w("target += together")
        w("wait(counter, target)")

    def _compute(self, w: _Lines, kernel: Kernel, phase: int, names: dict[str, str]) -> dict[str, str]:
        """The pointwise operations of a kernel; names of inputs and results as variables."""
        names = dict(names)
        for part in kernel.parts:
            for step in part.operations:
                names[step.name] = f"p{phase}_{step.name}"
                w(f"{names[step.name]} = {expression(step, names)}")
        return names

    # forwards

    def _forward_weights(self, w: _Lines) -> None:
        shape = self.shapes["forwards"]
        for form, split in (("k", 0), ("s", shape.warps)):
            for c, chunk in enumerate(shape.chunks(self.size, split=bool(split))):
                self._units(w, f"{form}{c}", *chunk, split=split)
        for number, source in enumerate(self.sources):
            gates = self.fused.phases.seen[source]
            weight = identifier(f"weight:{source}")
            for piece_number, piece in enumerate(pieces(gates)):
                first, stacked = gates.index(piece[0]), len(piece) > 2
                if stacked:
                    w(f"m = tl.arange(0, {4 * BJ})")
                    w(f"column = tl.program_id(0) * {BJ} + m % {BJ}")
                    w(f"row = (m // {BJ} + {first}) * H + column")
                    w(f"good = (column < H) & (m // {BJ} < {len(piece)})")
                for c in range(len(shape.chunks(self.size, split=not stacked))):
                    if stacked:
                        at, ok = f"row[:, None] * H + k{c}[None, :]", f"good[:, None] & (k{c} < H)[None, :]"
                    else:
                        at = f"({first} * H + J)[None, :, None] * H + s{c}[:, None, :]"
                        ok = f"(J < H)[None, :, None] & (s{c} < H)[:, None, :]"
                    w(f"w{number}_{piece_number}_{c} = tl.load({weight} + {at}, mask={ok}, other=0)")

    def _forward_product(self, w: _Lines, source: str) -> None:
        """Adds a source's product to the gates that see it."""
        shape, number, lag = self.shapes["forwards"], self.sources.index(source), delay(source)
        if lag:
            pointer = f"{identifier('state:' + source[6:].split('@')[0])} - {lag} * B * H"
        else:
            pointer = identifier(f"operand:{source}")
        groups = pieces(self.fused.phases.seen[source])
        if any(len(piece) > 2 for piece in groups):
            for c in range(len(shape.chunks(self.size, split=False))):
                ok = f"real_row[None, :] & (k{c} < H)[:, None]"
                w(f"ok{c} = tl.load({pointer} + R[None, :] * H + k{c}[:, None], mask={ok}, other=0, {CACHED})")
        if any(len(piece) < 3 for piece in groups):
            for c in range(len(shape.chunks(self.size, split=True))):
                at, ok = f"R[None, None, :] * H + s{c}[:, :, None]", f"real_row[None, None, :] & (s{c} < H)[:, :, None]"
                w(f"os{c} = tl.load({pointer} + {at}, mask={ok}, other=0, {CACHED})")
        for piece_number, piece in enumerate(groups):
            form = "k" if len(piece) > 2 else "s"
            for c in range(len(shape.chunks(self.size, split=form == "s"))):
                w(f"a = tl.dot(w{number}_{piece_number}_{c}, o{form}{c}{', a' if c else ''})")
            if form == "s":
                (gate,) = piece
                w(f"gate_{gate} += tl.sum(a, 0)")
                continue
            w(f"low, high = tl.split(tl.permute(tl.reshape(a, (2, 2, {BJ}, BN)), (2, 3, 0, 1)))")
            w("a0, a2 = tl.split(low)")
            w("a1, a3 = tl.split(high)")
            for i, gate in enumerate(piece):
                w(f"gate_{gate} += a{i}")

    def _forward_loads(self, w: _Lines, mask: str) -> None:
        """What a step reads that does not depend on the step before."""
        for gate in self.maths.fed:
            w(f"gate_{gate} = tl.load(fed + {self._place(gate)}, mask={mask}, other=0).to(tl.float32)")
        for gate in self.unfed:
            w(f"gate_{gate} = tl.zeros([{BJ}, BN], dtype=tl.float32)")
        for key in self.reads:
            if key.startswith("noise:"):
                w(f"{identifier(key)}_value = tl.load({identifier(key)} + here, mask={mask}, other=0).to(tl.float32)")
        if self.masked:
            self._load_mask(w, more=mask != "keep")

    def _forwards(self) -> list[str]:
        w = _Lines()
        self._head(w, "forwards")
        self._forward_weights(w)
        for name in self.maths.states:
            w(f"state_{name} += {self.fused.before - 1} * B * H")
            w(f"before_{name} = tl.load(state_{name} + here, mask=keep, other=0).to(tl.float32)")
            w(f"state_{name} += B * H")
        self._forward_loads(w, "keep")
        w("for t in range(T):")
        w.depth = 2
        values: dict[str, str] = {}
        for index, (phase, kernel) in enumerate(zip(self.phases, self.fused.forwards, strict=True)):
            for source in phase.sources:
                self._forward_product(w, source)
            names = self._compute(w, kernel, index, self._names())
            stores = [store for part in kernel.parts for store in part.stores]
            for store in stores:
                if store.to.array.startswith("state:"):
                    values[store.to.array[6:]] = _text(store.value, names)
                else:
                    pointer = identifier(store.to.array)
                    self._put(w, pointer, "here", _text(store.value, names))
            if index + 1 < len(self.phases):
                w("arrive(counter)")
                self._meet(w)
        for name, value in values.items():
            w(f"after_{name} = {f'tl.where(real, {value}, before_{name})' if self.masked else value}")
            self._put(w, f"state_{name}", "here", f"after_{name}")
        w("arrive(counter)")
        for gate in self.gates:
            self._put(w, self._array(gate), self._place(gate), f"gate_{gate}")
        self._advance(w, ["fed", "unfed", *(identifier(k) for k in self.reads if k.startswith("noise:"))], "+=")
        self._advance(w, [identifier(f"operand:{key}") for key in self.fused.phases.operands], "+=")
        self._advance(w, [f"state_{name}" for name in self.maths.states], "+=")
        if self.masked:
            w("mask += B")
        w("more = keep & (t + 1 < T)")
        self._forward_loads(w, "more")
        for name in values:
            w(f"before_{name} = after_{name}")
        self._meet(w)
        return w.lines

    def _names(self) -> dict[str, str]:
        names = {f"gate:{gate}": f"gate_{gate}" for gate in self.gates}
        names |= {f"state:{name}": f"before_{name}" for name in self.maths.states}
        return names | {key: f"{identifier(key)}_value" for key in self.reads}

    def _load_mask(self, w: _Lines, *, more: bool) -> None:
        within = "real_row & (t + 1 < T)" if more else "real_row"
        w(f"real = tl.load(mask + R, mask={within}, other=0)[None, :] != 0")

    def _put(self, w: _Lines, pointer: str, place: str, value: str) -> None:
        whole = f"tl.zeros([{BJ}, BN], dtype=tl.float32) + {value}"  # a value may be a number
        w(f"tl.store({pointer} + {place}, ({whole}).to({pointer}.dtype.element_ty), mask=keep)")

    def _advance(self, w: _Lines, pointers: Iterable[str], sign: str) -> None:
        for pointer in pointers:
            width = {"fed": "CF", "dfed": "CF", "unfed": "CU", "dunfed": "CU"}.get(pointer, "H")
            w(f"{pointer} {sign} B * {width}")

    # backwards

    def _backward_chunks(self, source: str) -> list[tuple[str, Run, int, int]]:
        """The chunks of a source's gates: (name, run, first column in the run, how many)."""
        shape, number = self.shapes["backwards"], self.sources.index(source)
        runs = enumerate(self.fused.runs[source])
        return [
            (f"{number}_{r}_{c}", run, *chunk)
            for r, run in runs
            for c, chunk in enumerate(shape.chunks(run.end - run.begin, split=True))
        ]

    def _backward_weights(self, w: _Lines) -> None:
        warps = self.shapes["backwards"].warps
        for source in self.sources:
            weight = identifier(f"weight:{source}")
            for name, run, begin, size in self._backward_chunks(source):
                self._units(w, f"s{name}", begin, size, split=warps)
                at = f"({run.rows[0]} + s{name})[:, None, :] * H + J[None, :, None]"
                ok = f"(J < H)[None, :, None] & (s{name} < {run.end - run.begin})[:, None, :]"
                w(f"w{name} = tl.load({weight} + {at}, mask={ok}, other=0)")

    def _backward_product(self, w: _Lines, source: str, to: str) -> None:
        """Adds to `to` the gradient that comes back through a source's product."""
        lag, chunks = delay(source), self._backward_chunks(source)
        for i, (name, run, _, _) in enumerate(chunks):
            columns = "CF" if run.array == "fed" else "CU"
            pointer, ok = f"d{run.array} + {run.begin}", "real_row[None, None, :]"
            if lag > 1:  # the gates that saw this state stand `lag - 1` steps after this one
                pointer, ok = f"{pointer} + {lag - 1} * B * {columns}", f"{ok} & (t >= {lag - 1})"
            at, ok = (
                f"R[None, None, :] * {columns} + s{name}[:, :, None]",
                f"{ok} & (s{name} < {run.end - run.begin})[:, :, None]",
            )
            w(f"e{name} = tl.load({pointer} + {at}, mask={ok}, other=0, {CACHED})")
            if (i + 1) % self.together == 0 or i + 1 == len(chunks):
                for k in range(i - i % self.together, i + 1):
                    w(f"a = tl.dot(w{chunks[k][0]}, e{chunks[k][0]}{', a' if k else ''})")
        w(f"{to} += tl.sum(a, 0)")

    def _backward_loads(self, w: _Lines, mask: str) -> None:
        for gate in self.gates:
            w(f"gate_{gate} = tl.load({self._array(gate)} + {self._place(gate)}, mask={mask}, other=0).to(tl.float32)")
        for key in self.reads:
            if key.startswith("noise:"):
                w(f"{identifier(key)}_value = tl.load({identifier(key)} + here, mask={mask}, other=0).to(tl.float32)")
        for name in self.maths.states:
            w(f"before_{name} = tl.load(state_{name} + here, mask={mask}, other=0).to(tl.float32)")
            w(f"if OUTER_{name}:")
            w(f"    outer_{name}_value = tl.load(outer_{name} + here, mask={mask}, other=0).to(tl.float32)")
        if self.masked:
            self._load_mask(w, more=mask != "keep")

    def _backwards(self) -> list[str]:
        w = _Lines()
        self._head(w, "backwards")
        self._backward_weights(w)
        zeros = f"tl.zeros([{BJ}, BN], dtype=tl.float32)"
        noises = [identifier(key) for key in self.reads if key.startswith("noise:")]
        vectors = [key for key in self.reads if key.startswith("vector:")]
        for pointer, width in (
            ("fed", "CF"),
            ("unfed", "CU"),
            ("dfed", "CF"),
            ("dunfed", "CU"),
            *((n, "H") for n in noises),
        ):
            w(f"{pointer} += (T - 1) * B * {width}")
        for name in self.maths.states:
            w(f"state_{name} += (T + {self.fused.before - 2}) * B * H")
            w(f"outer_{name} += (T + {self.fused.before - 1}) * B * H")
            w(f"grad_{name} = {zeros}")
        for key in vectors:
            w(f"d{identifier(key)}_value = {zeros}")
        if self.masked:
            w("mask += (T - 1) * B")
        self._backward_loads(w, "keep")
        w("for t in range(T):")
        w.depth = 2
        for name in self.maths.states:
            w(f"if OUTER_{name}:")
            w(f"    grad_{name} += outer_{name}_value")
            if self.masked:
                w(f"before_grad_{name} = tl.where(real, 0.0, grad_{name})")
                w(f"grad_{name} = tl.where(real, grad_{name}, 0.0)")
            else:
                w(f"before_grad_{name} = {zeros}")
        for phase in self.phases:
            for key in phase.gives:
                w(f"{identifier('back:' + key)} = {zeros}")
        for index in reversed(range(len(self.phases))):
            self._backward_phase(w, index)
        return self._backward_end(w, noises, vectors)

    def _backward_phase(self, w: _Lines, index: int) -> None:
        kernel = self.fused.backwards[index]
        given = self._names()
        given |= {f"after:{name}": f"grad_{name}" for name in self.maths.states}
        given |= {f"back:{key}": identifier(f"back:{key}") for phase in self.phases for key in phase.gives}
        names = self._compute(w, kernel, index, given)
        for store in (store for part in kernel.parts for store in part.stores):
            value, array = _text(store.value, names), store.to.array
            if array in ("dfed", "dunfed"):
                self._put(w, array, f"here_{array[1:]} + {store.to.column}", value)
            elif array.startswith("dstate:"):
                w(f"before_grad_{array[7:]} += {value}")
            elif array.startswith("dvector:"):
                w(f"{identifier(array)}_value += {value}")
            elif store.adds:
                w(f"{identifier(array)} += {value}")
        ready = products_after(self.fused)[index]
        if index:
            w("arrive(counter)")
            self._meet(w)
            for source in ready:
                state = source[6:].split("@")[0]
                to = f"before_grad_{state}" if delay(source) else identifier(f"back:{source}")
                self._backward_product(w, source, to)

    def _backward_end(self, w: _Lines, noises: list[str], vectors: list[str]) -> list[str]:
        """What all phases have left: the products with earlier states, while the next step's loads are on their way."""
        w("arrive(counter)")
        self._advance(w, ["fed", "unfed", *noises], "-=")
        self._advance(w, [f"{kind}_{name}" for name in self.maths.states for kind in ("state", "outer")], "-=")
        if self.masked:
            w("mask -= B")
        w("more = keep & (t + 1 < T)")
        self._backward_loads(w, "more")
        self._meet(w)
        for source in products_after(self.fused)[0]:
            state = source[6:].split("@")[0]
            self._backward_product(w, source, f"before_grad_{state}")
        self._advance(w, ["dfed", "dunfed"], "-=")
        for name in self.maths.states:
            w(f"grad_{name} = before_grad_{name}")
        w.depth = 1
        for name in self.maths.states:
            self._put(w, f"first_{name}", "here", f"grad_{name}")
        for key in vectors:
            self._put(w, f"d{identifier(key)}", "here", f"d{identifier(key)}_value")
        return w.lines


def _text(value: Value, names: dict[str, str]) -> str:
    return names[value] if isinstance(value, str) else repr(value)
