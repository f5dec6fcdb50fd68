"""Kinds of a word by its vectors: by hand, of a run, the command, the picture, what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from matplotlib.image import imread

from foresay import start
from foresay.data.tag_files import Tagged
from foresay.errors import UserError
from foresay.study.senses import Senses, senses
from foresay.study.senses_picture import draw_senses, flat, pick
from foresay.train.progress import Watch


def sentence(text: str) -> Tagged:
    """`bear/N sleeps/V`, a line."""
    words, tags = zip(*(one.split("/") for one in text.split()), strict=True)
    return Tagged([1] * len(words), list(words), list(tags))


class Known:
    """A run whose vectors are given: layer 0 of the word alone, layer 1 of its direction, by the number beside it."""

    def embed(self, text: str) -> list[Any]:
        tokens = text.split()
        angles = [float(token[1:]) if token[0] == "@" else 0.0 for token in tokens]
        turned = torch.tensor([angles[min(at + 1, len(angles) - 1)] for at in range(len(tokens))])
        own, context = torch.ones(len(tokens), 2), torch.stack([turned.cos(), turned.sin()], 1)
        return [SimpleNamespace(tokens=tokens, layers=[own, context])]


TEXT = ["a/N @0.0/X", "A/N @0.2/X", "a/V @1.5/X", "a/V @1.4/X", "b/N @0.0/X", "b/N @0.9/X", "a/N @1.2/X"]


def found(**settings: Any) -> Senses:
    return senses(Known(), [sentence(one) for one in TEXT], **{"least": 2, **settings})


def test_by_hand():
    """a: N at 0, 0.2 and 1.2, V at 1.5 and 1.4; the third N lies nearest to a V, and it to no other's nearest."""
    told = found()
    (one,) = told.words
    assert one.word == "a" and one.tags == ["N", "N", "V", "V", "N"]
    own, context = told.layers
    assert context.nearest == pytest.approx(80.0) == context.by_word["a"]
    assert context.chance == own.chance == pytest.approx(100 * (3 * 2 / 4 + 2 * 1 / 4) / 5)
    same = torch.tensor([0.2, 1.2, 1.0, 0.1]).cos().mean()
    other = torch.tensor([1.5, 1.4, 1.3, 1.2, 0.3, 0.2]).cos().mean()
    assert (context.same, context.other) == pytest.approx((float(same), float(other)), abs=1e-6)
    assert (own.same, own.other) == pytest.approx((1.0, 1.0))
    assert told.as_dict()["words"] == {"a": {"N": 3, "V": 2}} and told.left_out == 0


def test_two_in_one_sentence_are_not_compared():
    text = ["a/N @0.0/X a/V @0.01/X", "a/N @0.1/X", "a/V @3.0/X"]
    told = senses(Known(), [sentence(one) for one in text], least=2)
    assert told.layers[1].nearest == pytest.approx(25.0)  # the first N alone finds an N


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"least": 4}, "no word stands 4 times with each of two of its tags; give more text, or a smaller --least"),
        ({"tags": ["N", "X"]}, "each of two of the tags N, X"),
    ],
)
def test_nothing_to_look_at(settings, error):
    with pytest.raises(UserError, match=error):
        found(**settings)


def test_words_that_the_tokens_cut(monkeypatch):
    monkeypatch.setattr(Known, "embed", lambda self, text: [SimpleNamespace(tokens=[*text], layers=[])])
    with pytest.raises(UserError, match="tokens cut these words otherwise; give a run whose tokens are words"):
        found()


def test_the_plane_keeps_distances_of_points_that_lie_in_one():
    turn = torch.linalg.qr(torch.randn(6, 6, dtype=torch.float64))[0]
    points = torch.zeros(9, 6, dtype=torch.float64)
    points[:, :2] = torch.randn(9, 2, dtype=torch.float64)
    torch.testing.assert_close(torch.cdist(flat(points @ turn), flat(points @ turn)), torch.cdist(points, points))


def test_picture(tmp_path: Path):
    draw_senses(tmp_path / "a.png", found(), "A")
    height, width = imread(tmp_path / "a.png").shape[:2]
    assert width > 1.5 * height > 300
    assert pick(found(), None).word == "a"
    with pytest.raises(UserError, match="--word bear is not among the words looked at: a"):
        pick(found(), "bear")
    with pytest.raises(UserError, match=r"--picture a\.svg; allowed: a name that ends in \.png"):
        draw_senses(Path("a.svg"), found(), None)


def test_command(tmp_path: Path, monkeypatch, call):
    """Of a run that learnt two kinds of sentences with one word in both."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(1)
    rows = [("the old bear slept", "DNNV"), ("they can not bear it", "PVRVP")]
    text = [rows[draw.randrange(2)] for _ in range(80)]
    Path("text.txt").write_text("\n".join(words for words, _ in text))
    lines = ("\n".join(f"{w}\t{t}" for w, t in zip(words.split(), tags, strict=True)) for words, tags in text)
    Path("tags.tsv").write_text("\n\n".join(lines) + "\n")
    encoder = {"kind": "recurrent", "size": 8, "layers": 1}
    train = {"steps": 30, "batches": "buckets", "optimizer": {"kind": "adamw", "lr": 0.03}}
    recipe = {"task": "bilm", "data": {"train": "text.txt", "unit": "line"}, "tokens": "blanks", "encoder": encoder}
    start.train(recipe | {"embedding": {"size": 8}, "train": train}, out="run", device="cpu", watch=Watch())
    said = call("senses", "run", "tags.tsv", "--picture", "bear.png").out.splitlines()
    assert said[0] == "1 words of two kinds or more, 80 occurrences" and len(said) == 4
    told = json.loads(call("senses", "run", "tags.tsv", "--tags", "N,V", "--columns", "1,2", "--json").out)
    assert told["layers"][1]["nearest"] == 100 > told["layers"][1]["chance"]
    assert imread(tmp_path / "bear.png").size
    assert "bear.png exists" in call.refused("senses", "run", "tags.tsv", "--picture", "bear.png")
    assert "--word bear is the picture's" in call.refused("senses", "run", "tags.tsv", "--word", "bear")
    assert "--columns a,b; allowed: two numbers" in call.refused("senses", "run", "tags.tsv", "--columns", "a,b")
    assert "gone.tsv" in call.refused("senses", "run", "gone.tsv")


def test_other_runs_have_no_vectors_in_context(trained, call):
    assert "vectors in context are given by a run of task bilm" in call.refused("senses", trained, "tags.tsv")
