"""y = x W' + b on a CPU: of few rows by loops of our own (thin_loops.py), of many by wide.py, else torch's.

Few are up to 64 rows of float32 without gradients, as decoding has them. FORESAY_PLAIN=1 takes torch's.

x (..., K), weight (O, K), bias (O) -> y (..., O)
"""

from __future__ import annotations

import ctypes
import importlib
from functools import cache

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from foresay.kernels import wide
from foresay.kernels.recurrent.team import find_team, share
from foresay.kernels.switch import compiles, in_file, plain

MOST = 64  # rows that are few
LEAST = 1 << 14  # weights that are worth it
WORTH = 1 << 16  # weights that are worth a second thread


def linear(layer: nn.Linear, x: Tensor) -> Tensor:
    return product(x, layer.weight, layer.bias)


def product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W' + b"""
    if not _few(x, weight):
        return wide.linear(x, weight, bias) if wide.can_multiply(x, weight) else F.linear(x, weight, bias)
    x = x.contiguous()
    outs, width = weight.shape
    rows = x.numel() // width
    y = torch.empty(*x.shape[:-1], outs)
    own = 0 if bias is None else bias.data_ptr()
    table = (ctypes.c_int64 * 10)(
        x.data_ptr(), weight.data_ptr(), own, y.data_ptr(), rows, outs, width, 4 * width, 4 * width, 4 * outs
    )
    _loops()(ctypes.addressof(table), threaded=weight.numel() >= WORTH)
    return y


def _few(x: Tensor, weight: Tensor) -> bool:
    if in_file():
        return False
    outs, width = weight.shape
    if torch.is_grad_enabled() or not 0 < x.numel() <= MOST * width or width % 16 or outs * width < LEAST:
        return False
    real = x.dtype == weight.dtype == torch.float32 and weight.is_contiguous()
    here = x.device.type == weight.device.type == "cpu" and not torch.is_autocast_enabled("cpu")
    return real and here and compiles() and not plain()


class Loops:
    """A module of compiled loops: `whole` for one thread, and where torch has a team of threads `shared` for each."""

    def __init__(self, name: str):
        import llvmlite.binding as llvm

        team = find_team()
        for symbol, address in (team or {"GOMP_barrier": ctypes.cast(_nothing, ctypes.c_void_p).value}).items():
            llvm.add_symbol(symbol, address)
        module = importlib.import_module(name)  # compiles, and numba takes a second to import
        self.whole = ctypes.CFUNCTYPE(None, ctypes.c_int64)(module.whole.address)
        self.shared: int | None = None if team is None else module.shared().address

    def __call__(self, table: int, *, threaded: bool) -> None:
        """With the address of what they are given."""
        threads = torch.get_num_threads()
        if not threaded or self.shared is None or threads == 1:
            self.whole(table)
        else:
            share()(self.shared, table, threads, 0)


@ctypes.CFUNCTYPE(None)
def _nothing() -> None:
    """Where there is nobody to wait for."""


@cache
def _loops() -> Loops:
    return Loops("foresay.kernels.thin_loops")
