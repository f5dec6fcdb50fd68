"""Numbers as vectors: what a step of a series has, brought to mean 0 and deviation 1, or a linear map of it.

    z = (f - mean) / deviation    of train; as it is where a column has 0 and 1 alone
    x = [z; u]                    or W [z; u] + b with `size`

A number that is not known is 0 in z, its mean; u is the share of the step that is not known, 1 before the first one.

frames (B, T, D) -> x (B, T, D + 1), or (B, T, size).
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.embed.dropout import drop
from foresay.embed.embedding import Embedding
from foresay.parts import Share, Size, part


@part("embedding", "frames")
class Frames(Embedding):
    """The numbers of a step of a series, or a linear map of them."""

    form: SeriesForm  # what they are like; told before it is built
    means: Tensor
    deviations: Tensor

    def __init__(self, *, size: Size | None = None, dropout: Share = 0.0) -> None:
        super().__init__()
        self.size, self.dropout = size, dropout

    def build(self, vocabulary: int) -> None:
        means, deviations = scale_of(self.form)
        self.register_buffer("means", means)
        self.register_buffer("deviations", deviations)
        own = self.form.width + 1
        self.linear = None if self.size is None else nn.Linear(own, self.size)
        self.width = self.size or own

    def forward(self, batch: Batch) -> Tensor:
        assert batch.frames is not None, "the frames embedding reads numbers"
        unknown = batch.frames.isnan()
        z = self.scaled(batch.frames).masked_fill(unknown, 0.0)
        x = torch.cat([z, unknown.to(z.dtype).mean(-1, keepdim=True)], -1)
        x = x if self.linear is None else self.linear(x)
        return drop(x, self.dropout, self.training)

    def scaled(self, values: Tensor) -> Tensor:
        """Values (..., D) as z."""
        return (values.to(self.means.dtype) - self.means) / self.deviations


def tell_form(model: nn.Module, form: SeriesForm) -> None:
    """Tells a model's embeddings of numbers what these are like, before it is built."""
    for module in model.modules():
        if isinstance(module, Frames):
            module.form = form


def scale_of(form: SeriesForm) -> tuple[Tensor, Tensor]:
    """The mean and the deviation (D,) of each column; 0 and 1 where it has 0 and 1 alone."""
    means, deviations = torch.tensor(form.means), torch.tensor(form.deviations)
    plain = torch.tensor(binary(form))
    return means.masked_fill(plain, 0.0), deviations.masked_fill(plain, 1.0)


def binary(form: SeriesForm) -> list[bool]:
    """Which columns have 0 and 1 alone."""
    figures = zip(form.least, form.most, form.whole, strict=True)
    return [least >= 0 and most <= 1 and whole for least, most, whole in figures]
