"""A tagger from files to figures: trained, loaded, resumed, used in Python and on the command line, refused."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import foresay
from foresay import start, tag
from foresay.data.batch import Batch
from foresay.data.spans import Span, first_broken
from foresay.errors import UserError
from foresay.loading import TagRun, load
from foresay.train.progress import Watch

NAMES = ["Anna", "Bob", "Carl Maria", "Dora"]
PLACES = ["Rome", "New York", "San Jose"]


def sentences(number: int, seed: int) -> str:
    """Who lives where: a name before "lives", a place after "in"."""
    draw, found = random.Random(seed), []
    for _ in range(number):
        name, place = draw.choice(NAMES).split(), draw.choice(PLACES).split()
        rows = [*_span(name, "person"), ("lives", "O"), ("in", "O"), *_span(place, "place"), (".", "O")]
        found.append("".join(f"{word}\t{tag}\n" for word, tag in rows))
    return "\n".join(found)


def _span(words: list[str], kind: str) -> list[tuple[str, str]]:
    return [(word, f"{'I' if n else 'B'}-{kind}") for n, word in enumerate(words)]


RECIPE = {
    "task": "tagger",
    "data": {"kind": "tags", "train": "train.conll", "test": "test.conll", "rewrite": "bioes"},
    "tokens": {"kind": "blanks"},
    "embedding": {"kind": "lookup", "size": 8},
    "encoder": {"kind": "recurrent", "size": 12, "bidirectional": True},
    "train": {
        "steps": 40,
        "batches": {"kind": "tags", "tokens": 100},
        "optimizer": {"kind": "adamw", "lr": 0.03},
        "evaluate": {"every": 20},
        "save": {"every": 15},
    },
}


def train(folder: str, **changed: Any) -> TagRun:
    Path("train.conll").write_text(sentences(60, 1))
    Path("test.conll").write_text(sentences(20, 2))
    run = start.train(RECIPE | changed, out=folder, device="cpu", watch=Watch())
    assert isinstance(run, TagRun)
    return run


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a trained run and its files."""
    made = tmp_path_factory.mktemp("tagger")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        train("run")
    return made


@pytest.fixture
def run(place: Path, monkeypatch: pytest.MonkeyPatch) -> TagRun:
    monkeypatch.chdir(place)
    found = load("run", "cpu")
    assert isinstance(found, TagRun)
    return found


def test_it_learns_and_is_measured(run):
    figures = run.evaluate(split="test")
    assert figures.accuracy == 1 and figures.spans is not None and figures.spans.f1 == 1
    assert set(figures.table) == {"person", "place"} and figures.table["place"].true == 20
    again = run.evaluate("test.conll")
    assert (again.loss, again.tokens, again.spans) == (figures.loss, figures.tokens, figures.spans)
    Path("wrong.conll").write_text("Anna\tI-place\nlives\tO\n")
    wrong = run.evaluate("wrong.conll")
    assert wrong.table["place"].recall == 0  # rewritten as training was: one span
    assert wrong.notes == (
        "wrong.conll: 1 tag that broke BIO was mended (data.rewrite=bioes), the first at line 1: I-place",
    )
    assert figures.notes == again.notes == ()
    results = json.loads(Path("run/results.json").read_text())
    assert results["tags"] == 9 and results["valid"]["spans"]["f1"] == 1 and "table" not in results["valid"]
    assert "| F1 of spans, % (95 % bootstrap interval) | 100.00" in Path("run/README.md").read_text()


def test_predict(run):
    one, other = run.predict(["Bob lives in New York.", ["Carl", "Maria", "lives", "in", "Rome", "."]])
    assert one.words == ["Bob", "lives", "in", "New", "York", "."]
    assert one.tags == ["S-person", "O", "O", "B-place", "E-place", "O"]
    assert one.spans == [Span("person", 0, 1), Span("place", 3, 5)]
    assert other.tags[:2] == ["B-person", "E-person"] and all(0.5 < p <= 1 for p in other.probabilities)
    assert one.as_dict()["spans"][1] == {"type": "place", "begin": 3, "end": 5, "text": "New York"}
    assert run.predict("Bob lives in New York.")[0] == one
    assert run.predict("Bob lives.", blanks=True)[0].words == ["Bob", "lives."]
    long = run.predict([["Bob", "lives", "in", "Rome"] * 2500])[0]
    assert len(long.tags) == 10_000 and sum(span.type == "place" for span in long.spans) == 2500


def test_spans_are_never_broken_and_measured_as_they_are_shown(run):
    """After scores that would begin every span twice: tags keep their scheme, probabilities are of the tags shown."""
    with torch.no_grad():
        kept = run.model.layer.transitions.clone()
        run.model.layer.transitions.normal_(std=4.0)
    try:
        found = run.predict([["Anna", "lives", "in", "New", "York"], ["Rome", "Rome", "Bob"]])
        names = run.model.tags.names
        assert all(first_broken(one.tags, "bioes") is None for one in found)
        assert all(0 <= p <= 1 for one in found for p in one.probabilities)
        assert {tag for one in found for tag in one.tags} <= set(names)
    finally:
        with torch.no_grad():
            run.model.layer.transitions.copy_(kept)


def test_what_stands_between_two_texts_stays_whole(run):
    assert run.predict("Where? ||| Bob lives in Rome.")[0].words[:4] == ["Where", "?", "|||", "Bob"]


def test_a_word_with_a_blank_within_is_unknown_as_in_training(run):
    """Files with tabs may have such words."""
    Path("blank.conll").write_text("Anna left\tO\nlives\tO\n")
    found = run.evaluate("blank.conll")
    one, other = run.predict([["Anna left", "lives"], ["zzz", "lives"]])
    assert found.unknown == 0.5 and (one.words, one.tags) == (["Anna left", "lives"], other.tags)


@pytest.mark.parametrize(
    ("texts", "error"),
    [
        (" ", "text 1 of 1 is empty; give a text with words"),
        (["a", []], "text 2 of 2 is empty; give a text with words"),
        ([["a", " "]], "text 1 of 1 has an empty word; give a text with words"),
        (5, "texts=5; allowed: text, a list of texts, or a list of lists of words"),
        (None, "texts=None; allowed: text, a list of texts, or a list of lists of words"),
        (["a", 5], "text 2 of 2 is 5; allowed: text, or a list of words"),
        ([["Anna", 5]], "text 1 of 1 has 5 among its words; allowed: text"),
        ([[["Anna"], ""]], "text 1 of 1 has ['Anna'] among its words; allowed: text"),
    ],
)
def test_what_is_no_text_is_refused(run, texts, error):
    with pytest.raises(UserError) as raised:
        run.predict(texts)
    assert str(raised.value) == error


def test_refusals_of_a_run(run):
    for call in (run.score, run.generate, run.perplexity, run.search, run.correct, run.step):
        with pytest.raises(
            UserError, match="is of task tagger, which knows no probability of a text; use foresay predict"
        ):
            call("a text")
    with pytest.raises(UserError, match="rows=1, but sentences are read one a row"):
        run.evaluate(rows=1)
    with pytest.raises(UserError, match="split='dev'; allowed: valid, test"):
        run.evaluate(split="dev")
    Path("other.conll").write_text("Anna\tO\nx\tB-animal\n")
    with pytest.raises(
        UserError,
        match=r"other.conll: line 2 has the tag B-animal, which the run does not know: .*; the run's tags: B-p",
    ):
        run.evaluate("other.conll")


def test_a_text_is_cut_without_a_tokeniser_for_each_chunk(monkeypatch):
    monkeypatch.setattr(tag, "Words", None)
    assert tag.cut("Who, in Rome?  ||| Bob.", blanks=False) == ["Who", ",", "in", "Rome", "?", "|||", "Bob", "."]


def test_commands(run, call):
    found = call("predict", "run", "Dora lives in San Jose.")
    assert found.code == 0
    assert found.out == "Dora\tS-person\nlives\tO\nin\tO\nSan\tB-place\nJose\tE-place\n.\tO\n\n"
    piped = call("predict", "run", "-", "--json", given=b"Bob lives in Rome.\n\nAnna lives in Rome.\n")
    lines = [json.loads(line) for line in piped.out.splitlines()]
    assert lines[1] is None  # so that line n is of line n
    assert [line["words"][0] for line in lines[::2]] == ["Bob", "Anna"] and lines[0]["spans"][1]["text"] == "Rome"
    Path("lines.txt").write_text("Bob lives in Rome .\n")
    assert call("predict", "run", "lines.txt", "--blanks").out.startswith("Bob\tS-person\n")
    shown = call("eval", "run", "--split", "test").out
    Path("wrong.conll").write_text("Anna\tI-person\nlives\tO\n")
    assert call("eval", "run", "--data", "wrong.conll").error.startswith("wrong.conll: 1 tag that broke BIO was mended")
    assert "accuracy            100.00 %" in shown and "span F1             100.00 %" in shown
    assert "\nplace      100.00  100.00  100.00       20\n" in shown
    told = json.loads(call("eval", "run", "--split", "test", "--json").out)
    assert told["table"]["person"]["f1"] == 1 and told["spans"]["true"] == 40
    assert call.refused("predict", "run", "") == "the text is empty; give a text with words"
    assert "gone.txt is no file" in call.refused("predict", "run", "gone.txt")
    assert "use foresay predict" in call.refused("score", "run", "Bob")


def test_resumed_it_is_the_same(place: Path, monkeypatch: pytest.MonkeyPatch):
    """Stopped after 15 of 40 steps and resumed: the same weights to the last bit."""
    monkeypatch.chdir(place)
    from foresay.train.loop import Trainer

    whole, saved = Trainer.save, []

    def save(self: Trainer) -> None:
        whole(self)
        saved.append(self.counters.step)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trainer, "save", save)
        train("stopped")
    assert saved == [15] and not Path("stopped/model.safetensors").exists()
    start.train(resume="stopped", device="cpu", watch=Watch())
    assert Path("stopped/model.safetensors").read_bytes() == Path("run/model.safetensors").read_bytes()


def test_the_set_of_tags_is_guarded(run, tmp_path: Path):
    import shutil

    shutil.copytree("run", tmp_path / "copy")
    (tmp_path / "copy" / "tags.json").write_text('{"scheme": "none", "tags": ["A"]}')
    with pytest.raises(UserError, match=r"tags.json is damaged or not of this run"):
        load(tmp_path / "copy")


def test_an_hmm_needs_no_steps():
    changed = {"task": "hmm", "train": {"batches": {"kind": "tags"}}}
    Path("train.conll").write_text(sentences(60, 1))
    Path("test.conll").write_text(sentences(20, 2))
    kept = {key: value for key, value in RECIPE.items() if key in ("data", "tokens")}
    run = start.train(kept | changed, out="hmm", device="cpu", watch=Watch())
    assert run.evaluate(split="test").accuracy > 0.9


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"data": {"train": "train.conll"}}, "task=tagger reads words with tags, and data.kind=text; allowed: data.k"),
        ({"train": {"batches": "streams"}}, "train.batches=streams with data.kind=tags; allowed: train.batches=tags"),
        ({"tokens": "subwords"}, "the tokens cut the word '.*' into pieces.*tokens=blanks"),
        ({"output": "adaptive"}, "output='adaptive'; allowed: one of softmax, crf"),
        (
            {"encoder": {"kind": "transformer", "positions": {"kind": "learnt", "longest": 3}, "causal": False}},
            "positions=learnt ends at 3, but train.batches=tags goes to 256",
        ),
    ],
)
def test_what_does_not_fit_is_refused(changed, error):
    with pytest.raises(UserError, match=error):
        train("refused", **changed)
    assert not Path("refused").exists()


def test_one_tag_alone_is_refused():
    Path("one.conll").write_text("a N\n\nb N\n\n" * 30)
    with pytest.raises(UserError, match=r"every word of data\.train has the tag N; give words of at least two"):
        train("refused", data={"kind": "tags", "train": "one.conll"})
    assert not Path("refused").exists()


def test_a_sentence_longer_than_there_are_positions():
    Path("long.conll").write_text("w\tO\n\n" + "w\tO\n" * 9)
    encoder = {"kind": "transformer", "size": 8, "heads": 2, "positions": {"kind": "learnt", "longest": 8}}
    data = RECIPE["data"] | {"valid": "long.conll"}
    batches = {"steps": 1, "batches": {"kind": "tags", "longest": 8}}
    with pytest.raises(
        UserError, match=r"data.valid: line 3 begins a sentence of 9 words; encoder.positions=learnt en"
    ):
        train("refused", data=data, encoder=encoder, train=batches)


def test_other_tasks_refuse_tags():
    Path("train.conll").write_text(sentences(5, 1))
    raw = {"task": "language-model", "data": {"kind": "tags", "train": "train.conll"}}
    with pytest.raises(
        UserError, match=r"task=language-model reads one text, and data.kind=tags; allowed: data.kind=te"
    ):
        start.train(raw, out="refused", device="cpu", watch=Watch())
    with pytest.raises(UserError, match="wnut17 holds words with tags, not a text"):
        foresay.prepare("wnut17")


@pytest.mark.parametrize("embedding", ["lookup", "joined"])
def test_a_word_never_seen_is_tagged_by_its_letters(embedding, tmp_path, monkeypatch):
    """Tags by the ending alone, every word different: letters tell them apart, <unk> does not."""
    monkeypatch.chdir(tmp_path)
    draw = random.Random(3)

    def column(number: int) -> str:
        stems = ["".join(draw.choices("bcdfgklmnprst", k=5)) for _ in range(number)]
        rows = [
            f"{stem}{ending}\t{tag}" for stem in stems for ending, tag in [draw.choice([("ing", "V"), ("ly", "A")])]
        ]
        return "\n".join(row + ("\n" if n % 4 == 3 else "") for n, row in enumerate(rows)) + "\n"

    Path("train.conll").write_text(column(200))
    Path("test.conll").write_text(column(80))
    small = {"kind": "characters", "size": 8, "kernels": [[3, 12]], "longest": 12}
    made = {"kind": "joined", "of": [{"kind": "lookup", "size": 4}, small]}
    recipe = RECIPE | {
        "data": {"kind": "tags", "train": "train.conll", "test": "test.conll"},
        "tokens": {"kind": "blanks", "min_count": 2, "size": 6},
        "embedding": made if embedding == "joined" else {"kind": "lookup", "size": 8},
        "train": RECIPE["train"] | {"steps": 60, "save": {"every": 60}, "evaluate": {"every": 60}},
    }
    Path("train.conll").write_text("be\tV\nbe\tV\n\n" + Path("train.conll").read_text())  # one word is known
    run: Any = start.train(recipe, out="run", device="cpu", watch=Watch())
    figures, found = run.evaluate(split="test"), run.predict([["zzzzly", "xxxxxing", "zzzzly"]])[0].tags
    assert figures.unknown == 1.0
    if embedding == "joined":
        assert figures.accuracy > 0.95 and found == ["A", "V", "A"]
    else:
        assert figures.accuracy < 0.7


def test_symbols_of_one_letter(tmp_path, monkeypatch):
    """H before an A, C elsewhere, from a file of letters: a text is tagged letter by letter."""
    monkeypatch.chdir(tmp_path)
    draw, rows = random.Random(4), []
    for _ in range(150):
        chain = "".join(draw.choices("AGV", k=12))
        rows += [chain, "".join("H" if one == "A" else "C" for one in chain[1:]) + "C"]
    Path("chains.3line").write_text("\n".join(rows) + "\n")
    data = {"kind": "tags", "train": "chains.3line"}
    recipe = RECIPE | {"data": data, "tokens": "characters"}
    run: Any = start.train(recipe, ["train.steps=80"], out="run", device="cpu", watch=Watch())
    assert run.evaluate().accuracy > 0.97
    found = run.predict(["AGAVA GG", ["A", "G", "A"]])
    assert ("".join(found[0].words), "".join(found[0].tags), found[1].tags) == ("AGAVAGG", "CHCHCCC", ["C", "H", "C"])


def test_posteriors_by_the_words_so_far_and_by_all():
    """Of a network with a chain: what it says of the last word of every beginning. With all words both are the same."""
    run = train("run")
    (found,) = run.posteriors("Anna lives in Rome.")
    (told,) = run.predict("Anna lives in Rome.")
    assert found.words == told.words == ["Anna", "lives", "in", "Rome", "."] and found.filtered.shape == (5, 9)
    np.testing.assert_allclose(found.smoothed.sum(1), 1.0, rtol=1e-5)
    chosen = [found.smoothed[t, found.names.index(tag)] for t, tag in enumerate(told.tags)]
    np.testing.assert_allclose(chosen, told.probabilities, rtol=1e-5)
    for size in range(1, 6):
        (beginning,) = run.posteriors([found.words[:size]])
        np.testing.assert_allclose(found.filtered[size - 1], beginning.smoothed[-1], rtol=1e-4, atol=1e-6)
    assert abs(found.filtered[:-1] - found.smoothed[:-1]).max() > 1e-4
    assert found.as_dict()["filtered"][0]["O"] == pytest.approx(found.filtered[0, found.names.index("O")])


def test_posteriors_of_one_way_and_a_softmax_are_filtered():
    run = train("run", encoder={"kind": "recurrent", "size": 12}, output="softmax")
    (found,) = run.posteriors("Anna lives in Rome.")
    np.testing.assert_allclose(found.filtered, found.smoothed, rtol=1e-4, atol=1e-6)


def test_posteriors_of_an_hmm_are_its_own():
    changed = {"task": "hmm", "train": {"batches": {"kind": "tags"}}}
    Path("train.conll").write_text(sentences(60, 1))
    Path("test.conll").write_text(sentences(20, 2))
    kept = {key: value for key, value in RECIPE.items() if key in ("data", "tokens")}
    run = start.train(kept | changed, out="hmm", device="cpu", watch=Watch())
    (found,) = run.posteriors("Anna lives")
    ids = torch.from_numpy(np.array(run.tokens.encode("Anna lives").tolist()))[None]
    np.testing.assert_allclose(found.filtered, run.model.filtered(Batch(ids=ids))[0].exp(), rtol=1e-5)
