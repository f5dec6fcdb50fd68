"""What every task keeps (contract 5): one scoring and stepping interface for all sequence models.

A state stands after what it has consumed; `begin` has consumed <start>. `step` and `score` go on from it, so
that a text may be scored whole, in pieces or word by word with the same result. `decode/` knows only this.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.encode.encoder import State, reorder
from foresay.errors import UserError


@dataclass(frozen=True)
class Fitting:
    """What a model that is fitted as a whole, not step by step, may want to know."""

    words: Sequence[str] = ()  # the symbols, in the order of their ids
    seed: int = 1
    deterministic: bool = False
    threads: int = 0  # 0: as many as torch would take
    longest: int | None = None  # the most tokens of a text with a label that are read; None: all


class Task(nn.Module):
    """`build(vocabulary)` joins the parts; then train (`loss`), measure, begin, step, score, reorder."""

    part_kind = "task"
    sequence = True  # False: it knows no P of a text, so it keeps none of measure, begin, step, score
    causal = True  # False: it sees both sides, so it keeps measure and score, but not begin and step
    one_way = True  # False: its encoder sees both sides
    reads = "text"  # the kind of data it learns from: text, pairs, tags, labels
    conditional = False  # True: it writes from a source, which `begin` and `score` want as their condition
    source_vocabulary: int | None = None  # of a source that has its own; set before `build`
    steady = False  # True: the numbers of a row are the same to the last bit in any batch
    vocabulary: int

    def build(self, vocabulary: int) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        """Mean training loss of a batch, and the state to carry into the next chunk."""
        raise AssertionError(f"{type(self).__name__} has no loss")

    def weight_of(self, batch: Batch) -> float:
        """How much the mean loss of a batch counts among those of others."""
        return batch.weight

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        """Exact log P of every target, (B, T), 0 where masked."""
        raise AssertionError(f"{type(self).__name__} has no measure")

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        """The state after <start>, for `rows` rows; `capacity` is how many steps will come, if known."""
        raise AssertionError(f"{type(self).__name__} has no begin")

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        """Consumes ids (B, T); log P (B, V) of what follows the last real one. Consumes its state too."""
        raise AssertionError(f"{type(self).__name__} has no step")

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        """log P (B, T) of every id given all before it, from <start> or from `state`; 0 where masked."""
        raise AssertionError(f"{type(self).__name__} has no score")

    def reorder(self, state: State, rows: Tensor) -> State:
        """Rows of a state by index, with repeats: the only way to branch."""
        return reorder(state, rows)

    @property
    def device(self) -> torch.device:
        return next((t.device for t in [*self.parameters(), *self.buffers()]), torch.device("cpu"))

    def size(self) -> int:
        """The number of values that learn; a tied table counts once, a frozen one not at all."""
        return sum(p.numel() for p in self.parameters() if p.requires_grad)

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint keeps: every parameter and buffer once, tied ones under their first name."""
        named = [*self.named_parameters(), *self.named_buffers()]
        kept = self.state_dict().keys()
        return {name: tensor.detach() for name, tensor in named if name in kept}

    def restore(self, tensors: dict[str, Tensor], source: str = "the checkpoint") -> None:
        """Takes over what `tensors` gave; a name or a shape that differs is another recipe's."""
        mine = self.tensors()
        strange = sorted(mine.keys() ^ tensors.keys())
        strange += [n for n in sorted(mine.keys() & tensors.keys()) if mine[n].shape != tensors[n].shape]
        if strange:
            raise UserError(f"{source} is of another recipe: {strange[0]} differs; use the run's own recipe.yaml")
        self.load_state_dict(tensors, strict=False)


def last_real(features: Tensor, before: Tensor, mask: Tensor | None) -> Tensor:
    """The features (B, H) after each row's last real step; `before` where the row has none."""
    if mask is None:
        return features[:, -1] if features.shape[1] else before
    lengths = mask.sum(1)
    rows = torch.arange(len(lengths), device=features.device)
    picked = features[rows, (lengths - 1).clamp(min=0)]
    return torch.where((lengths > 0)[:, None], picked, before)


def masked(log_probs: Tensor, mask: Tensor | None) -> Tensor:
    """Log-probabilities with 0 at padded places, so that sums over a row are right."""
    return log_probs if mask is None else log_probs.masked_fill(~mask, 0.0)
