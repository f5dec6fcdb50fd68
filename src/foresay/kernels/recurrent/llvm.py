"""Compiles kernels for this machine's CPU while the program runs (library llvmlite)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from foresay.kernels.recurrent.arrays import Arrays
from foresay.kernels.recurrent.fuse import Kernel
from foresay.kernels.recurrent.llvm_code import write

Call = Callable[[int, int, int, int], None]  # address of the table, step, first row, end of rows


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

    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, _machine())
    engine.finalize_object()
    return engine  # owns the code


def compile_kernel(kernel: Kernel, *, masked: bool) -> tuple[Call, tuple[str, ...]]:
    """The kernel as a function, and the arrays of its table in order."""
    text, arrays = write(kernel, masked=masked)
    address = _compiled(text).get_function_address(kernel.name)
    words = [ctypes.c_int64] * 4
    return ctypes.CFUNCTYPE(None, *words)(address), arrays


def bind(kernel: Kernel, arrays: Arrays) -> Callable[[int], None]:
    """A compiled kernel on these arrays: called with the step."""
    call, names = compile_kernel(kernel, masked="mask" in arrays)
    table = torch.tensor([number for name in names for number in _place(name, arrays[name])])
    address, rows = table.data_ptr(), arrays["fed"].shape[1]

    def run(t: int, keep: Tensor = table) -> None:
        call(address, t, 0, rows)

    return run


def _place(name: str, tensor: Tensor) -> tuple[int, int, int]:
    """Address, bytes to the next step, bytes to the next row."""
    size = tensor.element_size()
    if tensor.dim() == 3 or name == "mask":
        return tensor.data_ptr(), tensor.stride(0) * size, tensor.stride(1) * size
    return tensor.data_ptr(), 0, tensor.stride(0) * size if tensor.dim() == 2 else 0
