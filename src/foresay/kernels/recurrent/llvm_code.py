"""A fused kernel as LLVM's own language, sixteen numbers at a time, with a tail of single ones.

One function for each kernel, `void kernel(i64* table, i64 t, i64 begin, i64 end)`, for rows [begin, end) of step t. The
table holds for each array its address, the bytes from one step to the next and the bytes from one row to the next.
"""

from __future__ import annotations

from collections.abc import Callable

from foresay.kernels.recurrent.fuse import Access, Kernel, Part, Store
from foresay.kernels.recurrent.llvm_words import LANES, LIBRARY, TRUTHS, Writer, number, write_operation, write_value
from foresay.kernels.recurrent.operations import Operation, Value

SHARE = "_share"  # how the function ends that a team runs
_Body = Callable[[str], None]


class _Function:
    """One kernel as a function: rows outside, elements of a row inside."""

    def __init__(self, kernel: Kernel, *, masked: bool) -> None:
        self.kernel, self.masked = kernel, masked
        self.arrays = (*kernel.arrays, "mask") if masked else kernel.arrays
        self.writer = Writer()
        self.block = "entry"
        self.blocks = 0
        self.scratch: dict[tuple[int, str], str] = {}  # (part, operation) -> a row of results for a later pass
        self.totals: dict[tuple[int, str], tuple[str, str]] = {}  # (part, sum) -> its lanes, its tail

    def text(self) -> str:
        w = self.writer
        w.lines.append(f"define void @{self.kernel.name}(ptr %table, i64 %t, i64 %begin, i64 %end) {{")
        w.label("entry")
        for part_index, part in enumerate(self.kernel.parts):
            for name in _kept(part):
                self.scratch[part_index, name] = w.let(f"alloca [{part.width} x float], align 64")
            for step in part.operations:
                if step.kind.startswith("row_"):
                    self.totals[part_index, step.name] = (w.let(f"alloca <{LANES} x float>"), w.let("alloca float"))
        for index in range(len(self.arrays)):
            for offset, what in enumerate(("base", "step", "row")):
                place = w.let(f"getelementptr i64, ptr %table, i64 {3 * index + offset}")
                w.line(f"%{what}{index} = load i64, ptr {place}")
            moved = w.let(f"mul i64 %t, %step{index}")
            w.line(f"%now{index} = add i64 %base{index}, {moved}")
        w.line("br label %rows")
        w.label("rows")
        w.line("%b = phi i64 [ %begin, %entry ], [ %following, %next ]")
        w.line("%more = icmp ult i64 %b, %end")
        w.line("br i1 %more, label %row, label %done")
        w.label("row")
        self.block = "row"
        for index in range(len(self.arrays)):
            moved = w.let(f"mul i64 %b, %row{index}")
            w.line(f"%here{index} = add i64 %now{index}, {moved}")
        if self.masked:
            flag = w.let(f"inttoptr i64 %here{len(self.arrays) - 1} to ptr")
            flag = w.let(f"load i8, ptr {flag}")
            real = w.let(f"icmp ne i8 {flag}, 0")
            w.line(f"br i1 {real}, label %real, label %padded")
            self._enter("padded")
            self._padded()
            w.line("br label %next")
            self._enter("real")
        for index, part in enumerate(self.kernel.parts):
            self._part(index, part)
        w.line("br label %next")
        w.label("next")
        w.line("%following = add i64 %b, 1")
        w.line("br label %rows")
        w.label("done")
        w.line("ret void")
        w.lines.append("}")
        return "\n".join(w.lines)

    def _enter(self, label: str) -> None:
        self.writer.label(label)
        self.block = label

    def _pointer(self, access: Access) -> str:
        """The address of the first element of a row."""
        w, index = self.writer, self.arrays.index(access.array)
        place = f"%here{index}"
        if access.steps and access.shift:
            place = w.let(f"add i64 {place}, {w.let(f'mul i64 %step{index}, {access.shift}')}")
        if access.column:
            place = w.let(f"add i64 {place}, {4 * access.column}")
        return w.let(f"inttoptr i64 {place} to ptr")

    def _load(self, pointer: str, j: str) -> str:
        place = self.writer.let(f"getelementptr float, ptr {pointer}, i64 {j}")
        return self.writer.let(f"load {self.writer.type}, ptr {place}, align 4")

    def _store(self, pointer: str, j: str, value: str, *, adds: bool = False) -> None:
        place = self.writer.let(f"getelementptr float, ptr {pointer}, i64 {j}")
        if adds:
            old = self.writer.let(f"load {self.writer.type}, ptr {place}, align 4")
            value = self.writer.binary("fadd", old, value)
        self.writer.line(f"store {self.writer.type} {value}, ptr {place}, align 4")

    def _loop(self, width: int, body: _Body) -> None:
        """`body(j)` for every element of a row: sixteen at a time, then one at a time."""
        whole = width - width % LANES
        for lanes, begin, end in ((LANES, 0, whole), (1, whole, width)):
            if begin == end:
                continue
            w = self.writer
            self.blocks += 1
            loop, after, before = f"loop{self.blocks}", f"after{self.blocks}", self.block
            w.line(f"br label %{loop}")
            w.label(loop)
            w.line(f"%j{self.blocks} = phi i64 [ {begin}, %{before} ], [ %k{self.blocks}, %{loop} ]")
            number = self.blocks
            w.lanes = lanes
            body(f"%j{number}")
            w.lanes = 1
            w.line(f"%k{number} = add i64 %j{number}, {lanes}")
            more = w.let(f"icmp ult i64 %k{number}, {end}")
            w.line(f"br i1 {more}, label %{loop}, label %{after}")
            self._enter(after)

    def _padded(self) -> None:
        for part in self.kernel.parts:
            loads = {name: self._pointer(access) for name, access in part.padding_loads.items()}
            stores = [(self._pointer(store.to), store) for store in part.padding]

            def body(j: str, loads: dict[str, str] = loads, stores: list[tuple[str, Store]] = stores) -> None:
                values = {name: self._load(pointer, j) for name, pointer in loads.items()}
                for pointer, store in stores:
                    self._store(pointer, j, write_value(self.writer, store.value, values), adds=store.adds)

            if stores:
                self._loop(part.width, body)

    def _part(self, index: int, part: Part) -> None:
        """Pass after pass: a sum along the row ends one, and what follows from it is in the next."""
        w, levels = self.writer, _levels(part)
        rows: dict[str, str] = {}  # sums along the row that are known
        truths = {step.name for step in part.operations if step.kind in TRUTHS}
        last = max(levels.values(), default=0)
        for level in range(last + 1):
            sums = [s for s in part.operations if s.kind.startswith("row_") and levels[s.name] == level + 1]
            # a number takes the place of what every pass may read, so it is written in the last
            due = [last if isinstance(store.value, float) else _level(levels, store.value) for store in part.stores]
            stores = [store for store, when in zip(part.stores, due, strict=True) if when == level]
            own = [s for s in part.operations if levels[s.name] == level and not s.kind.startswith("row_")]
            kept = {name: self.scratch[index, name] for name in _kept(part)}
            needed = {a for s in (*own, *sums) for a in s.arguments} | {store.value for store in stores}
            loads = {name: self._pointer(access) for name, access in part.loads.items() if name in needed}
            places = [(self._pointer(store.to), store) for store in stores]
            totals = {s.name: self.totals[index, s.name] for s in sums}
            for step in sums:
                start = number(float("-inf") if step.kind == "row_max" else 0.0)
                listed = ", ".join(f"float {start}" for _ in range(LANES))
                w.line(f"store <{LANES} x float> <{listed}>, ptr {totals[step.name][0]}")
                w.line(f"store float {start}, ptr {totals[step.name][1]}")

            def body(
                j: str,
                own: list[Operation] = own,
                sums: list[Operation] = sums,
                loads: dict[str, str] = loads,
                places: list[tuple[str, Store]] = places,
                totals: dict[str, tuple[str, str]] = totals,
                level: int = level,
                kept: dict[str, str] = kept,
                needed: set[Value] = needed,
            ) -> None:
                values = {name: self._load(pointer, j) for name, pointer in loads.items()}
                values |= {name: self._spread(value) for name, value in rows.items() if name in needed}
                values |= {
                    n: self._recall(n, p, j, truths) for n, p in kept.items() if n in needed and levels[n] < level
                }
                for step in own:
                    values[step.name] = write_operation(w, step, values)
                    if step.name in kept:
                        value = values[step.name]
                        value = w.choose(value, w.constant(1.0), w.constant(0.0)) if step.name in truths else value
                        self._store(kept[step.name], j, value)
                for step in sums:
                    place = totals[step.name][w.lanes == 1]
                    old = w.let(f"load {w.type}, ptr {place}")
                    value = write_value(w, step.arguments[0], values)
                    if step.kind == "row_max":
                        new = w.choose(w.compare("ugt", value, old), value, old)
                    else:
                        new = w.binary("fadd", old, value)
                    w.line(f"store {w.type} {new}, ptr {place}")
                for pointer, store in places:
                    self._store(pointer, j, write_value(w, store.value, values), adds=store.adds)

            self._loop(part.width, body)
            for step in sums:
                rows[step.name] = self._total(step, part.width, *totals[step.name])

    def _recall(self, name: str, pointer: str, j: str, truths: set[str]) -> str:
        """What an earlier pass has kept; a truth was kept as 1 or 0."""
        value = self._load(pointer, j)
        return self.writer.compare("une", value, self.writer.constant(0.0)) if name in truths else value

    def _spread(self, value: str) -> str:
        w = self.writer
        if w.lanes == 1:
            return value
        first = w.let(f"insertelement {w.type} poison, float {value}, i32 0")
        return w.let(f"shufflevector {w.type} {first}, {w.type} poison, <{w.lanes} x i32> zeroinitializer")

    def _total(self, step: Operation, width: int, many: str, one: str) -> str:
        w = self.writer
        lanes = w.let(f"load <{LANES} x float>, ptr {many}")
        tail = w.let(f"load float, ptr {one}")
        if step.kind == "row_max":
            high = w.let(f"call float @llvm.vector.reduce.fmax.v{LANES}f32(<{LANES} x float> {lanes})")
            return w.choose(w.compare("ugt", high, tail), high, tail)
        total = w.let(
            f"call reassoc float @llvm.vector.reduce.fadd.v{LANES}f32(float {tail}, <{LANES} x float> {lanes})"
        )
        return total if step.kind == "row_sum" else w.binary("fmul", total, number(1 / width))


def _levels(part: Part) -> dict[str, int]:
    """After how many sums along the row each operation can be computed."""
    levels: dict[str, int] = {}
    for step in part.operations:
        level = max((_level(levels, argument) for argument in step.arguments), default=0)
        levels[step.name] = level + step.kind.startswith("row_")
    return levels


def _level(levels: dict[str, int], value: Value) -> int:
    return levels.get(value, 0) if isinstance(value, str) else 0


def _kept(part: Part) -> list[str]:
    """The operations whose results a later pass needs."""
    levels = _levels(part)
    uses = [(argument, levels[s.name] - s.kind.startswith("row_")) for s in part.operations for argument in s.arguments]
    uses += [(store.value, _level(levels, store.value)) for store in part.stores]
    rows = {step.name for step in part.operations if step.kind.startswith("row_")}
    return list(dict.fromkeys(n for n, at in uses if n in levels and n not in rows and levels[n] < at))


def _share(name: str) -> str:
    """A thread's share of the rows: data holds the table, the step and the number of rows."""
    return f"""
declare i32 @omp_get_thread_num()
declare i32 @omp_get_num_threads()
define void @{name}{SHARE}(ptr %data) {{
  %table = load ptr, ptr %data
  %second = getelementptr i64, ptr %data, i64 1
  %t = load i64, ptr %second
  %third = getelementptr i64, ptr %data, i64 2
  %rows = load i64, ptr %third
  %thread = call i32 @omp_get_thread_num()
  %threads = call i32 @omp_get_num_threads()
  %own = zext i32 %thread to i64
  %all = zext i32 %threads to i64
  %after = add i64 %own, 1
  %low = mul i64 %rows, %own
  %high = mul i64 %rows, %after
  %begin = udiv i64 %low, %all
  %end = udiv i64 %high, %all
  call void @{name}(ptr %table, i64 %t, i64 %begin, i64 %end)
  ret void
}}"""


def write(kernel: Kernel, *, masked: bool, team: bool = False) -> tuple[str, tuple[str, ...]]:
    """A kernel's text, declarations and all, and the arrays of its table in order; with a function for a team."""
    function = _Function(kernel, masked=masked)
    body = function.text() + (_share(kernel.name) if team else "")
    declared = [f"declare float @{name}(float)" for name in LIBRARY.values()]
    for suffix, kind in (("f32", "float"), (f"v{LANES}f32", f"<{LANES} x float>")):
        declared += [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in ("sqrt", "fabs")]
    declared.append(f"declare float @llvm.vector.reduce.fadd.v{LANES}f32(float, <{LANES} x float>)")
    declared.append(f"declare float @llvm.vector.reduce.fmax.v{LANES}f32(<{LANES} x float>)")
    return "\n".join([*declared, body, ""]), function.arrays
