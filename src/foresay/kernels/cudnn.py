"""cuDNN reads a recurrent layer's weights from one buffer; from anywhere else it copies them, and warns, at every call.

weights: W_ih (G*H, D), W_hh (G*H, H), b_ih (G*H), b_hh (G*H), as torch.nn lays them out.
"""

from __future__ import annotations

import torch
from torch import Tensor

KINDS = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}  # CUDNN_RNN_RELU and so on


def lay_side_by_side(weights: list[Tensor], cell: str, size: int) -> None:
    """Moves the weights of one layer into one buffer, unless they lie in one already or are not cuDNN's to read."""
    first = weights[0]
    if not first.is_cuda or first.dtype not in KINDS or not torch.backends.cudnn.is_available():
        return
    buffer = first.untyped_storage().data_ptr()
    if all(weight.untyped_storage().data_ptr() == buffer for weight in weights):
        return
    for weight in weights:  # the memory they leave is not given away before this stream has read it
        weight.record_stream(torch.cuda.current_stream(first.device))
    if first.dtype == torch.bfloat16:  # torch's own way to do so knows no such weights
        _lay(weights)
        return
    flatten = torch._cudnn_rnn_flatten_weight  # pyright: ignore[reportPrivateImportUsage]
    with torch.no_grad():
        flatten(weights, len(weights), first.shape[1], MODES[cell], size, 0, 1, True, False)


def _lay(weights: list[Tensor]) -> None:
    with torch.inference_mode(False), torch.no_grad():  # they may be trained later
        buffer = torch.cat([weight.flatten() for weight in weights])
        for weight, piece in zip(weights, buffer.split([weight.numel() for weight in weights]), strict=True):
            weight.data = piece.view_as(weight)
