"""cuDNN reads a recurrent layer's weights from one buffer; from anywhere else it copies them, and warns, at every call.

weights: W_ih (G*H, D), W_hh (G*H, H), b_ih (G*H), b_hh (G*H), as torch.nn lays them out.
"""

from __future__ import annotations

import torch
from torch import Tensor

MODES = {"rnn_relu": 0, "rnn_tanh": 1, "lstm": 2, "gru": 3}  # CUDNN_RNN_RELU and so on


def lay_side_by_side(weights: list[Tensor], cell: str, size: int) -> None:
    """Moves the weights of one layer into one buffer, unless they lie in one already or are not cuDNN's to read."""
    first = weights[0]
    if not first.is_cuda or not torch.backends.cudnn.is_acceptable(first):
        return
    buffer = first.untyped_storage().data_ptr()
    if all(weight.untyped_storage().data_ptr() == buffer for weight in weights):
        return
    flatten = torch._cudnn_rnn_flatten_weight  # pyright: ignore[reportPrivateImportUsage]
    with torch.no_grad():
        flatten(weights, len(weights), first.shape[1], MODES[cell], size, 0, 1, True, False)
