"""Operations and names as Triton writes them, and the functions that its kernels share."""

from __future__ import annotations

import re

from foresay.kernels.recurrent.operations import Operation, Value

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


def value_text(value: Value, names: dict[str, str]) -> str:
    """A value as a variable or a number."""
    return names[value] if isinstance(value, str) else repr(value)
