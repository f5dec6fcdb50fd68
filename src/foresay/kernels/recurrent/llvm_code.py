"""A fused kernel as LLVM's own language, sixteen numbers at a time, with a tail of single ones.

One function for each kernel, `void kernel(i64* table, i64 t, i64 begin, i64 end)`, for rows [begin, end) of step t. The
table holds for each array its address, the bytes from one step to the next and the bytes from one row to the next.

exp, tanh and the logistic function are polynomials that keep float32's accuracy (a few units in the last place) and let
NaN through; functions that are rare in cells (log, erf, sin, ...) are called one number at a time.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from foresay.kernels.recurrent.fuse import Access, Kernel, Part, Store
from foresay.kernels.recurrent.graph import Operation, Value

_Body = Callable[[str], None]

LANES = 16
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
LOGIC = {"and": "and", "or": "or"}
LIBRARY = {"log": "logf", "log1p": "log1pf", "expm1": "expm1f", "erf": "erff", "sin": "sinf", "cos": "cosf"}

# Eigen's rational function for tanh: odd numerator, even denominator, |x| up to 7.9
TANH_LIMIT = 7.90531110763549805
TANH_ABOVE = (
    -2.76076847742355e-16,
    2.00018790482477e-13,
    -8.60467152213735e-11,
    5.12229709037114e-08,
    1.48572235717979e-05,
    6.37261928875436e-04,
    4.89352455891786e-03,
)
TANH_BELOW = (1.19825839466702e-06, 1.18534705686654e-04, 2.26843463243900e-03, 4.89352518554385e-03)
# Cephes' exp: x = n log 2 + r, exp r by a polynomial
EXP_LOW, EXP_HIGH = -87.3, 88.02
EXP_TERMS = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)


def number(value: float) -> str:
    """A float32 as LLVM writes it exactly: the bits of the same number in double precision."""
    single = struct.unpack("f", struct.pack("f", value))[0]
    return f"0x{struct.unpack('>Q', struct.pack('>d', single))[0]:016X}"


class Writer:
    """Lines of one function; `lanes` numbers at a time (1: plain numbers)."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = 0
        self.lanes = 1

    @property
    def type(self) -> str:
        return f"<{self.lanes} x float>" if self.lanes > 1 else "float"

    @property
    def integer(self) -> str:
        return f"<{self.lanes} x i32>" if self.lanes > 1 else "i32"

    @property
    def suffix(self) -> str:
        return f"v{self.lanes}f32" if self.lanes > 1 else "f32"

    def line(self, text: str) -> None:
        self.lines.append("  " + text)

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def let(self, expression: str) -> str:
        """A new name for an expression."""
        self.count += 1
        self.line(f"%t{self.count} = {expression}")
        return f"%t{self.count}"

    def constant(self, value: float, *, kind: str | None = None) -> str:
        text = number(value) if kind is None else str(int(value))
        if self.lanes == 1:
            return text
        return "<" + ", ".join(f"{kind or 'float'} {text}" for _ in range(self.lanes)) + ">"

    def binary(self, instruction: str, a: str, b: str) -> str:
        return self.let(f"{instruction} contract {self.type} {a}, {b}")

    def compare(self, condition: str, a: str, b: str) -> str:
        return self.let(f"fcmp {condition} {self.type} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        bits = f"<{self.lanes} x i1>" if self.lanes > 1 else "i1"
        return self.let(f"select {bits} {condition}, {self.type} {a}, {self.type} {b}")

    def call(self, intrinsic: str, *arguments: str) -> str:
        listed = ", ".join(f"{self.type} {argument}" for argument in arguments)
        return self.let(f"call {self.type} @llvm.{intrinsic}.{self.suffix}({listed})")

    def times_plus(self, a: str, b: str, c: str) -> str:
        return self.binary("fadd", self.binary("fmul", a, b), c)

    def polynomial(self, terms: Sequence[float], x: str) -> str:
        value = self.constant(terms[0])
        for term in terms[1:]:
            value = self.times_plus(value, x, self.constant(term))
        return value

    def bounded(self, x: str, low: float, high: float) -> str:
        """NaN stays NaN."""
        x = self.choose(self.compare("olt", x, self.constant(low)), self.constant(low), x)
        return self.choose(self.compare("ogt", x, self.constant(high)), self.constant(high), x)

    def exp(self, x: str) -> str:
        small = self.compare("olt", x, self.constant(EXP_LOW))
        x = self.bounded(x, EXP_LOW, EXP_HIGH)
        n = self.call("floor", self.times_plus(x, self.constant(1.44269504088896341), self.constant(0.5)))
        r = self.times_plus(n, self.constant(-0.693359375), x)
        r = self.times_plus(n, self.constant(2.12194440e-4), r)
        y = self.polynomial(EXP_TERMS, r)
        y = self.times_plus(self.binary("fmul", y, r), r, self.binary("fadd", r, self.constant(1.0)))
        whole = f"v{self.lanes}i32.v{self.lanes}f32" if self.lanes > 1 else "i32.f32"
        power = self.let(f"call {self.integer} @llvm.fptosi.sat.{whole}({self.type} {n})")
        power = self.let(f"add {self.integer} {power}, {self.constant(127, kind='i32')}")
        power = self.let(f"shl {self.integer} {power}, {self.constant(23, kind='i32')}")
        power = self.let(f"bitcast {self.integer} {power} to {self.type}")
        return self.choose(small, self.constant(0.0), self.binary("fmul", y, power))

    def tanh(self, x: str) -> str:
        x = self.bounded(x, -TANH_LIMIT, TANH_LIMIT)
        square = self.binary("fmul", x, x)
        above = self.binary("fmul", x, self.polynomial(TANH_ABOVE, square))
        return self.binary("fdiv", above, self.polynomial(TANH_BELOW, square))

    def sigmoid(self, x: str) -> str:
        negative = self.let(f"fneg {self.type} {x}")
        return self.binary("fdiv", self.constant(1.0), self.binary("fadd", self.constant(1.0), self.exp(negative)))

    def library(self, function: str, x: str) -> str:
        """A function of the C library, one number after the other."""
        if self.lanes == 1:
            return self.let(f"call float @{function}(float {x})")
        result = "poison"
        for lane in range(self.lanes):
            one = self.let(f"extractelement {self.type} {x}, i32 {lane}")
            value = self.let(f"call float @{function}(float {one})")
            result = self.let(f"insertelement {self.type} {result}, float {value}, i32 {lane}")
        return result


def _operation(writer: Writer, step: Operation, values: dict[str, str]) -> str:
    a = [_value(writer, argument, values) for argument in step.arguments]
    kind = step.kind
    if kind in BINARY:
        return writer.binary(BINARY[kind], a[0], a[1])
    if kind in COMPARE:
        return writer.compare(COMPARE[kind], a[0], a[1])
    if kind in LOGIC:
        bits = f"<{writer.lanes} x i1>" if writer.lanes > 1 else "i1"
        return writer.let(f"{LOGIC[kind]} {bits} {a[0]}, {a[1]}")
    if kind == "not":
        bits = f"<{writer.lanes} x i1>" if writer.lanes > 1 else "i1"
        return writer.let(f"xor {bits} {a[0]}, {'splat (i1 true)' if writer.lanes > 1 else 'true'}")
    if kind == "where":
        return writer.choose(a[0], a[1], a[2])
    if kind == "neg":
        return writer.let(f"fneg {writer.type} {a[0]}")
    if kind in ("maximum", "minimum"):  # as torch: NaN wins
        first = writer.compare("ugt" if kind == "maximum" else "ult", a[0], a[1])
        nan = writer.compare("uno", a[1], a[1])
        return writer.choose(nan, a[1], writer.choose(first, a[0], a[1]))
    if kind in ("sqrt", "abs"):
        return writer.call({"sqrt": "sqrt", "abs": "fabs"}[kind], a[0])
    if kind == "rsqrt":
        return writer.binary("fdiv", writer.constant(1.0), writer.call("sqrt", a[0]))
    if kind in LIBRARY:
        return writer.library(LIBRARY[kind], a[0])
    return {"exp": writer.exp, "tanh": writer.tanh, "sigmoid": writer.sigmoid}[kind](a[0])


def _value(writer: Writer, value: Value, values: dict[str, str]) -> str:
    return values[value] if isinstance(value, str) else writer.constant(value)


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
                    self._store(pointer, j, _value(self.writer, store.value, values), adds=store.adds)

            if stores:
                self._loop(part.width, body)

    def _part(self, index: int, part: Part) -> None:
        """Pass after pass: a sum along the row ends one, and what follows from it is in the next."""
        w, levels = self.writer, _levels(part)
        rows: dict[str, str] = {}  # sums along the row that are known
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
                values |= {n: self._load(p, j) for n, p in kept.items() if n in needed and levels[n] < level}
                for step in own:
                    values[step.name] = _operation(w, step, values)
                    if step.name in kept:
                        self._store(kept[step.name], j, values[step.name])
                for step in sums:
                    place = totals[step.name][w.lanes == 1]
                    old = w.let(f"load {w.type}, ptr {place}")
                    value = _value(w, step.arguments[0], values)
                    if step.kind == "row_max":
                        new = w.choose(w.compare("ugt", value, old), value, old)
                    else:
                        new = w.binary("fadd", old, value)
                    w.line(f"store {w.type} {new}, ptr {place}")
                for pointer, store in places:
                    self._store(pointer, j, _value(w, store.value, values), adds=store.adds)

            self._loop(part.width, body)
            for step in sums:
                rows[step.name] = self._total(step, part.width, *totals[step.name])

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


def write(kernel: Kernel, *, masked: bool) -> tuple[str, tuple[str, ...]]:
    """A kernel's text, declarations and all, and the arrays of its table in order."""
    function = _Function(kernel, masked=masked)
    body = function.text()
    declared = [f"declare float @{name}(float)" for name in LIBRARY.values()]
    for suffix, kind, whole in (("f32", "float", "i32"), (f"v{LANES}f32", f"<{LANES} x float>", f"<{LANES} x i32>")):
        declared += [f"declare {kind} @llvm.{name}.{suffix}({kind})" for name in ("floor", "sqrt", "fabs")]
        integer = suffix.replace("f32", "i32")
        declared.append(f"declare {whole} @llvm.fptosi.sat.{integer}.{suffix}({kind})")
    declared.append(f"declare float @llvm.vector.reduce.fadd.v{LANES}f32(float, <{LANES} x float>)")
    declared.append(f"declare float @llvm.vector.reduce.fmax.v{LANES}f32(<{LANES} x float>)")
    return "\n".join([*declared, body, ""]), function.arrays
