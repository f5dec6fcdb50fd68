"""What every writer keeps: the target's side of a sequence-to-sequence model.

`begin` takes what was read of the source into a state (nested dict of tensors, batch first, so that candidates of a
search can be picked by row); `forward` then goes on from a state, one step or many, and gives for each step

    features (B, T, H)      what predicts the target there
    weights  (B, T, S)      how much it looked at each place of the source, if it looks
    gate     (B, T, 1)      log-odds that the next symbol is the writer's own and not copied, if it copies
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor, nn

from foresay.encode.encoder import Encoder, State
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from foresay.models.task import last_real
from foresay.parts import Part


@dataclass(frozen=True)
class Source:
    """What an encoder made of the sources."""

    annotations: Tensor  # a (B, S, A), zero where masked
    mask: Tensor  # (B, S)
    summary: Tensor  # (B, A)


@dataclass(frozen=True)
class Wrote:
    """What a writer gives for each step."""

    features: Tensor
    weights: Tensor | None = None
    gate: Tensor | None = None


class Writer(Part, nn.Module):
    """`build(in_width, source_width)` fixes the sizes; features have width H = `self.width`."""

    part_kind = "writer"
    copies = False  # True: some of P comes from the source's own symbols
    coverage = 0.0  # weight of the penalty for looking twice at a place
    grows = False  # True: the state grows with every step
    longest: int | None = None  # the most steps it has positions for
    width: int  # H, known after build

    def build(self, in_width: int, source_width: int) -> None:
        raise AssertionError(f"{type(self).__name__} has no build")

    def begin(self, source: Source, capacity: int | None = None) -> State:
        """The state before the first step; `capacity` is how many steps will come, if known."""
        raise AssertionError(f"{type(self).__name__} has no begin")

    def forward(self, x: Tensor, state: State, mask: Tensor | None = None) -> tuple[Wrote, State]:
        raise AssertionError(f"{type(self).__name__} has no forward")

    def looks(self, x: Tensor, state: State) -> list[Tensor]:
        """How much each step looked at each place, exactly: of every layer (B, N, T, S)."""
        raise UserError(
            f"writer {self.part_name} looks at no single place of the source; allowed: form=attention, or transformer"
        )


def summarise(encoder: Encoder, y: Tensor, state: State, mask: Tensor) -> Tensor:
    """One vector of a source, (B, A): the last state, of both ways if there are two; else the mean of what sees all."""
    if isinstance(encoder, Recurrent) and encoder.bidirectional:
        return state[str(len(encoder.forwards) - 1)]["h"]
    if encoder.causal:
        return last_real(y, y.new_zeros(len(y), y.shape[2]), mask)
    return y.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # y is zero where masked
