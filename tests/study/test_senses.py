"""Kinds of a word by its vectors: by hand, of a run, the command, the picture, what is refused."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from matplotlib.image import imread

from foresay import start
from foresay.data.tag_files import Tagged
from foresay.errors import UserError
from foresay.represent import Representing
from foresay.study import senses as study
from foresay.study.senses import Senses, senses
from foresay.study.senses_picture import REACH, apart, draw_senses, flat, looks, pick
from foresay.train.progress import Watch


def sentence(text: str) -> Tagged:
    """`bear/N sleeps/V`, a line."""
    words, tags = zip(*(one.split("/") for one in text.split()), strict=True)
    return Tagged([1] * len(words), list(words), list(tags))


class Known:
    """A run whose vectors are given: layer 0 of the word alone, layer 1 of its direction, by the number beside it."""

    def embed(self, texts: list[str]) -> list[Any]:
        return [self.one(text.split()) for text in texts]

    def one(self, tokens: list[str]) -> Any:
        angles = [float(token[1:]) if token[0] == "@" else 0.0 for token in tokens]
        turned = torch.tensor([angles[min(at + 1, len(angles) - 1)] for at in range(len(tokens))])
        own, context = torch.ones(len(tokens), 2), torch.stack([turned.cos(), turned.sin()], 1)
        return SimpleNamespace(tokens=tokens, layers=[own, context])


TEXT = ["a/N @0.0/X", "A/N @0.2/X", "a/V @1.5/X", "a/V @1.4/X", "b/N @0.0/X", "b/N @0.9/X", "a/N @1.2/X"]


def found(text: list[str] = TEXT, **settings: Any) -> Senses:
    return senses(Known(), [sentence(one) for one in text], **{"least": 2, **settings})


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


def test_of_several_as_near_the_share_that_is_alike():
    """Layer 0 is the same everywhere: whichever of them rounding put first, it tells nothing."""
    own = found().layers[0]
    assert own.nearest == pytest.approx(own.chance) == own.by_word["a"]


def test_rarer_tags_are_left_out():
    told = found([*TEXT, "a/X @0.1/X"])
    assert told.as_dict()["words"] == {"a": {"N": 3, "V": 2}}
    assert found([*TEXT, "a/X @0.1/X"], least=1).as_dict()["words"]["a"] == {"N": 3, "V": 2, "X": 1}


def test_of_each_tag_the_first(monkeypatch):
    """Also where those of one tag all stand before the others."""
    monkeypatch.setattr(study, "MOST", 2)
    text = ["a/N @0.0/X", "a/N @0.1/X", "a/N @0.2/X", "a/V @1.0/X", "a/V @1.1/X", "a/V @1.2/X"]
    (one,) = found(text).words
    assert one.sentences == [0, 1, 3, 4] and one.tags == ["N", "N", "V", "V"]
    (one,) = found(text, least=3).words
    assert one.sentences == [0, 1, 2, 3, 4, 5]


def test_in_one_sentence_alone():
    with pytest.raises(UserError, match="no word with two tags stands in two sentences"):
        found(["a/N b/X a/V", "c/X"], least=1)
    told = found(["c/N c/V", *TEXT], least=2, tags=["N", "V"])
    assert [one.word for one in told.words] == ["a"] == list(told.layers[1].by_word)


def test_no_pair_alike():
    told = found(["a/N @0.0/Y", "a/V @0.5/Y"], least=1)
    assert told.layers[1].same is None and told.layers[1].other == pytest.approx(float(torch.tensor(0.5).cos()))
    assert told.layers[1].nearest == told.layers[1].chance == 0


def test_sentences_left_out_count_for_no_tag(monkeypatch):
    """Their tokens are cut, and what is left of V is too little."""
    one = Known.one
    monkeypatch.setattr(Known, "one", lambda self, tokens: one(self, [*"cut"] if "!" in tokens else tokens))
    text = [*TEXT, "c/N @0.1/X", "c/N @0.2/X", "c/V @0.3/X", "c/V !/X", "a/X @0.0/X", "a/X !/X"]
    told = found(text)
    assert told.as_dict()["words"] == {"a": {"N": 3, "V": 2}} and told.left_out == 2


def test_two_in_one_sentence_are_not_compared():
    text = ["a/N @0.0/X a/V @0.01/X", "a/N @0.1/X", "a/V @3.0/X"]
    told = senses(Known(), [sentence(one) for one in text], least=2)
    assert told.layers[1].nearest == pytest.approx(25.0)  # the first N alone finds an N


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ({"least": 4}, "no word stands 4 times with each of two of its tags; give more text, or a smaller --least"),
        ({"tags": ["N", "X"]}, "each of two of the tags N, X"),
        ({"tags": ["N", "VV"]}, "--tags N,VV: no word has the tag VV; allowed: N, V, X; did you mean 'V'?"),
        ({"tags": ["N", "N"]}, "--tags N,N; allowed: two or more"),
        ({"text": []}, "the text has no words; give lines with a word and its tag"),
    ],
)
def test_nothing_to_look_at(settings, error):
    with pytest.raises(UserError, match=re.escape(error)):
        found(**settings)


def test_words_that_the_tokens_cut(monkeypatch):
    monkeypatch.setattr(Known, "embed", lambda self, texts: [SimpleNamespace(tokens=[*one]) for one in texts])
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
    draw_senses(tmp_path / "$_$.svg", found([one.replace("a/", "$_$/") for one in TEXT]), None)
    assert (tmp_path / "$_$.svg").read_text().count("% nearest alike") == 2
    assert pick(found(), None).word == "a"
    with pytest.raises(UserError, match="--word bear is not among the words looked at: a"):
        pick(found(), "bear")


def test_the_word_with_the_most_of_its_second_tag_is_drawn():
    """a has 3 and 2; c has 9 and 1."""
    text = [*TEXT, *["c/N @0.0/X"] * 9, "c/V @0.1/X"]
    assert pick(found(text, least=1), None).word == "a"


def test_tags_as_frequent_keep_their_order(tmp_path: Path):
    told = found([f"a/{tag} @0.{number}/Y" for number, tag in enumerate("HGFEDCBA")], least=1)
    draw_senses(tmp_path / "a.svg", told, None)
    assert re.findall(r">([A-H]) \(1\)<", (tmp_path / "a.svg").read_text()) == [*"ABCDEFGH"]


def test_every_tag_has_its_own_look():
    assert len(set(looks(30))) == 30 and len({colour for colour, _ in looks(10)}) == 10
    assert len(looks(200)) == 200


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
    start.train(
        recipe | {"embedding": {"kind": "lookup", "size": 8}, "train": train}, out="run", device="cpu", watch=Watch()
    )
    said = call("senses", "run", "tags.tsv", "--picture", "bear.png").out.splitlines()
    assert said[0] == "1 word of two kinds or more, 80 occurrences" and len(said) == 4
    told = json.loads(call("senses", "run", "tags.tsv", "--tags", "N,V", "--columns", "1,2", "--json").out)
    assert told["layers"][1]["nearest"] == 100 > told["layers"][1]["chance"]
    assert imread(tmp_path / "bear.png").size
    assert "bear.png exists" in call.refused("senses", "run", "tags.tsv", "--picture", "bear.png")
    assert "--word bear is the picture's" in call.refused("senses", "run", "tags.tsv", "--word", "bear")
    assert "--columns a,b; allowed: two numbers" in call.refused("senses", "run", "tags.tsv", "--columns", "a,b")
    Path("one.tsv").write_text("a\tA\nb\tB\na\tB\n")
    Path("two.tsv").write_text("a\tA\n\na\tB\n")
    Path("empty.tsv").write_text("\n")
    with monkeypatch.context() as patch:
        patch.setattr(Representing, "embed", None)  # all these are found before any vector is made
        for words, line in MISTAKES.items():
            assert call.refused("senses", "run", *words.split()).startswith(line)
        given = ("senses", "run", "tags.tsv", "--picture")
        assert call.refused(*given, "bear.png").endswith("give another --picture, or --force to write over it")
        assert call.refused(*given, "no/s.png") == "no is no folder; make it first, or give another --picture"
        assert call.refused(*given, "s.pdf") == "--picture s.pdf; allowed: a name that ends with .svg or .png"
    said = call("senses", "run", "two.tsv", "--least", "1").out.splitlines()
    assert said[2].split() == ["0", "0.0", "%", "0.0", "%", "-", "1.000"]
    told = json.loads(call("senses", "run", "two.tsv", "--least", "1", "--json").out)
    assert told["layers"][0]["same"] is None and told["layers"][0]["by_word"] == {"a": 0}
    Path("utf-16.tsv").write_text(Path("tags.tsv").read_text("utf-8"), "utf-16")
    assert call.refused("senses", "run", "utf-16.tsv").endswith("say its encoding: --encoding utf-16")
    there = ("--tags", "N,V", "--json")
    assert (
        call("senses", "run", "utf-16.tsv", "--encoding", "utf-16", *there).out
        == call("senses", "run", "tags.tsv", *there).out
    )
    blanks = call("senses", "run", "tags.tsv", "--tags", " N, V")
    assert blanks.out == call("senses", "run", "tags.tsv", "--tags", "N,V").out and blanks.code == 0


MISTAKES = {
    "gone.tsv": "gone.tsv is no file; allowed: a file of columns, or builtin:",
    "one.tsv --least 1": "no word with two tags stands in two sentences",
    "empty.tsv --tags N,V": "the text has no words; give lines with a word and its tag",
    "tags.tsv --tags N,W": "--tags N,W: no word has the tag W; allowed: D, N, P, R, V",
    "tags.tsv --tags N": "--tags N; allowed: two or more",
    "tags.tsv --columns 1,9": "--columns 1,9, but tags.tsv has 2 columns at line 1; allowed: two different ones",
    "tags.tsv --columns 1": "--columns 1; allowed: two numbers",
    "tags.tsv --columns 0,1": "--columns 0,1; allowed: two numbers",
}


def test_other_runs_have_no_vectors_in_context(trained, call):
    assert "vectors in context are given by a run of task bilm" in call.refused("senses", trained, "tags.tsv")


def test_points_on_one_place_are_spread_around_it():
    points = torch.tensor([[0.0, 0.0]] * 30 + [[4.0, 1.0]] * 2 + [[1.0, 2.0]], dtype=torch.float64)
    spread = apart(points)
    assert len(spread.unique(dim=0)) == 33 and torch.equal(spread[32], points[32])
    far = (spread - points).abs() / torch.tensor([4.0, 2.0])
    assert float(far.max()) <= REACH and float(far[:30].max()) > 0.08
