"""The persistent kernel of the way forwards: gates, phase by phase, and the states after each step."""

from __future__ import annotations

from foresay.kernels.recurrent.maths import delay, state_of
from foresay.kernels.recurrent.persistent_code import CACHED, Lines, Written
from foresay.kernels.recurrent.spread import BJ, pieces
from foresay.kernels.recurrent.triton_expressions import identifier, value_text


class Forwards(Written):
    direction = "forwards"

    def arguments(self) -> list[str]:
        return super().arguments() + [f"operand:{key}" for key in self.fused.phases.operands]

    def _weights(self, w: Lines) -> None:
        shape = self.shape
        for form, split in (("k", 0), ("s", shape.warps)):
            for c, chunk in enumerate(shape.chunks(self.size, split=bool(split))):
                self.units(w, f"{form}{c}", *chunk, split=split)
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

    def _product(self, w: Lines, source: str) -> None:
        """Adds a source's product to the gates that see it."""
        shape, number, lag = self.shape, self.sources.index(source), delay(source)
        if lag:
            pointer = f"{identifier('state:' + state_of(source))} - {lag} * B * H"
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
                for gate in piece:  # it is one
                    w(f"gate_{gate} += tl.sum(a, 0)")
                continue
            w(f"low, high = tl.split(tl.permute(tl.reshape(a, (2, 2, {BJ}, BN)), (2, 3, 0, 1)))")
            w("a0, a2 = tl.split(low)")
            w("a1, a3 = tl.split(high)")
            for i, gate in enumerate(piece):
                w(f"gate_{gate} += a{i}")

    def _loads(self, w: Lines, mask: str) -> None:
        """What a step reads that does not depend on the step before."""
        for gate in self.maths.fed:
            w(f"gate_{gate} = tl.load(fed + {self.place(gate)}, mask={mask}, other=0).to(tl.float32)")
        for gate in self.unfed:
            w(f"gate_{gate} = tl.zeros([{BJ}, BN], dtype=tl.float32)")
        self.load_noises(w, mask)

    def lines(self) -> list[str]:
        w = Lines()
        self.head(w)
        self._weights(w)
        for name in self.maths.states:
            w(f"state_{name} += {self.fused.before - 1} * B * H")
            w(f"before_{name} = tl.load(state_{name} + here, mask=keep, other=0).to(tl.float32)")
            w(f"state_{name} += B * H")
        self._loads(w, "keep")
        w("for t in range(T):")
        w.depth = 2
        values: dict[str, str] = {}
        for index, (phase, kernel) in enumerate(zip(self.phases, self.fused.forwards, strict=True)):
            for source in phase.sources:
                self._product(w, source)
            names = self.compute(w, kernel, index, self.names())
            stores = [store for part in kernel.parts for store in part.stores]
            for store in stores:
                if store.to.array.startswith("state:"):
                    values[store.to.array[6:]] = value_text(store.value, names)
                else:
                    pointer = identifier(store.to.array)
                    self.put(w, pointer, "here", value_text(store.value, names))
            if index + 1 < len(self.phases):
                w("arrive(counter)")
                self.meet(w)
        for name, value in values.items():
            w(f"after_{name} = {f'tl.where(real, {value}, before_{name})' if self.masked else value}")
            self.put(w, f"state_{name}", "here", f"after_{name}")
        w("arrive(counter)")
        for gate in self.gates:
            self.put(w, self.array(gate), self.place(gate), f"gate_{gate}")
        self.advance(w, ["fed", "unfed", *self.noises], "+=")
        self.advance(w, [identifier(f"operand:{key}") for key in self.fused.phases.operands], "+=")
        self.advance(w, [f"state_{name}" for name in self.maths.states], "+=")
        if self.masked:
            w("mask += B")
        w("more = keep & (t + 1 < T)")
        self._loads(w, "more")
        for name in values:
            w(f"before_{name} = after_{name}")
        self.meet(w)
        return w.lines
