"""A recogniser: its loss against torch's by hand, every encoder, padding, blocks of frames, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from foresay import parts
from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.embed.frames import tell_form
from foresay.errors import UserError
from foresay.output.ctc import BLANK
from foresay.text.tokens import SPECIALS
from tests.contracts.settings import described, label

V, D = len(SPECIALS) + 3, 4
FORM = SeriesForm(("a", "b", "c", "d"), (0.5,) * D, (2.0,) * D, (-5.0,) * D, (5.0,) * D, (False,) * D, (0.0,) * D)


def built(encoder: Any, **more: Any) -> Any:
    torch.manual_seed(1)
    model: Any = parts.make("task", {"kind": "recogniser", "encoder": encoder, **more})
    tell_form(model, FORM)
    model.build(V)
    return model.double().eval()


def drawn(sizes: list[int]) -> Batch:
    torch.manual_seed(2)
    frames, mask = torch.randn(len(sizes), max(sizes), D), torch.arange(max(sizes)) < torch.tensor(sizes)[:, None]
    targets = torch.tensor([[5, 7, 7], [6, BLANK, BLANK], [BLANK] * 3])[: len(sizes)]
    return Batch(frames=frames.double().masked_fill(~mask[..., None], 0.0), mask=mask, targets=targets)


def test_the_loss_by_hand() -> None:
    """-log P a symbol: (3 + 1 + 1) of them, the silent row counting as one."""
    model, batch = built({"kind": "recurrent", "size": 6, "bidirectional": True}), drawn([9, 4, 2])
    z = (batch.frames - 0.5) / 2
    y, _ = model.encoder(torch.cat([z, torch.zeros(3, 9, 1)], 2), batch.mask)
    log_p = model.head(y).log_softmax(-1)
    nats = torch.nn.functional.ctc_loss(
        log_p.transpose(0, 1), batch.targets, torch.tensor([9, 4, 2]), torch.tensor([3, 1, 0]), reduction="sum"
    )
    assert model.loss(batch)[0].item() == pytest.approx(nats.item() / 5)


@pytest.mark.parametrize("encoder", described("encoder"), ids=label)
def test_every_encoder_fits(encoder: dict[str, Any]) -> None:
    if encoder["kind"] == "masked":
        pytest.skip("it reads pictures")
    model = built(encoder)
    if isinstance(model.encoder.longest, int):
        assert model.encoder.longest >= 9
    batch = drawn([9, 6])
    found = model.log_likelihood(batch)
    alone = model.log_likelihood(
        Batch(frames=batch.frames[1:, :6], targets=batch.targets[1:, :1])
    )  # as it is without padding
    assert found[1].item() == pytest.approx(alone.item(), abs=1e-9) and (found < 0).all()
    model.loss(batch)[0].backward()
    assert all(parameter.grad is not None for name, parameter in model.named_parameters() if "head" in name)


def test_blocks_of_frames_are_steps() -> None:
    inner = {"kind": "recurrent", "size": 6}
    model, batch = built({"kind": "shrunk", "by": 3, "how": "join", "encoder": inner}), drawn([11, 4])
    log_p, sizes = model.log_probs(batch)
    assert log_p.shape == (2, 4, V) and sizes.tolist() == [4, 2] and model.by == 3


class Rows:
    """Shards of recordings with given frames and texts."""

    documents, lines = 2, [4, 9]

    def __init__(self, frames: list[int], texts: list[list[int]]):
        self.frame_sizes, self.texts = np.array(frames), texts

    def texts_of(self, rows: Any) -> list[np.ndarray]:
        return [np.array(text, np.int64) for text in self.texts]


def test_a_text_that_does_not_fit_is_refused() -> None:
    model: Any = built({"kind": "shrunk", "by": 3, "encoder": {"kind": "recurrent", "size": 6}})
    model.check_fits(Rows([9, 3], [[5, 6, 7], [5]]), "data.train")
    why = r"^data\.train: number 9 has 3 steps of 3 frames for a text that takes 4 or more; lower encoder\.by or data"
    with pytest.raises(UserError, match=why):
        model.check_fits(Rows([9, 7], [[], [5, 6, 6]]), "data.train")


def test_symbols_are_no_frames() -> None:
    with pytest.raises(UserError, match=r"^embedding=lookup reads symbols, and recordings are frames of numbers"):
        parts.make("task", {"kind": "recogniser", "embedding": "lookup"})
