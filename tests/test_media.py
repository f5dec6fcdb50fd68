"""Runs on pictures: what they draw, score and tell apart, against the model's own numbers."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from foresay.decode.sample import Sample
from foresay.errors import UserError
from foresay.loading import load
from foresay.train.sheet import GREY
from tests.striped import TRAIN, pictures, train_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model for labels."""
    return train_small(tmp_path_factory.mktemp("conditional"), condition=4).folder


@pytest.fixture
def run(folder: Path) -> Any:
    return load(folder, "cpu")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """One that knows no labels."""
    return train_small(tmp_path_factory.mktemp("plain"))


@torch.no_grad()
def by_steps(run: Any, picture: np.ndarray, label: int | None) -> float:
    """-log P level by level, as it would be drawn; without the end, which no picture has."""
    given = None if label is None else torch.tensor([label])
    state, total = run.model.begin(1, given), 0.0
    log_probs, state = run.model.step(torch.empty(1, 0, dtype=torch.long), state)
    for level in (picture.reshape(-1).astype(int) * 5 // 256 + 5).tolist():
        total -= float(log_probs[0, level])
        log_probs, state = run.model.step(torch.tensor([[level]]), state)
    return total


def test_nats_are_those_of_each_level(run: Any) -> None:
    given = pictures(run)
    for number, name in enumerate(run.labels):
        assert run.nats(given, name) == pytest.approx([by_steps(run, one, number) for one in given], rel=1e-5)
    assert run.nats([]) == []


def test_labels_by_bayes_by_hand(run: Any) -> None:
    assert run.labels == ("columns", "rows")
    counts = run.model.labels.counts
    prior = [math.log(count / sum(counts)) for count in counts]
    assert counts[0] > counts[1] > 0
    given = pictures(run)
    for one, (label, shares), whole in zip(given, run.predict(given), run.nats(given), strict=True):
        joint = [math.exp(prior[n] - by_steps(run, one, n)) for n in range(2)]
        assert whole == pytest.approx(-math.log(sum(joint)), rel=1e-5)
        assert shares == pytest.approx({name: joint[n] / sum(joint) for n, name in enumerate(run.labels)}, rel=1e-4)
        assert label == max(shares, key=shares.__getitem__)
    assert [label for label, _ in run.predict(given)] == ["rows", "columns", "columns"]


def test_it_measures_what_it_scores(run: Any) -> None:
    """The held-out loss is the mean of -log P given each one's own label; no STOP is in it."""
    found = run.evaluate()
    shards = run.held_out(None, "valid")[1]
    values = np.lib.format.open_memmap(run.folder.parent / "x.npy", mode="r")
    numbers = [int(line) - 1 for line in shards.lines]
    nats = [run.nats(np.array(values[n]), "rows" if n % 3 == 0 else "columns")[0] for n in numbers]
    assert (found.documents, found.tokens, found.of) == (len(nats), 12 * len(nats), 12 * len(nats))
    assert found.nats_each == pytest.approx(sum(nats) / len(nats), rel=1e-5)
    assert found.bits_per_character == pytest.approx(found.nats_each / 12 / math.log(2))
    told = found.as_dict()
    assert told["nats_per_image"] == found.nats_each and told["bits_per_dimension"] == found.bits_per_character
    assert "bits_per_byte" not in told and found.spelt().endswith(" bits/dimension")


def test_it_draws_what_it_learnt(run: Any) -> None:
    for label in run.labels:
        drawn = run.draw(6, label=label, seed=3)
        assert all(one.shape == (4, 3, 1) and one.dtype == np.uint8 for one in drawn)
        assert {int(value) for one in drawn for value in one.reshape(-1)} <= {0, 64, 128, 191, 255}
        assert [found for found, _ in run.predict(drawn)].count(label) >= 5
    one, again, other = (run.draw(2, label="rows", seed=seed, temperature=2.0) for seed in (1, 1, 2))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    assert np.array_equal(run.draw(1, label="rows", temperature=0), run.draw(1, label="rows", decoder=Sample(top_k=1)))


def test_the_beginning_is_kept(run: Any) -> None:
    begun = pictures(run, 1)[0]
    for keep, rows in ((None, 2), (0, 0), (3, 3)):
        (drawn,) = run.draw(1, label="rows", begun=begun, keep=keep)
        levels = begun[:rows].astype(int) * 5 // 256
        assert drawn[:rows, :, 0].tolist() == np.rint(levels * 255 / 4).astype(int).tolist()
    for keep, why in ((4, "keep=4 of 4 rows leaves nothing to draw; allowed: 0 to 3"), (-1, "keep=-1"), (1.5, "1.5")):
        with pytest.raises(UserError, match=why):
            run.draw(1, label="rows", begun=begun, keep=keep)
    with pytest.raises(UserError, match="keep=2 with nothing begun"):
        run.draw(1, label="rows", keep=2)
    with pytest.raises(UserError, match="seconds=2 is for sounds; this run draws images of 4 x 3 pixels"):
        run.draw(1, label="rows", seconds=2)


def test_files_and_folders(run: Any, tmp_path: Path) -> None:
    """Single ones, folders, colours made grey; labels in their places are not asked for."""
    given = pictures(run)
    (tmp_path / "in" / "deeper").mkdir(parents=True)
    for place, one in zip(("a.png", "in/b.png", "in/deeper/c.png"), given, strict=True):
        Image.fromarray(np.dstack([one] * 3)).save(tmp_path / place)
    found = list(run.documents([tmp_path / "a.png", str(tmp_path / "in"), given[0]]))
    assert [place for place, _ in found] == [
        str(tmp_path / "a.png"), str(tmp_path / "in" / "b.png"), str(tmp_path / "in" / "deeper" / "c.png"), "array 3",
    ]  # fmt: skip
    assert [one[..., 0].tolist() for _, one in found] == [one.tolist() for one in (*given, given[0])]
    with pytest.raises(UserError, match=r"nix\.png is no file and no folder; give images"):
        run.nats("nix.png")
    Image.fromarray(np.zeros((5, 3), np.uint8)).save(tmp_path / "large.png")
    with pytest.raises(
        UserError, match=r"large\.png has 5 x 3 pixels of grey, and the run was .* of 4 x 3 pixels; scale"
    ):
        run.nats(tmp_path / "large.png")
    with pytest.raises(UserError, match=r"array 1 is float64 \(4, 3, 1\), and the run"):
        run.predict(np.zeros((4, 3)))


def test_labels_are_asked_for_and_told(run: Any, plain: Any) -> None:
    with pytest.raises(UserError, match=r"label='row' is none of this run's.*did you mean 'rows'"):
        run.draw(1, label="row")
    with pytest.raises(UserError, match=r"no label is given, and .* allowed: columns, rows"):
        run.draw(1)
    with pytest.raises(UserError, match="writes for no labels; leave it out"):
        plain.draw(1, label="rows")
    with pytest.raises(UserError, match="knows no labels; train a language model with condition=32, or a classifier"):
        plain.predict(pictures(plain))
    assert plain.nats(pictures(plain)) == pytest.approx([by_steps(plain, one, None) for one in pictures(plain)])


def test_a_text_is_none_of_its_business(run: Any) -> None:
    for call in (run.generate, run.search, run.score, run.correct, run.step, run.perplexity):
        with pytest.raises(UserError, match="is of images of 4 x 3 pixels and knows no texts; use foresay draw, score"):
            call("0 1 2")


def test_no_end_is_ever_drawn(run: Any) -> None:
    """However likely the model holds it."""
    with torch.no_grad():
        run.model.output.bias[3] += 50.0
    assert all(one.shape == (4, 3, 1) for one in run.draw(5, label="rows"))


def test_a_transformer_draws_the_whole_picture(tmp_path: Path) -> None:
    """Its positions are as many as a picture has levels, which is not known before the pictures are read."""
    encoder = {"kind": "transformer", "size": 8, "heads": 2, "layers": 1}
    positions = {"kind": "learnt", "longest": 13}
    run = train_small(tmp_path, condition=4, encoder=encoder | {"positions": positions}, train=TRAIN | {"steps": 2})
    assert run.draw(2, label="rows")[0].shape == (4, 3, 1)
    assert run.nats(pictures(run), "rows") == pytest.approx([by_steps(run, one, 1) for one in pictures(run)], rel=1e-5)
    (tmp_path / "x").mkdir()
    small = encoder | {"positions": positions | {"longest": 12}}
    with pytest.raises(UserError, match=r"ends at 12, and images of 4 x 3 pixels have 12 levels and a start; set"):
        train_small(tmp_path / "x", encoder=small)


def test_a_classifier_of_pictures(tmp_path: Path) -> None:
    train = TRAIN | {"batches": {"kind": "labels", "tokens": 120}}
    run = train_small(tmp_path, task="classifier", encoder={"kind": "recurrent", "size": 16}, train=train)
    given = pictures(run, 6)
    assert [label for label, _ in run.predict(given)] == ["rows", "columns", "columns"] * 2
    assert run.evaluate(str(tmp_path / "x.npy")).accuracy == 1.0
    with pytest.raises(UserError, match="knows no texts; use foresay predict"):
        run.score("0 1 2")


def test_what_is_left_in_the_folder(folder: Path, plain: Any) -> None:
    for place, rows, columns in ((folder, 2, 8), (plain.folder, 4, 4)):
        with Image.open(place / "samples.png") as drawn:
            high, above = drawn.size[1], np.asarray(drawn)[0]
        wide = columns * (48 + 2) + 2
        assert high == rows * (64 + 2) + 2 and (above[-wide:] == GREY).all()
        assert (len(above) > wide) == (place == folder)  # with the names of labels on the left
        assert (above[:-wide] == 255).all()
        card = (place / "README.md").read_text("utf-8")
        assert "| nats per image |" in card and "| bits per dimension |" in card and "(samples.png)" in card
        assert f"foresay draw {place}" in card and "bits per byte" not in card and "generate" not in card
    assert "foresay predict" in (folder / "README.md").read_text("utf-8")
