"""Rows of a batch."""

from __future__ import annotations

import torch

from foresay.data.batch import PER_ROW, Batch


def test_rows_of_every_field_and_all_letters() -> None:
    whole = {name: torch.arange(15).view(5, 3) for name in PER_ROW}
    batch = Batch(**whole, characters=torch.arange(4).view(2, 2), fresh=False, pace=0.5, alike=3)
    some = batch.rows(1, 3)
    assert (batch.height, some.height) == (5, 2)
    assert all(torch.equal(getattr(some, name), value[1:3]) for name, value in whole.items())
    assert some.characters is batch.characters and (some.fresh, some.pace, some.alike) == (False, 0.5, 3)


def test_every_tensor_but_the_letters_has_a_row_for_each() -> None:
    """A new field says here whether it is shared out."""
    tensors = {name for name, kind in Batch.__annotations__.items() if "Tensor" in str(kind)}
    assert tensors - {"characters"} == set(PER_ROW)
