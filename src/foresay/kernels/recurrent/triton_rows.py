"""A fused kernel of one phase on a GPU: one Triton program for each row, the whole row in its registers.

It serves what the persistent kernel does not: float32, sums along rows (layer norm), gates of several widths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from foresay.kernels.recurrent.arrays import Arrays
from foresay.kernels.recurrent.fuse import Access, Kernel, Part, Store
from foresay.kernels.recurrent.triton_expressions import PRELUDE, expression, identifier, value_text
from foresay.kernels.recurrent.triton_module import load

ROW = {"row_sum": "tl.sum({}, 0)", "row_max": "tl.max({}, 0)", "row_mean": "tl.sum({}, 0) / {}"}


def write(kernel: Kernel, *, masked: bool) -> tuple[str, tuple[str, ...]]:
    """The kernel's text, and its arrays in order; each array comes with its steps from row to row and step to step."""
    arrays = (*kernel.arrays, "mask") if masked else kernel.arrays
    names = [identifier(array) for array in arrays]
    pointers = ", ".join(f"{name}, {name}_step, {name}_row" for name in names)
    lines = ['@triton.jit(do_not_specialize=["t"])', f"def {kernel.name}({pointers}, t):", "    b = tl.program_id(0)"]
    if masked:
        lines.append("    real = tl.load(mask + t * mask_step + b) != 0")
    for index, part in enumerate(kernel.parts):
        lines += _part(index, part, masked=masked)
    return "\n".join([PRELUDE, "", *lines, ""]), arrays


def _part(index: int, part: Part, *, masked: bool) -> list[str]:
    block = 1 << (part.width - 1).bit_length()
    lines = [f"    j = tl.arange(0, {block})", f"    within = j < {part.width}"]
    loads = {**part.loads, **(part.padding_loads if masked else {})}
    names = {key: f"i{index}_{identifier(key)}" for key in loads}
    for key, access in loads.items():
        lines.append(f"    {names[key]} = tl.load({_at(access)}, mask=within, other=0).to(tl.float32)")
    for step in part.operations:
        names[step.name] = f"o{index}_{step.name}"
        if step.kind in ROW:
            idle = "-float('inf')" if step.kind == "row_max" else "0.0"
            one = f"tl.where(within, {value_text(step.arguments[0], names)}, {idle})"
            text = ROW[step.kind].format(one, part.width)
        else:
            text = expression(step, names)
        lines.append(f"    {names[step.name]} = {text}")
    idle = {(store.to.array, store.to.column, store.to.shift): store for store in part.padding}
    for store in part.stores:
        lines += _store(
            store, idle.pop((store.to.array, store.to.column, store.to.shift), None), names, block, masked=masked
        )
    if masked:
        for store in idle.values():
            lines += _store(Store(store.to, 0.0, store.adds), store, names, block, masked=True)
    return lines


def _store(store: Store, idle: Store | None, names: dict[str, str], block: int, *, masked: bool) -> list[str]:
    value = value_text(store.value, names)
    if masked:
        if idle is not None:
            value = f"tl.where(real, {value}, {value_text(idle.value, names)})"
        elif store.adds:
            value = f"tl.where(real, {value}, 0.0)"
    place = _at(store.to)
    old = f"tl.load({place}, mask=within, other=0).to(tl.float32) + " if store.adds else ""
    array = identifier(store.to.array)
    whole = f"tl.zeros([{block}], dtype=tl.float32)"
    return [f"    tl.store({place}, ({old}{whole} + ({value})).to({array}.dtype.element_ty), mask=within)"]


def _at(access: Access) -> str:
    name = identifier(access.array)
    step = f"(t + {access.shift}) * {name}_step + " if access.steps else ""
    return f"{name} + {step}b * {name}_row + {access.column} + j"


def compile_kernel(kernel: Kernel, *, masked: bool) -> tuple[Any, tuple[str, ...]]:
    """The kernel as a Triton function, and its arrays in order."""
    key = ("triton", masked)
    if key not in kernel.derived:
        text, arrays = write(kernel, masked=masked)
        kernel.derived[key] = getattr(load(text), kernel.name), arrays
    return kernel.derived[key]


def bind(kernel: Kernel, arrays: Arrays) -> Callable[[int], None]:
    """A compiled kernel on these arrays: called with the step."""
    function, order = compile_kernel(kernel, masked="mask" in arrays)
    given = []
    for name in order:
        tensor = arrays[name]
        given.append(tensor)
        if tensor.dim() == 3 or name == "mask":
            given += [tensor.stride(0), tensor.stride(1)]
        else:
            given += [0, tensor.stride(0) if tensor.dim() == 2 else 0]
    grid = (arrays["fed"].shape[1],)
    warps = 8 if max(part.width for part in kernel.parts) > 1024 else 4

    def run(t: int) -> None:
        function[grid](*given, t, num_warps=warps)

    return run
