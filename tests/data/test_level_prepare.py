"""Shards of pictures held to a trained model's labels and form."""

from __future__ import annotations

from pathlib import Path

import pytest

from foresay.data.images import Images
from foresay.data.label_shards import LabelSet
from foresay.data.level_prepare import form_of
from foresay.data.levels import Form, LevelShards
from foresay.data.prepare import Prepared, prepare
from foresay.errors import UserError
from foresay.text.levels import Levels
from tests.data.test_images import written

KNOWN = LabelSet(("a", "b", "c"), False, (3, 2, 1))


def measured(place: str, known: LabelSet | None = KNOWN, form: Form = Form(2, 3)) -> Prepared:  # noqa: B008 - frozen
    own = Images("x.npy").another(place, Images("x.npy").read, known, form)
    return prepare(own, Levels(8), 1, learnt=True)


def test_labels_have_the_models_numbers() -> None:
    found = measured(written(Path("y.npy"), 4))
    assert isinstance(found.train, LevelShards) and found.train.labels.names == ("a", "b", "c")
    assert found.train.numbers.tolist() == [0, 1, 0, 1] and found.valid is None
    assert form_of(found) == Form(2, 3)


def test_what_a_model_does_not_know() -> None:
    written(Path("y.npy"), 4)
    Path("y.labels.txt").write_text("a\nd\na\nb\n")
    with pytest.raises(UserError, match=r"y\.npy: number 2 has the label .d., .*allowed: a, b, c"):
        measured("y.npy")
    Path("y.labels.txt").unlink()
    with pytest.raises(UserError, match=r"y\.npy: number 1 has no label, and the run tells 3 apart; give each one"):
        measured("y.npy")
    assert measured("y.npy", known=None).train.documents == 4
    with pytest.raises(UserError, match="has 2 x 3 pixels of grey, and the run was trained on images of 4 x 3"):
        measured("y.npy", known=None, form=Form(4, 3))


def test_one_label_is_as_good_as_none() -> None:
    written(Path("y.npy"), 4)
    Path("y.labels.txt").write_text("a\n" * 4)
    found = prepare(Images("y.npy", share=0.0), Levels(8), 1).train
    assert isinstance(found, LevelShards) and found.labels.names == ("a",)
