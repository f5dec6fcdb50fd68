"""A masked run from the command line: what it answers, by which name, and what it refuses."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from foresay import run as runs
from foresay import start
from foresay.errors import UserError
from foresay.loading import load
from foresay.study import compare, mix
from foresay.train.progress import Watch
from tests.commands import Commands

LINES = [f"the {a} sees a {b} ." for a in ("cat", "dog", "bird", "river") for b in ("tree", "house", "hen", "fox")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("masked")
    (place / "text.txt").write_text("\n".join(LINES * 6) + "\n", "utf-8")
    recipe = {
        "task": "masked-lm",
        "data": {"train": str(place / "text.txt"), "unit": "line", "duplicates": "count"},
        "tokens": "blanks",
        "embedding": {"size": 32},
        "encoder": {"kind": "transformer", "causal": False, "size": 32, "heads": 2, "layers": 2},
        "masking": {"share": 0.3},
        "train": {"steps": 300, "lr": 0.01, "batches": {"kind": "packed", "rows": 16, "length": 14}},
    }
    start.train(recipe, out=place / "run", device="cpu", watch=Watch())
    return place / "run"


def test_score_is_named(run: Path, call: Commands):
    found = call("score", run, "the cat sees a tree .")
    assert found.error == "pseudo: the sum of -log P of each token given all others, for the model sees both sides\n"
    told = json.loads(call("score", run, "the cat sees a tree .", "--json").out)
    assert told["pseudo"] is True and float(found.out.split("\t")[0]) == pytest.approx(told["nats"], abs=1e-4)
    assert [one["token"] for one in told["tokens"]][-2:] == [".", "<stop>"]
    likely, unlikely = (load(run).score(text)[0].nats for text in ("the cat sees a tree .", "cat the tree a sees ."))
    assert likely < 5 < unlikely


def test_eval_is_named(run: Path, call: Commands):
    found = call("eval", run)
    names = [line.split("  ")[0] for line in found.out.splitlines()]
    assert names[:4] == ["loss", "pseudo-perplexity", "pseudo-bits per character", "pseudo-bits per byte"]
    told = json.loads(call("eval", run, "--json").out)
    assert told["pseudo"] is True and told["perplexity"] < 4
    card = (run / "README.md").read_text("utf-8")
    assert "| pseudo-perplexity (95 %" in card and "foresay generate" not in card and "A masked lm" in card


def test_correct(run: Path, call: Commands):
    found = call("correct", run, "the cat sess a tree .", "--restarts", 0)
    assert found.out.splitlines()[0] == "the cat [sees] a tree ."
    gibbs = call("correct", run, "the cat sess a tree .", "--chain", "metropolis", "--restarts", 0, "--json")
    assert json.loads(gibbs.out)["before"] > 0


def test_what_is_expected_between(run: Path):
    loaded = load(run)
    with pytest.raises(UserError, match="texts"):
        loaded.expect("the cat", 5)
    log_probs = loaded.expect("the cat", "a tree .")
    assert loaded.tokens.pieces([int(log_probs.argmax())]) == ["sees"]
    assert float(log_probs.exp().sum()) == pytest.approx(1, abs=1e-5)
    ids = loaded.tokens.encode("the cat sees a tree .").tolist()
    nats = loaded.score("the cat sees a tree .")[0].log_probs[2]
    assert float(log_probs[ids[2]]) == pytest.approx(nats, abs=1e-5)


def test_long_texts_are_scored_in_windows(run: Path, monkeypatch: pytest.MonkeyPatch):
    """Every token once, in the window where it has most on both sides; one short window is the text itself."""
    loaded, seen = load(run), []

    def score(ids):
        seen.append((int(ids[0, 0]), ids.shape[1]))
        return -(1000 * ids[:, :1] + ids - ids[:, :1]).double(), {}

    monkeypatch.setattr(loaded.model, "score", score)
    for number in (1, 13, 14, 15, 21, 22, 50):
        seen.clear()
        found = loaded._given_others(torch.arange(number)[None])
        assert len(found) == number and all(width == min(number, 14) for _, width in seen)
        for token, value in enumerate(found):
            begin, place = divmod(round(-value), 1000)
            assert begin + place == token and (begin == 0 or place >= 3) and (begin + 14 >= number or place <= 11)


@pytest.mark.parametrize("words", [["the cat"], ["the cat", "--beam", "3"]])
def test_generate_is_refused(run: Path, call: Commands, words):
    assert call.refused("generate", run, *words) == (
        "a masked language model sees both sides and writes nothing from left to right; use score, eval or correct, "
        "or train a language-model"
    )


def test_comparing_and_mixing_are_refused(run: Path, tmp_path: Path):
    loaded = load(run)
    assert isinstance(loaded, runs.Run) and math.isfinite(loaded.perplexity("the cat"))
    with pytest.raises(UserError, match="sees both sides and knows no P of a text; mix language models"):
        mix.mix([loaded, loaded])
    with pytest.raises(UserError, match="masked sees both sides: its pseudo-perplexity compares with no other"):
        compare.compare(["masked", "lstm"], out=tmp_path / "compared", device="cpu", watch=Watch())
