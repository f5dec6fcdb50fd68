"""Words that moved a decision: by formula where the model is linear, by a small change where it is not."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import start
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.loading import load
from foresay.study.moved import Moved, moved_by, page
from foresay.train.progress import Watch

TRAIN = {"steps": 2, "batches": {"kind": "labels", "tokens": 60}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two classifiers of three labels or two, hardly trained: `mean` has no encoder, `rnn` has one."""
    made = tmp_path_factory.mktemp("moved")
    (made / "two.tsv").write_text("text\tlabel\n" + "a b\tbad\nb c c\tgood\n" * 9)
    (made / "three.tsv").write_text("text\tlabel\n" + "a b\tx\nb c c\ty\na\tz\n" * 9)
    for name, table, encoder in (("mean", "two.tsv", None), ("rnn", "three.tsv", {"kind": "recurrent", "size": 4})):
        recipe = {
            "task": "classifier",
            "tokens": "blanks",
            "embedding": {"kind": "lookup", "size": 3},
            "encoder": encoder,
            "pool": "mean",
            "train": TRAIN,
            "data": {"kind": "labels", "train": str(made / table)},
        }
        start.train(recipe, out=made / name, device="cpu", watch=Watch())
    return made


def test_of_averaged_vectors_by_formula(folder):
    """s = (w_good - w_bad) . mean_t x_t + b: word t has a third of (w_good - w_bad) . x_t."""
    run: Any = load(folder / "mean", "cpu")
    found = moved_by(run, "a c c", "good")
    w = run.model.classes.weight[1] - run.model.classes.weight[0]
    x = run.model.embedding(Batch(ids=torch.tensor([run.tokens.encode("a c c").tolist()])))[0]
    assert found.shares == pytest.approx((x @ w / 3).tolist(), rel=1e-5)
    assert found.tokens == ["a", "c", "c"] and found.label == "good"
    assert found.probability == pytest.approx(run.predict("a c c")[0][1]["good"])
    other = moved_by(run, "a c c", "bad")
    assert other.shares == pytest.approx([-share for share in found.shares])


def test_vectors_beside_count_and_unknown_words_keep_their_spelling(folder):
    """z = [mean x; mean x'] W + b: word t has a third of w . [x_t; x'_t]."""
    recipe = {
        "task": "classifier",
        "tokens": "blanks",
        "embedding": {"kind": "lookup", "size": 3},
        "beside": {"kind": "lookup", "size": 2},
        "encoder": None,
        "pool": "mean",
        "train": TRAIN,
        "data": {"kind": "labels", "train": str(folder / "two.tsv")},
    }
    start.train(recipe, out=folder / "beside", device="cpu", watch=Watch())
    run: Any = load(folder / "beside", "cpu")
    found = moved_by(run, "a zebu c", "good")
    w = run.model.classes.weight[1] - run.model.classes.weight[0]
    batch = run.batch_of("a zebu c")
    x = torch.cat([run.model.embedding(batch), run.model.beside(batch)], 2)[0]
    assert found.shares == pytest.approx((x @ w / 3).tolist(), rel=1e-5)
    assert found.tokens == ["a", "zebu", "c"]


def test_of_an_encoder_by_a_small_change(folder):
    """Each word's vector made longer by a thousandth moves s by a thousandth of its share."""
    run: Any = load(folder / "rnn", "cpu")
    run.model.double()
    found = moved_by(run, "a b c")
    answer = max(run.predict("a b c")[0][1].items(), key=lambda one: one[1])[0]
    at = run.model.labels.names.index(answer)
    x = run.model.embedding(Batch(ids=torch.tensor([run.tokens.encode("a b c").tolist()]))).detach()

    @torch.no_grad()
    def odds(vectors: torch.Tensor) -> float:
        p = float(run.model.read([vectors]).softmax(1)[0, at])
        return math.log(p / (1 - p))

    for t, share in enumerate(found.shares):
        longer, shorter = x.clone(), x.clone()
        longer[0, t] *= 1.001
        shorter[0, t] *= 0.999
        assert (odds(longer) - odds(shorter)) / 0.002 == pytest.approx(share, rel=1e-4)
    assert found.label == answer


def bag(folder: Path, table: str, **settings: Any) -> Any:
    recipe = {"task": "bag-of-words", "tokens": "blanks", "data": {"kind": "labels", "train": str(folder / table)}}
    recipe |= {"train": {"batches": "labels"}}
    out = folder / f"bag-{table}-{'-'.join(settings)}"
    return start.train(recipe | settings, out=out, device="cpu", watch=Watch())


@pytest.mark.parametrize("counts", ["binary", "all"])
def test_of_a_bag_of_words_the_shares_are_all_there_is(folder, counts):
    """s = x (w_good - w_bad) + b exactly: a word that counts once shares its weight among the places it stands in."""
    run = bag(folder, "two.tsv", counts=counts, **({"weights": "balanced"} if counts == "all" else {}))
    found = moved_by(run, "a c zebu c", "good")
    a, c, unknown = (run.tokens.encode(word)[0] for word in ("a", "c", "zebu"))
    w = (run.model.weight[:, 1] - run.model.weight[:, 0]).detach()
    places = 2 if counts == "binary" else 1
    wanted = [w[a], w[c] / places, w[unknown], w[c] / places]
    assert found.shares == pytest.approx([float(one) for one in wanted], rel=1e-5)
    odds = math.log(found.probability / (1 - found.probability))
    assert sum(found.shares) + float((run.model.bias[1] - run.model.bias[0]).detach()) == pytest.approx(odds, rel=1e-4)
    assert (found.tokens, found.by) == (["a", "c", "zebu", "c"], "weight × count") and found.shares[1] > 0


def test_of_a_bag_of_words_with_three_labels_by_a_small_change(folder):
    run = bag(folder, "three.tsv")
    found = moved_by(run, "a b")
    z, at = run.model.scores(run.batch_of("a b"))[0].detach().double(), run.model.labels.names.index(found.label)

    def odds(scores: torch.Tensor) -> float:
        p = float(scores.softmax(0)[at])
        return math.log(p / (1 - p))

    for word, share in zip(found.tokens, found.shares, strict=True):
        step = 0.001 * run.model.weight[run.tokens.encode(word)[0]].detach().double()
        assert (odds(z + step) - odds(z - step)) / 0.002 == pytest.approx(share, rel=1e-4)


def test_of_a_bag_of_words_with_several_labels_each_has_its_own(folder):
    (folder / "several.tsv").write_text("text\tlabel\n" + "a b\tx|y\nb c c\ty\na\tx\n" * 9)
    data = {"kind": "labels", "train": str(folder / "several.tsv"), "several": True}
    run = bag(folder, "several.tsv", data=data)
    found = moved_by(run, "a b", "x")
    at = run.model.labels.names.index("x")
    wanted = [float(run.model.weight[run.tokens.encode(word)[0], at].detach()) for word in "ab"]
    assert found.shares == pytest.approx(wanted, rel=1e-5)


def test_a_bag_of_words_on_the_command_line(folder, call):
    run = bag(folder, "two.tsv", strength=2.0).folder
    done = call("look", run, "--text", "a c", "--out", "bag.svg")
    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["a", "c"]
    assert "bag.svg is written: " in done.error and Path("bag.svg").is_file()
    assert call("look", run, "--text", "a c", "--out", "bag.html").code == 0
    assert "orange ones against it: weight × count." in Path("bag.html").read_text("utf-8")
    told = json.loads(call("look", run, "--text", "a c", "--json").out)
    assert list(told) == ["label", "probability", "tokens", "shares"]


def test_a_page_has_every_word_and_nothing_of_its_own():
    told = page(Moved(["good", "<b>"], [0.5, -0.25], "x&y", 0.875))
    assert "x&amp;y: 87.5 %" in told and "&lt;b&gt;" in told and "<b>" not in told
    assert "rgba(0,114,178,0.750)" in told and "rgba(213,94,0,0.375)" in told and 'title="-0.250"' in told


def test_on_the_command_line(folder, call):
    done = call("look", folder / "mean", "--text", "a c", "--out", "a.png")
    assert [line.split("\t")[0] for line in done.out.splitlines()] == ["a", "c"]
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert call("look", folder / "mean", "--text", "a c", "--out", "a.html").code == 0
    assert "<span" in Path("a.html").read_text("utf-8")
    assert call("look", folder / "mean", "--text", "a c", "--out", "B.HTML").code == 0
    assert Path("B.HTML").read_bytes() == Path("a.html").read_bytes()
    said = call.refused("look", folder / "mean", "--text", "a c", "--out", "a.pdf")
    assert said == "--out a.pdf; allowed: a name that ends with .svg, .png or .html"
    told = json.loads(call("look", folder / "mean", "--text", "a c", "--json").out)
    assert told["tokens"] == ["a", "c"] and len(told["shares"]) == 2
    assert call.refused("look", folder / "mean", "--text", "a", "--label", "no", "--json") == (
        "--label no; allowed: bad, good"
    )
    assert call.refused("look", folder / "mean", "--text", "a", "--layer", "1").startswith("--layer and --head with")
    assert call.refused("look", folder / "mean", "--attention", "a", "--label", "x").startswith("--label x without")


def test_another_run_is_refused(trained):
    with pytest.raises(UserError, match="is no classifier; allowed: a run of task classifier or bag-of-words"):
        moved_by(load(trained, "cpu"), "a")
