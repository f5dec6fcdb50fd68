"""The claim `encoder-layers`: its rule, which cells are compared, its models, and whole runs of the smallest size."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import torch

from foresay import recipe as recipes
from foresay.study.claims import encoder_layers, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.encoder_layers import (
    CLAIMED,
    GRID,
    Size,
    Translated,
    best,
    captions,
    draw,
    judge,
    made,
    of,
    recipe,
)
from foresay.study.claims.rewriting import build
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("low", "high", "quick", "verdict"),
    [
        (0.1, 0.2, True, "holds"),
        (-0.1, 0.2, False, "not decided at this size"),
        (-0.2, -0.1, True, "not decided at this size"),
        (-0.2, -0.1, False, "does not hold"),
    ],
)
def test_the_rule(low, high, quick, verdict):
    assert judge(Figure("", (low + high) / 2, low, high), quick) == verdict


def grid(losses: dict[tuple[int, int], float]) -> list[Translated]:
    return [Translated(*cell, seed, 1, losses.get(cell, 2.0) + 0.1 * seed, 50.0) for cell in GRID for seed in (1, 2)]


def test_the_best_cells_are_chosen_by_their_mean():
    found = grid({(2, 4): 1.0, (4, 4): 1.1, (1, 2): 0.9})
    assert best(found, CLAIMED) == (2, 4) and best(found, GRID) == (1, 2)
    assert of(found, (2, 4), "loss") == [1.1, 1.2]


@pytest.mark.parametrize("cell", [(1, 1), (2, 1), (1, 4)])
def test_models_have_the_layers_of_their_cell(cell):
    model = build({"form": "attention", "layers": cell[1]}, 40, 1, layers=cell[0], width=8)
    names = dict(model.named_parameters())
    for part, many in zip(("encoder", "writer"), cell, strict=True):
        held = {name for name in names if name.startswith(part)}
        deeper = build({"form": "attention", "layers": cell[1] + (part == "writer")}, 40, 1,
                       layers=cell[0] + (part == "encoder"), width=8)  # fmt: skip
        assert len([name for name, _ in deeper.named_parameters() if name.startswith(part)]) > len(held), many


def test_a_model_learns_and_is_asked_of_fresh_sentences():
    """Untrained it guesses, log of about 60 symbols; a little training is better."""
    before, again, after = (made((1, 1), 3, Size(updates, 16, asked=5, rows=8)) for updates in (1, 1, 30))
    assert after.loss < before.loss - 0.3 and 3 < before.loss < 5 and after.cell == (1, 1)
    assert before == again


def pairs(folder: Path) -> None:
    """A known set of pairs: sentences of a few words and the same turned round."""
    chance = random.Random(1)
    folder.mkdir(parents=True)
    for part, many in {"train": 60, "val": 3, "test_2016_flickr": 3}.items():
        lines = [" ".join(chance.choices(["ein", "alt", "hund"], k=2)) for _ in range(many)]
        (folder / f"{part}.en").write_text("\n".join(lines) + "\n")
        (folder / f"{part}.de").write_text("\n".join(line[::-1] for line in lines) + "\n")


def test_captions_are_learnt_as_a_run_is(tmp_path, monkeypatch):
    pairs(tmp_path / "multi30k-en-de")
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    found = captions((2, 1), 3, Size(2, 8, tokens=200, subwords=261))
    assert found.cell == (2, 1) and 1 < found.loss < 10 and 0 <= found.bleu <= 100 and found.parameters > 0


def test_the_recipe_is_whole():
    own = recipes.complete(recipes.read(recipe((2, 4), 3, Size(5, 8)))).as_dict()
    assert own["encoder"]["layers"] == 2 and own["writer"]["layers"] == 4 and own["seed"] == 3


def test_without_data_the_full_form_says_what_to_fetch(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    found = runner.run_claim("encoder-layers", out=tmp_path, watch=Watch())
    assert found["verdict"] == "no data" and "multi30k" in found["note"]


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(encoder_layers, "QUICK", Size(1, 8, asked=2, rows=2))
    before = torch.get_num_threads()
    found = runner.run_claim("encoder-layers", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 27 and found["figures"][0]["unit"] == "nats"
    assert found["verdict"] in ("holds", "not decided at this size") and torch.get_num_threads() == before
    assert (tmp_path / "encoder-layers.png").stat().st_size > 10_000


def test_a_picture_of_the_grid():
    left, right = draw(grid({(2, 4): 1.0})).axes
    assert len(left.texts) == len(right.texts) == 9
    assert left.texts[GRID.index((2, 4))].get_text() == "1.15\nclaimed"
