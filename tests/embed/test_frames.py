"""Numbers as vectors, by hand."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.functional import linear

from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.embed.frames import Frames, binary

NAN = torch.nan
FORM = SeriesForm(("a", "b"), (2.0, 0.3), (4.0, 0.5), (-9.0, 0.0), (9.0, 1.0), (False, True), (0.0, 0.0))


def build(form: SeriesForm = FORM, **settings: Any) -> Frames:
    torch.manual_seed(1)
    made = Frames(**settings)
    made.form = form
    made.build(5)
    return made.eval()


def test_numbers_of_mean_0_and_deviation_1_and_the_share_that_is_not_known() -> None:
    frames = torch.tensor([[[10.0, 1.0], [NAN, 0.0], [NAN, NAN]]])
    found = build()(Batch(frames=frames))
    assert found.tolist() == [[[2.0, 1.0, 0.0], [0.0, 0.0, 0.5], [0.0, 0.0, 1.0]]]  # 0 and 1 stay as they are


def test_a_linear_map_of_them() -> None:
    plain, mapped = build(), build(size=5)
    batch = Batch(frames=torch.randn(2, 3, 2))
    assert mapped.linear is not None and mapped.width == 5
    torch.testing.assert_close(mapped(batch), linear(plain(batch), mapped.linear.weight, mapped.linear.bias))


def test_dropout_in_training_alone() -> None:
    made = build(dropout=0.5)
    batch = Batch(frames=torch.randn(2, 300, 2))
    assert torch.equal(made(batch), build()(batch))
    share = (made.train()(batch)[..., :2] == 0).float().mean()
    assert 0.4 < share < 0.6


def test_which_columns_are_0_and_1() -> None:
    assert binary(FORM) == [False, True]
    assert binary(SeriesForm(("a",), (0.5,), (1.0,), (0.0,), (1.0,), (False,), (0.0,))) == [False]  # 0.5 is in it
