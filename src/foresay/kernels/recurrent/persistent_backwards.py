"""The persistent kernel of the way back: gradients of gates, phase by phase, and of the states before each step."""

from __future__ import annotations

from foresay.kernels.recurrent.fuse import Run, products_after
from foresay.kernels.recurrent.maths import delay, state_of
from foresay.kernels.recurrent.persistent_code import CACHED, Lines, Written
from foresay.kernels.recurrent.spread import BJ, LOADED
from foresay.kernels.recurrent.triton_expressions import identifier, value_text


class Backwards(Written):
    direction = "backwards"

    @property
    def together(self) -> int:
        """How many operands are on their way at once: all of a narrow one, or shared memory would not hold them."""
        return max(1, LOADED // (self.shape.most * self.shape.rows * 2))

    def flags(self) -> list[str]:
        return [*super().flags(), *(f"OUTER_{name}" for name in self.maths.states)]

    def arguments(self) -> list[str]:
        states = [f"{kind}:{name}" for kind in ("outer", "first") for name in self.maths.states]
        return [*super().arguments(), "dfed", "dunfed", *states, *(f"d{key}" for key in self.vectors)]

    def _chunks(self, source: str) -> list[tuple[str, Run, int, int]]:
        """The chunks of a source's gates: (name, run, first column in the run, how many)."""
        shape, number = self.shape, self.sources.index(source)
        runs = enumerate(self.fused.runs[source])
        return [
            (f"{number}_{r}_{c}", run, *chunk)
            for r, run in runs
            for c, chunk in enumerate(shape.chunks(run.end - run.begin, split=True))
        ]

    def _weights(self, w: Lines) -> None:
        warps = self.shape.warps
        for source in self.sources:
            weight = identifier(f"weight:{source}")
            for name, run, begin, size in self._chunks(source):
                self.units(w, f"s{name}", begin, size, split=warps)
                at = f"({run.rows[0]} + s{name})[:, None, :] * H + J[None, :, None]"
                ok = f"(J < H)[None, :, None] & (s{name} < {run.end - run.begin})[:, None, :]"
                w(f"w{name} = tl.load({weight} + {at}, mask={ok}, other=0)")

    def _product(self, w: Lines, source: str, to: str) -> None:
        """Adds to `to` the gradient that comes back through a source's product."""
        lag, chunks = delay(source), self._chunks(source)
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

    def _loads(self, w: Lines, mask: str) -> None:
        for gate in self.gates:
            w(f"gate_{gate} = tl.load({self.array(gate)} + {self.place(gate)}, mask={mask}, other=0).to(tl.float32)")
        self.load_noises(w, mask)
        for name in self.maths.states:
            w(f"before_{name} = tl.load(state_{name} + here, mask={mask}, other=0).to(tl.float32)")
            w(f"if OUTER_{name}:")
            w(f"    outer_{name}_value = tl.load(outer_{name} + here, mask={mask}, other=0).to(tl.float32)")

    def lines(self) -> list[str]:
        w = Lines()
        self.head(w)
        self._weights(w)
        zeros = f"tl.zeros([{BJ}, BN], dtype=tl.float32)"
        for pointer, width in (
            ("fed", "CF"),
            ("unfed", "CU"),
            ("dfed", "CF"),
            ("dunfed", "CU"),
            *((n, "H") for n in self.noises),
        ):
            w(f"{pointer} += (T - 1) * B * {width}")
        for name in self.maths.states:
            w(f"state_{name} += (T + {self.fused.before - 2}) * B * H")
            w(f"outer_{name} += (T + {self.fused.before - 1}) * B * H")
            w(f"grad_{name} = {zeros}")
        for key in self.vectors:
            w(f"d{identifier(key)}_value = {zeros}")
        if self.masked:
            w("mask += (T - 1) * B")
        self._loads(w, "keep")
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
            self._phase(w, index)
        return self._end(w)

    def _phase(self, w: Lines, index: int) -> None:
        kernel = self.fused.backwards[index]
        given = self.names()
        given |= {f"after:{name}": f"grad_{name}" for name in self.maths.states}
        given |= {f"back:{key}": identifier(f"back:{key}") for phase in self.phases for key in phase.gives}
        names = self.compute(w, kernel, index, given)
        for store in (store for part in kernel.parts for store in part.stores):
            value, array = value_text(store.value, names), store.to.array
            if array in ("dfed", "dunfed"):
                self.put(w, array, f"here_{array[1:]} + {store.to.column}", value)
            elif array.startswith("dstate:"):
                w(f"before_grad_{array[7:]} += {value}")
            elif array.startswith("dvector:"):
                w(f"{identifier(array)}_value += {value}")
            elif store.adds:
                w(f"{identifier(array)} += {value}")
        ready = products_after(self.fused)[index]
        if index:
            w("arrive(counter)")
            self.meet(w)
            for source in ready:
                state = state_of(source)
                to = f"before_grad_{state}" if delay(source) else identifier(f"back:{source}")
                self._product(w, source, to)

    def _end(self, w: Lines) -> list[str]:
        """What all phases have left: the products with earlier states, while the next step's loads are on their way."""
        w("arrive(counter)")
        self.advance(w, ["fed", "unfed", *self.noises], "-=")
        self.advance(w, [f"{kind}_{name}" for name in self.maths.states for kind in ("state", "outer")], "-=")
        if self.masked:
            w("mask -= B")
        w("more = keep & (t + 1 < T)")
        self._loads(w, "more")
        self.meet(w)
        for source in products_after(self.fused)[0]:
            state = state_of(source)
            self._product(w, source, f"before_grad_{state}")
        self.advance(w, ["dfed", "dunfed"], "-=")
        for name in self.maths.states:
            w(f"grad_{name} = before_grad_{name}")
        w.depth = 1
        for name in self.maths.states:
            self.put(w, f"first_{name}", "here", f"grad_{name}")
        for key in self.vectors:
            self.put(w, f"d{identifier(key)}", "here", f"d{identifier(key)}_value")
        return w.lines
