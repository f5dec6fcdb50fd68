"""Compiles kernels for this machine's CPU while the program runs (library llvmlite), and runs them on torch's threads.

No row depends on another, so the numbers are the same with any number of threads.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from foresay.kernels.recurrent.arrays import Arrays
from foresay.kernels.recurrent.fuse import Kernel
from foresay.kernels.recurrent.llvm_code import SHARE, write
from foresay.kernels.recurrent.team import find_team, share

ALONE = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 4)  # address of the table, step, first row, end of rows
WORTH = 1 << 16  # operations under which a second thread costs more than it saves


def _machine() -> Any:
    """This machine as LLVM knows it; whoever compiles with it owns it."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    target = llvm.Target.from_default_triple()
    features = llvm.get_host_cpu_features().flatten()
    return target.create_target_machine(cpu=llvm.get_host_cpu_name(), features=features, opt=3)


@cache  # never forgotten: the code may be in use as long as the program runs
def _compiled(text: str) -> Any:
    import llvmlite.binding as llvm

    for name, address in (find_team() or {}).items():
        llvm.add_symbol(name, address)
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, _machine())
    engine.finalize_object()
    return engine  # owns the code


def compile_kernel(kernel: Kernel, *, masked: bool, team: bool = False) -> tuple[int, tuple[str, ...]]:
    """The address of the kernel as a function, of a thread's share of it for a team; the arrays of its table."""
    key = ("llvm", masked, team)
    if key not in kernel.derived:
        text, arrays = write(kernel, masked=masked, team=team)
        kernel.derived[key] = _compiled(text).get_function_address(f"{kernel.name}{SHARE if team else ''}"), arrays
    return kernel.derived[key]


def bind(kernel: Kernel, arrays: Arrays) -> Callable[[int], None]:
    """A compiled kernel on these arrays: called with the step."""
    rows, threads = arrays["fed"].shape[1], torch.get_num_threads()
    work = rows * sum(part.width * len(part.operations) for part in kernel.parts)
    team = threads > 1 and rows > 1 and work > WORTH and find_team() is not None
    place, names = compile_kernel(kernel, masked="mask" in arrays, team=team)
    table = torch.tensor([number for name in names for number in _place(name, arrays[name])])
    if not team:
        call, address = ALONE(place), table.data_ptr()
        return lambda t, keep=table: call(address, t, 0, rows)
    given = (ctypes.c_int64 * 3)(table.data_ptr(), 0, rows)
    together, data = share(), ctypes.addressof(given)

    def run(t: int, keep: Tensor = table) -> None:
        given[1] = t
        together(place, data, min(threads, rows), 0)

    return run


def _place(name: str, tensor: Tensor) -> tuple[int, int, int]:
    """Address, bytes to the next step, bytes to the next row."""
    size = tensor.element_size()
    if tensor.dim() == 3 or name == "mask":
        return tensor.data_ptr(), tensor.stride(0) * size, tensor.stride(1) * size
    return tensor.data_ptr(), 0, tensor.stride(0) * size if tensor.dim() == 2 else 0
