"""The innermost loops, written for vectors of sixteen numbers, and a gate for threads: what numba does not have.

Each is built as LLVM's instructions; where a machine has narrower vectors LLVM takes several. `plainly.py` has the same
as Python: they run where numba's compiler is off, and these are tested against them.

A row is D numbers, D a multiple of 16; it is named by its index in its table.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

LANES, BYTES = 16, 64
REAL, DOUBLE, WHOLE, WORD = ir.FloatType(), ir.DoubleType(), ir.IntType(32), ir.IntType(64)
REALS, WHOLES = ir.VectorType(REAL, LANES), ir.VectorType(WHOLE, LANES)
LOOSE = ("reassoc", "contract", "arcp", "nsz")
LOG2E, FAR = 1.4426950408889634, 40.0  # a score beyond FAR counts as that
# 2**r for |r| <= 1/2 to 2e-7 of its value, the highest power first
POWERS = (0.0001540353, 0.0013333558, 0.0096181291, 0.0555041087, 0.2402265070, 0.6931471806, 1.0)


def every(value: float) -> Any:
    """A number in every lane."""
    return ir.Constant(REALS, [value] * LANES)


class Writer:
    """Writes instructions for vectors at the builder's place; addresses are whole numbers."""

    def __init__(self, builder: Any):
        self.builder = builder

    def load(self, address: Any, kind: Any = REALS) -> Any:
        return self.builder.load(self.builder.inttoptr(address, kind.as_pointer()), align=4)

    def store(self, value: Any, address: Any) -> None:
        self.builder.store(value, self.builder.inttoptr(address, value.type.as_pointer()), align=4)

    def add(self, address: Any, offset: Any) -> Any:
        return self.builder.add(address, WORD(offset) if isinstance(offset, int) else offset)

    def row(self, table: Any, index: Any, stride: Any) -> Any:
        return self.builder.add(table, self.builder.mul(index, stride))

    def splat(self, number: Any) -> Any:
        """One number in every lane."""
        empty = ir.Constant(REALS, ir.Undefined)
        return self.builder.shuffle_vector(
            self.builder.insert_element(empty, number, WHOLE(0)), empty, ir.Constant(WHOLES, [0] * LANES)
        )

    def fused(self, a: Any, b: Any, c: Any) -> Any:
        """a b + c"""
        return self.call("llvm.fma.v16f32", REALS, a, b, c)

    def call(self, name: str, kind: Any, *given: Any) -> Any:
        module = self.builder.module
        function = module.globals.get(name)
        if function is None:
            function = ir.Function(module, ir.FunctionType(kind, [one.type for one in given]), name)
        return self.builder.call(function, given, fastmath=LOOSE)

    def power(self, t: Any) -> Any:
        """2 ** t, |t| < 126"""
        builder, whole = self.builder, self.call("llvm.rint.v16f32", REALS, t)
        r, power = builder.fsub(t, whole), every(POWERS[0])
        for value in POWERS[1:]:
            power = self.fused(power, r, every(value))
        bits = builder.add(builder.fptosi(whole, WHOLES), ir.Constant(WHOLES, [127] * LANES))
        return builder.fmul(power, builder.bitcast(builder.shl(bits, ir.Constant(WHOLES, [23] * LANES)), REALS))

    def kept(self, number: int) -> list[Any]:
        """Places for sums, at 0; they end up in registers."""
        places = [cgutils.alloca_once(self.builder, REALS) for _ in range(number)]
        for place in places:
            self.builder.store(every(0.0), place)
        return places


def rows_of(context: Any, builder: Any, kind: Any, array: Any, *indices: Any) -> list[Any]:
    """The addresses of rows of an array, or of its first number and no rows; numba counts no references here."""
    held = context.make_array(kind)(context, builder, array)
    begin = builder.ptrtoint(held.data, WORD)
    stride = builder.extract_value(held.strides, 0)
    return [builder.add(begin, builder.mul(index, stride)) for index in indices] or [begin]


def vectors_of(context: Any, builder: Any, kind: Any, array: Any) -> tuple[Any, Any]:
    """How many vectors a row has, and how many bytes."""
    held = context.make_array(kind)(context, builder, array)
    return builder.udiv(builder.extract_value(held.shape, 1), WORD(LANES)), builder.extract_value(held.strides, 0)


@intrinsic
def score_three(
    context: Any, x: Any, one: Any, two: Any, table: Any, a: Any, b: Any, c: Any, scores: Any, to: Any, too: Any
) -> Any:
    """Rows `one` and `two` of x against rows a, b, c of the table, into scores[to:to + 3] and scores[too:too + 3]."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        kinds = signature.args
        xs = rows_of(context, builder, kinds[0], given[0], given[1], given[2])
        targets = rows_of(context, builder, kinds[3], given[3], *given[4:7])
        places = rows_of(context, builder, kinds[7], given[7], given[8], given[9])
        vectors, _ = vectors_of(context, builder, kinds[0], given[0])
        sums = write.kept(len(xs) * len(targets))
        with cgutils.for_range(builder, vectors) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            inputs = [write.load(write.add(x, offset)) for x in xs]
            for k, target in enumerate(targets):
                u = write.load(write.add(target, offset))
                for j, x in enumerate(inputs):
                    place = sums[j * len(targets) + k]
                    builder.store(write.fused(x, u, builder.load(place)), place)
        for j, address in enumerate(places):
            for k in range(len(targets)):
                vector = builder.load(sums[j * len(targets) + k])
                total = write.call("llvm.vector.reduce.fadd.v16f32", REAL, REAL(0.0), vector)
                write.store(total, write.add(address, 4 * k))
        return context.get_dummy_value()

    word = types.int64
    return types.void(x, word, word, table, word, word, word, scores, word, word), generate


@intrinsic
def weigh_sixteen(context: Any, scores: Any, signs: Any, begin: Any, rate: Any) -> Any:
    """Scores become g = rate y (1 - q); the product of their q = sigmoid(y s), at least e**-640."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        (place,) = rows_of(context, builder, signature.args[0], given[0], given[2])
        y = write.load(rows_of(context, builder, signature.args[1], given[1], given[2])[0])
        t = builder.fmul(builder.fneg(y), write.load(place))
        t = write.call("llvm.maxnum.v16f32", REALS, t, every(-FAR))
        t = builder.fmul(write.call("llvm.minnum.v16f32", REALS, t, every(FAR)), every(LOG2E))
        e = write.power(t)
        q = builder.fdiv(every(1.0), builder.fadd(every(1.0), e))
        rate = write.splat(builder.fptrunc(given[3], REAL))
        write.store(builder.fmul(builder.fmul(rate, y), builder.fmul(e, q)), place)
        wide = builder.fpext(q, ir.VectorType(DOUBLE, LANES))
        return write.call("llvm.vector.reduce.fmul.v16f64", DOUBLE, DOUBLE(1.0), wide)

    return types.float64(scores, signs, types.int64, types.float64), generate


@intrinsic
def push_three(
    context: Any, x: Any, dx: Any, inputs: Any, count: Any, table: Any, a: Any, b: Any, c: Any, scores: Any, begin: Any,
    step: Any, du: Any, to: Any,
) -> Any:  # fmt: skip
    """dx_j += sum_k g_jk u_k, du_k = sum_j g_jk x_j; g of input j begins at scores[begin + j step]."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write, kinds = Writer(builder), signature.args
        (x,), (dx,), (inputs,) = (rows_of(context, builder, kinds[i], given[i]) for i in range(3))
        targets = rows_of(context, builder, kinds[4], given[4], *given[5:8])
        (g,) = rows_of(context, builder, kinds[8], given[8], given[9])
        to = [builder.add(given[12], WORD(k)) for k in range(3)]
        changes = rows_of(context, builder, kinds[11], given[11], *to)
        vectors, stride = vectors_of(context, builder, kinds[0], given[0])
        sums = write.kept(len(targets))
        with cgutils.for_range(builder, vectors) as columns:
            offset = builder.mul(columns.index, WORD(BYTES))
            us = [write.load(write.add(target, offset)) for target in targets]
            for place in sums:
                builder.store(every(0.0), place)
            with cgutils.for_range(builder, given[3]) as rows:
                index = write.load(write.add(inputs, builder.mul(rows.index, WORD(8))), WORD)
                here = write.add(builder.mul(index, stride), offset)
                value, change = write.load(write.add(x, here)), write.load(write.add(dx, here))
                weights = write.add(g, builder.mul(rows.index, builder.mul(given[10], WORD(4))))
                for k, u in enumerate(us):
                    weight = write.splat(write.load(write.add(weights, 4 * k), REAL))
                    change = write.fused(weight, u, change)
                    builder.store(write.fused(weight, value, builder.load(sums[k])), sums[k])
                write.store(change, write.add(dx, here))
            for place, address in zip(sums, changes, strict=True):
                write.store(builder.load(place), write.add(address, offset))
        return context.get_dummy_value()

    word = types.int64
    return types.void(x, dx, inputs, word, table, word, word, word, scores, word, word, du, word), generate


@intrinsic
def add_row(context: Any, table: Any, row: Any, change: Any, at: Any) -> Any:
    """table[row] += change[at]"""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        write = Writer(builder)
        (to,) = rows_of(context, builder, signature.args[0], given[0], given[1])
        (source,) = rows_of(context, builder, signature.args[2], given[2], given[3])
        vectors, _ = vectors_of(context, builder, signature.args[0], given[0])
        with cgutils.for_range(builder, vectors) as loop:
            offset = builder.mul(loop.index, WORD(BYTES))
            here = write.add(to, offset)
            write.store(builder.fadd(write.load(here), write.load(write.add(source, offset))), here)
        return context.get_dummy_value()

    return types.void(table, types.int64, change, types.int64), generate


@intrinsic
def ask_for(context: Any, table: Any, row: Any) -> Any:
    """Asks for a row that will be needed soon."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        (begin,) = rows_of(context, builder, signature.args[0], given[0], given[1])
        vectors, _ = vectors_of(context, builder, signature.args[0], given[0])
        byte = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [byte, WHOLE, WHOLE, WHOLE])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        with cgutils.for_range(builder, vectors) as loop:
            line = builder.inttoptr(builder.add(begin, builder.mul(loop.index, WORD(BYTES))), byte)
            builder.call(function, [line, WHOLE(0), WHOLE(3), WHOLE(1)])  # to read, to stay, data
        return context.get_dummy_value()

    return types.void(table, types.int64), generate


@intrinsic
def arrive(context: Any, gate: Any) -> Any:
    """gate[0] += 1, whatever other threads do."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = context.make_array(signature.args[0])(context, builder, given[0]).data
        builder.atomic_rmw("add", place, WORD(1), "seq_cst")
        return context.get_dummy_value()

    return types.void(gate), generate


@intrinsic
def arrived(context: Any, gate: Any) -> Any:
    """gate[0] as other threads have left it."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        place = context.make_array(signature.args[0])(context, builder, given[0]).data
        return builder.load_atomic(place, "seq_cst", 8)

    return types.int64(gate), generate


@intrinsic
def let_others_run(context: Any) -> Any:
    """The rest of this thread's turn goes to whoever waits for a core."""

    def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        kind = ir.FunctionType(WHOLE, [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), generate
