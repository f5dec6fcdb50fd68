"""Instructions of LLVM's language, for one number or sixteen at a time, and the functions cells are made of.

exp, log, tanh and the logistic function are polynomials that keep float32's accuracy (a few units in the last place)
and let NaN through; exp is infinite from 88.37 on, a little early (torch: 88.72). Functions that are rare in cells
(erf, sin, ...) are called one number at a time.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from foresay.kernels.recurrent.operations import Operation, Value

LANES = 16
BINARY = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}
COMPARE = {"eq": "oeq", "ne": "une", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge"}
LOGIC = {"and": "and", "or": "or"}
TRUTHS = {*COMPARE, *LOGIC, "not"}  # what gives one bit
LIBRARY = {"expm1": "expm1f", "erf": "erff", "sin": "sinf", "cos": "cosf"}

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
EXP_LOW, EXP_HIGH, SHIFT = -87.3, 88.37, 12582912.0  # 1.5 * 2^23
LOG_TERMS = (
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
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
        large = self.compare("ogt", x, self.constant(EXP_HIGH))
        return self.choose(large, self.constant(math.inf), self.bounded_exp(x))

    def bounded_exp(self, x: str) -> str:
        """exp without infinity: it ends at 2e38."""
        small = self.compare("olt", x, self.constant(EXP_LOW))
        x = self.bounded(x, EXP_LOW, EXP_HIGH)
        # so large a number added leaves x / log 2, rounded, in the last bits: no conversion to an integer is needed
        shifted = self.times_plus(x, self.constant(1.44269504088896341), self.constant(SHIFT))
        n = self.binary("fsub", shifted, self.constant(SHIFT))
        r = self.times_plus(n, self.constant(-0.693359375), x)
        r = self.times_plus(n, self.constant(2.12194440e-4), r)
        y = self.polynomial(EXP_TERMS, r)
        y = self.times_plus(self.binary("fmul", y, r), r, self.binary("fadd", r, self.constant(1.0)))
        bits = self.let(f"bitcast {self.type} {shifted} to {self.integer}")
        bits = self.let(f"shl {self.integer} {bits}, {self.constant(23, kind='i32')}")
        bits = self.let(f"add {self.integer} {bits}, {self.constant(127 << 23, kind='i32')}")
        power = self.let(f"bitcast {self.integer} {bits} to {self.type}")
        return self.choose(small, self.constant(0.0), self.binary("fmul", y, power))

    def log(self, x: str) -> str:
        bits = self.let(f"bitcast {self.type} {x} to {self.integer}")
        power = self.let(f"lshr {self.integer} {bits}, {self.constant(23, kind='i32')}")
        power = self.let(f"sub {self.integer} {power}, {self.constant(126, kind='i32')}")
        n = self.let(f"sitofp {self.integer} {power} to {self.type}")
        bits = self.let(f"and {self.integer} {bits}, {self.constant(0x007FFFFF, kind='i32')}")
        bits = self.let(f"or {self.integer} {bits}, {self.constant(0x3F000000, kind='i32')}")
        m = self.let(f"bitcast {self.integer} {bits} to {self.type}")  # x = m 2^n, m from 1/2 to 1
        low = self.compare("olt", m, self.constant(0.5**0.5))
        n = self.choose(low, self.binary("fsub", n, self.constant(1.0)), n)
        m = self.binary("fsub", self.choose(low, self.binary("fadd", m, m), m), self.constant(1.0))
        square = self.binary("fmul", m, m)
        y = self.binary("fmul", self.binary("fmul", self.polynomial(LOG_TERMS, m), m), square)
        y = self.times_plus(n, self.constant(-2.12194440e-4), y)
        y = self.times_plus(square, self.constant(-0.5), y)
        y = self.times_plus(n, self.constant(0.693359375), self.binary("fadd", m, y))
        y = self.choose(self.compare("oeq", x, self.constant(0.0)), self.constant(float("-inf")), y)
        y = self.choose(self.compare("oeq", x, self.constant(float("inf"))), x, y)
        return self.choose(self.compare("ult", x, self.constant(0.0)), self.constant(float("nan")), y)

    def log1p(self, x: str) -> str:
        """log of 1 + x as rounded, and what rounding took away."""
        u = self.binary("fadd", x, self.constant(1.0))
        lost = self.binary("fsub", self.binary("fsub", u, self.constant(1.0)), x)
        y = self.binary("fsub", self.log(u), self.binary("fdiv", lost, u))
        return self.choose(self.compare("oeq", u, self.constant(float("inf"))), u, y)

    def tanh(self, x: str) -> str:
        x = self.bounded(x, -TANH_LIMIT, TANH_LIMIT)
        square = self.binary("fmul", x, x)
        above = self.binary("fmul", x, self.polynomial(TANH_ABOVE, square))
        return self.binary("fdiv", above, self.polynomial(TANH_BELOW, square))

    def sigmoid(self, x: str) -> str:
        negative = self.let(f"fneg {self.type} {x}")
        return self.binary(
            "fdiv", self.constant(1.0), self.binary("fadd", self.constant(1.0), self.bounded_exp(negative))
        )

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


def write_operation(writer: Writer, step: Operation, values: dict[str, str]) -> str:
    """One operation on values that have names; the name of its result."""
    a = [write_value(writer, argument, values) for argument in step.arguments]
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
    own = {"exp": writer.exp, "log": writer.log, "log1p": writer.log1p, "tanh": writer.tanh, "sigmoid": writer.sigmoid}
    return own[kind](a[0])


def write_value(writer: Writer, value: Value, values: dict[str, str]) -> str:
    return values[value] if isinstance(value, str) else writer.constant(value)
