"""`draw`: where it writes, what it refuses; `score`, `predict`, `eval` and what is for texts, on runs of pictures."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from foresay.decode.sample import Sample
from foresay.loading import load
from foresay.train.sheet import GAP, GREY
from tests.striped import pictures, train_small

SIDE = (64 + GAP, 48 + GAP)


def grid(path: Path) -> tuple[int, int]:
    """How many rows and columns of pictures a sheet has, beside names."""
    with Image.open(path) as image:
        above = np.asarray(image)[0]  # a gap, of grey
        return (image.size[1] - GAP) // SIDE[0], (int((above == GREY).sum()) - GAP) // SIDE[1]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language model of pictures for labels."""
    return train_small(tmp_path_factory.mktemp("drawing"), condition=4).folder


@pytest.fixture
def run(folder: Path) -> Any:
    return load(folder, "cpu")


def test_one_row_a_label_beside_the_run_and_over_nothing(run: Any, call: Any) -> None:
    place = run.folder / "drawn.png"
    place.unlink(missing_ok=True)
    assert call("draw", run.folder).error == f"{place} is written\n"
    assert grid(place) == (2, 8)
    assert call.refused("draw", run.folder) == (
        f"{place} exists; allowed: a new place: give another --out, or --force to write over it"
    )
    assert call("draw", run.folder, "--label", "rows", "--force").code == 0
    assert grid(place) == (4, 4)


def test_a_sheet_holds_what_python_draws(run: Any, call: Any) -> None:
    found = call("draw", run.folder, "--label", "all", "--number", 3, "--seed", 5, "--out", "a.png", "--json").out
    assert json.loads(found) == [
        {"label": label, "number": n, "file": "a.png"} for label in ("columns", "rows") for n in (1, 2, 3)
    ]
    with Image.open("a.png") as image:
        shown = np.asarray(image)
    shown = shown[:, shown.shape[1] - 3 * SIDE[1] - GAP :]  # behind the names
    for row, label in enumerate(("columns", "rows")):
        for column, one in enumerate(run.draw(3, label=label, seed=5 + row)):
            top, left = GAP + row * SIDE[0], GAP + column * SIDE[1]
            assert shown[top : top + 64 : 16, left : left + 48 : 16].tolist() == one[..., 0].tolist()


def test_a_folder_and_a_beginning(run: Any, call: Any) -> None:
    begun = pictures(run, 1)[0]
    Image.fromarray(begun).save("begun.png")
    words = ("--label", "rows", "--number", 2, "--keep", 3, "--temperature", 0.5, "--top-k", 2, "--out", "out")
    found = json.loads(call("draw", run.folder, "begun.png", *words, "--json").out)
    assert [one["file"] for one in found] == ["out/rows-01.png", "out/rows-02.png"]
    with Image.open("out/rows-01.png") as image:
        shown = np.asarray(image)
    assert shown.shape == (4, 3)  # of their own size, so they may be given back
    again = run.draw(2, label="rows", begun="begun.png", keep=3, decoder=Sample(temperature=0.5, top_k=2))
    told = [json.loads(line) for line in call("score", run.folder, "out", "--json").out.splitlines()]
    assert [one["nats"] for one in told] == pytest.approx(run.nats(again))
    assert shown[:3].tolist() == np.rint((begun[:3].astype(int) * 5 // 256) * 255 / 4).astype(int).tolist()


def test_what_is_refused(run: Any, call: Any) -> None:
    place = run.folder
    assert "label='row' is none of this run's" in call.refused("draw", place, "--label", "row")
    out = ("--out", "new.png")
    allowed = "--out a.jpg; allowed: a name that ends in .png, or of a folder"
    assert call.refused("draw", place, "--out", "a.jpg") == allowed
    Image.new("RGB", (5, 2)).save("wide.png")
    assert call.refused("score", place, "wide.png") == (
        "wide.png has 2 x 5 pixels of grey, and the run was trained on images of 4 x 3 pixels; scale it, or train with "
        "data.size=[4, 3], which scales all"
    )
    assert call.refused("draw", place, "--out", "no/a.png").startswith("no is no folder; make it first")
    assert call.refused("draw", place, *out, "--temperature", -1).startswith("--temperature -1.0; allowed: 0")
    assert call.refused("draw", place, *out, "--temperature", 0, "--top-p", 0.5) == (
        "--top-p with --temperature 0; it is for sampling: give a temperature above 0"
    )
    assert "keep=2 with nothing begun" in call.refused("draw", place, *out, "--keep", 2)
    assert "nix.png is no file and no folder" in call.refused("draw", place, "nix.png", *out)
    assert "number=0" in call.refused("draw", place, *out, "--number", 0)
    assert not Path("new.png").exists()


def test_scores_and_answers_of_files(run: Any, call: Any) -> None:
    Path("in").mkdir()
    given = pictures(run)
    for number, one in enumerate(given):
        Image.fromarray(one).save(f"in/{number}.png")
    nats = run.nats(given, "rows")
    lines = call("score", run.folder, "in", "--label", "rows").out.splitlines()
    assert lines == [
        f"{n:.4f}\t{n / math.log(2) / 12:.4f} bits/dimension\tin/{number}.png" for number, n in enumerate(nats)
    ]
    told = [json.loads(line) for line in call("score", run.folder, "in/0.png", "in/1.png", "--json").out.splitlines()]
    assert [one["nats"] for one in told] == pytest.approx(run.nats(given[:2])) and told[1]["file"] == "in/1.png"
    assert call("predict", run.folder, "in").out == "rows\tin/0.png\ncolumns\tin/1.png\ncolumns\tin/2.png\n"
    one = json.loads(call("predict", run.folder, "in/0.png", "--json").out)
    assert one == {"file": "in/0.png", "label": "rows", "probabilities": pytest.approx(run.predict(given[:1])[0][1])}
    Path("in/9.png").write_text("a text")
    ended = call("predict", run.folder, "in")
    assert ended.code == 2 and ended.out.startswith("rows\tin/0.png") and "in/9.png is no picture" in ended.error
    for command in ("score", "predict"):
        assert call.refused(command, run.folder, "in/0.png", "--encoding", "latin-1") == (
            f"--encoding is for runs on texts; {run.folder} is of images of 4 x 3 pixels: leave it out"
        )


def test_figures_of_pictures(run: Any, call: Any) -> None:
    shown = dict(line.split("  ", 1) for line in call("eval", run.folder).out.splitlines())
    found = run.evaluate()
    assert shown["nats per image"].strip() == f"{found.nats_each:.3f}"
    assert shown["bits per dimension"].strip().startswith(f"{found.bits_per_character:.4f}  (95 % interval ")
    assert shown["images"].strip() == f"{found.documents}, {found.tokens} levels" and len(shown) == 4
    whole = json.loads(call("eval", run.folder, "--data", run.folder.parent / "x.npy", "--json").out)
    assert whole["tokens"] == 60 * 12 and whole["nats_per_image"] == pytest.approx(12 * whole["loss"])
    assert call.refused("eval", run.folder, "--data", "x.npy", "--encoding", "latin-1") == (
        f"encoding=latin-1 is for texts, and {run.folder} reads other files; leave it out"
    )
    assert call.refused("eval", run.folder, "--data", "x.npy", "--column", "a").startswith("columns a; they are for")
    assert "data='wrong' is no file, folder or known" in call.refused("eval", run.folder, "--data", "wrong")


def test_what_is_for_texts_says_what_to_use(run: Any, call: Any) -> None:
    why = f"{run.folder} is of images of 4 x 3 pixels and knows no texts; use foresay draw, score or predict"
    for words in (("generate", run.folder), ("generate", run.folder, "--beam", 3), ("correct", run.folder, "a word")):
        assert call.refused(*words) == why


def test_a_run_on_texts_draws_nothing(trained: Path, call: Any) -> None:
    assert call.refused("draw", trained).startswith(f"{trained} draws nothing; allowed: a model of pictures, sounds or")
