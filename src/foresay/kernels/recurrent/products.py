"""The product of a step, out[t] = keep out[t] + left[t] W, made ready once for all steps.

On a CPU the math library that torch carries (MKL) lays W out once as its inner loops read it; torch's own call lays it
out anew at every step. Measured 1.15 to 1.4 times faster. Where MKL leaves half of the processor's vectors idle oneDNN
does the same, and adds what it found in a second call: 1.7 to 2.5 times as fast there. Elsewhere it is torch's call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from foresay.kernels import wide

Step = Callable[[int], object]

FEW = 8  # steps under which laying W out costs more than it saves
WORTH = 1 << 20  # multiplications of a step for which oneDNN is called, which takes 15 us for itself
ROWS, AS_IT_IS, TRANSPOSED, PACKED, RIGHT = 101, 111, 112, 151, 162  # MKL's words: row after row, ..., the right matrix


def ready(out: Tensor, left: Tensor, weight: Tensor, keep: float = 1.0) -> Step:
    """A function of the step: out (T, B, N), left (T, B, K), weight (K, N)."""
    fitting = all(each.dtype == torch.float32 and each.device.type == "cpu" for each in (out, left, weight))
    if fitting and len(out) >= FEW and min(out.shape[1], *weight.shape) > 0:
        laid = wide.laid_out(weight.t(), out.shape[1]) if out.shape[1] * weight.numel() >= WORTH else None
        if laid is not None:
            return _added(out, left, laid, keep)
        if library() is not None:
            return _packed(out, left, weight, keep)
    outs, lefts = out.unbind(0), left.unbind(0)
    # side by side in memory: measured 2.3 times faster than the strided product
    right = weight.contiguous()
    return lambda t: outs[t].addmm_(lefts[t], right, beta=keep)


def _added(out: Tensor, left: Tensor, laid: Tensor, keep: float) -> Step:
    outs, lefts = out.unbind(0), left.unbind(0)
    if keep:
        return lambda t: outs[t].add_(wide.product(lefts[t], laid))
    return lambda t: outs[t].copy_(wide.product(lefts[t], laid))


@cache
def library() -> Any:
    """The library with the functions that multiply what is laid out; None where torch has none."""
    path = Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"
    if not (torch.backends.mkl.is_available() and path.exists()):
        return None
    found = ctypes.CDLL(str(path))
    whole, real, address = ctypes.c_int, ctypes.c_float, ctypes.c_void_p
    kinds = {
        "cblas_sgemm_pack_get_size": (ctypes.c_size_t, [whole] * 4),
        "cblas_sgemm_pack": (None, [*[whole] * 6, real, address, whole, address]),
        "cblas_sgemm_compute": (None, [*[whole] * 6, address, whole, address, whole, real, address, whole]),
    }
    if not all(hasattr(found, name) for name in kinds):
        return None
    for name, (result, given) in kinds.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, given
    return found


def _packed(out: Tensor, left: Tensor, weight: Tensor, keep: float) -> Step:
    assert out.stride(2) == 1 and left.stride(2) == 1, (out.stride(), left.stride())
    mkl = library()
    rows, (depth, columns) = out.shape[1], weight.shape
    if weight.stride(0) == 1 and weight.stride(1) >= depth:
        turned, apart = TRANSPOSED, weight.stride(1)
    else:
        weight, turned, apart = weight.contiguous(), AS_IT_IS, columns
    laid = torch.empty(mkl.cblas_sgemm_pack_get_size(RIGHT, rows, columns, depth), dtype=torch.uint8)
    place = laid.data_ptr()
    mkl.cblas_sgemm_pack(ROWS, RIGHT, turned, rows, columns, depth, 1.0, weight.data_ptr(), apart, place)
    to, to_step, to_row = out.data_ptr(), 4 * out.stride(0), out.stride(1)
    given, given_step, given_row = left.data_ptr(), 4 * left.stride(0), left.stride(1)
    compute, shape = mkl.cblas_sgemm_compute, (ROWS, AS_IT_IS, PACKED, rows, columns, depth)

    def run(t: int, kept: tuple[Tensor, ...] = (out, left, laid)) -> None:
        compute(*shape, given + t * given_step, given_row, place, columns, keep, to + t * to_step, to_row)

    return run
