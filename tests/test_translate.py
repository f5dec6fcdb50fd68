"""Pairs from the recipe to the command line: train, resume, generate, evaluate, look; what is refused."""

from __future__ import annotations

import json
import random
import shutil
import warnings
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay import recipe, start
from foresay.decode.beam import Beam
from foresay.decode.beams import Trail
from foresay.decode.exhaustive import Exhaustive
from foresay.decode.sample import Sample
from foresay.errors import UserError
from foresay.loading import PairRun, load
from foresay.train.loop import Trainer
from foresay.train.progress import Watch

LEFT, RIGHT = "abcdefgh", "ijklmnop"


def rows(number: int, seed: int) -> list[tuple[str, str]]:
    """A cipher: every letter of the source has another for itself in the target."""
    draw = random.Random(seed)
    sources = ["".join(draw.choices(LEFT, k=draw.randint(2, 5))) for _ in range(number)]
    return [(one, "".join(RIGHT[LEFT.index(letter)] for letter in one)) for one in sources]


def table(path: Path, pairs: list[tuple[str, str]]) -> str:
    path.write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    return str(path)


TINY: dict[str, Any] = {
    "task": "seq2seq",
    "tokens": "characters",
    "embedding": {"size": 16},
    "encoder": {"kind": "recurrent", "cell": "gru", "size": 24, "bidirectional": True},
    "writer": {"kind": "recurrent", "cell": "gru", "size": 24, "dropout": 0.1},
    "train": {
        "steps": 150,
        "batches": {"kind": "pairs", "tokens": 300},
        "optimizer": {"kind": "adamw", "lr": 0.02},
        "evaluate": {"every": 50, "tokens": 400},
        "save": {"every": 30},
    },
}


@pytest.fixture(scope="module")
def cipher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cipher")
    data = {"kind": "pairs", "train": table(folder / "train.tsv", rows(400, 1))}
    data |= {"valid": table(folder / "valid.tsv", rows(30, 2)), "test": table(folder / "test.tsv", rows(20, 3))}
    start.train(TINY | {"data": data}, out=folder / "run", device="cpu", watch=Watch())
    return folder


@pytest.fixture
def run(cipher: Path) -> PairRun:
    loaded = load(cipher / "run", "cpu")
    assert isinstance(loaded, PairRun)
    return loaded


def test_other_columns(cipher, call):
    few = rows(5, 3)
    Path("new.csv").write_text("id,en,de\n" + "".join(f"1,{one},{other}\n" for one, other in few))
    assert call.refused("eval", cipher / "run", "--data", "new.csv") == (
        "new.csv has 3 columns and none called source and target; name two: --column english --column german, or by "
        "number: --column 1 --column 2"
    )
    measured = json.loads(
        call("eval", cipher / "run", "--data", "new.csv", "--column", "en", "--column", "de", "--json").out
    )
    assert measured["tokens"] == sum(len(target) + 1 for _, target in few)


def test_it_learns_the_cipher(run, cipher):
    found = run.judge(split="test")
    assert found.overlap.exact > 0.8 and found.measured.perplexity < 1.5 and found.overlap.texts == 20
    assert found.measured.tokens == sum(len(target) + 1 for _, target in rows(20, 3))
    assert found.overlap.signatures["bleu"].startswith("nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:")
    again = run.judge(str(cipher / "test.tsv"))
    assert again.as_dict() == found.as_dict()
    assert run.judge(split="test", limit=5).overlap.texts == 5
    assert run.evaluate(split="test").loss == found.measured.loss
    alone = run.judge(split="test", measures=[])
    assert alone.overlap is None and alone.written == [] and alone.as_dict() == found.measured.as_dict()


def test_a_row_is_the_same_in_any_company(run):
    sources = [source for source, _ in rows(12, 5)]
    together = run.translate(sources)
    assert together == [run.translate([source])[0] for source in sources]
    drawn = run.generate(sources, temperature=1.0, number=2, seed=4)
    assert len(drawn) == 24 and drawn[:2] == run.generate(sources[:1], temperature=1.0, number=2, seed=4)
    assert run.generate(sources[0]) == [run.search(sources[0], search=Beam(width=1))[0][0].text]
    best = run.search(sources[0], search=Beam(width=4, best=3))[0]
    assert len(best) == 3 and best[0].found.score >= best[1].found.score


def test_scores_are_of_the_target_given_the_source(run):
    right, wrong = run.score([("abc", "ijk"), ("abc", "kkk")])
    assert right.nats < wrong.nats and right.tokens == ["i", "j", "k", "<stop>"]
    assert right.nats == pytest.approx(run.score(("abc", "ijk"))[0].nats)
    found = run.search("abc")[0][0]
    assert run.score([("abc", found.text)])[0].nats == pytest.approx(-found.found.log_prob, rel=1e-4)


def test_alignment_looks_along_the_cipher(run):
    found = run.align("abcd", "ijkl")
    assert found.source == ["a", "b", "c", "d", "<stop>"] and found.target == ["i", "j", "k", "l", "<stop>"]
    weights = torch.tensor(found.weights)
    assert weights.shape == (5, 5) and torch.allclose(weights.sum(1), torch.ones(5))
    assert run.align("abcd").target[-1] == "<stop>"


def test_swapped_languages_are_noticed(run, call):
    with pytest.warns(UserWarning, match=r"1 of 2 sources have under 60 % .* swapped\? The first has 0 %: 'ijkl'"):
        run.translate(["abcd", "ijkl"])
    done = call("generate", str(run.folder), "ijkl")
    assert done.code == 0 and "warning: 1 of 1 sources have under 60 %" in done.error


def test_of_a_reversed_run_the_second_file_has_the_sources(cipher, tmp_path, call):
    raw, pairs = recipe.read(cipher / "run" / "recipe.yaml"), rows(5, 6)
    start.train(raw, ["data.reverse=true", "train.steps=1"], out=tmp_path / "back", device="cpu", watch=Watch())
    for name, side in (("one", 0), ("two", 1)):
        Path(name).write_text("".join(f"{pair[side]}\n" for pair in pairs))
    measured = ["--measure", "exact", "--json"]
    right = call("eval", tmp_path / "back", "--data", "one", "--data", "two", *measured)
    assert json.loads(right.out)["tokens"] == sum(len(one) + 1 for one, _ in pairs) and "swapped" not in right.error
    wrong = call("eval", tmp_path / "back", "--data", "two", "--data", "one", *measured)
    assert (
        "are the languages swapped (data.reverse=true: the second of data.train's sides is the source)?" in wrong.error
    )


def noted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The notes of all that is trained from here on."""
    notes: list[str] = []
    monkeypatch.setattr(Watch, "note", lambda _, text: notes.append(text))
    return notes


@pytest.mark.parametrize("own", [[], ["data.source_tokens=characters"]], ids=["one vocabulary", "two"])
def test_swapped_held_out_pairs_are_noticed_before_training(cipher, tmp_path, monkeypatch, own):
    raw, notes = recipe.read(cipher / "run" / "recipe.yaml"), noted(monkeypatch)
    wrong = [(b, a) for a, b in rows(30, 2)] + rows(20, 4)
    tokens = [sum(len(a) for a, _ in part) for part in (wrong[30:], wrong)]
    words = [f"data.valid={table(tmp_path / 'swapped.tsv', wrong)}", "train.steps=1", *own]
    start.train(raw, words, out=tmp_path / "swapped", device="cpu", watch=Watch())
    found = [note for note in notes if "swapped" in note and note.startswith("warning")]
    assert found == [
        f"warning: data.valid: {100 * tokens[0] / tokens[1]:.0f} % of its sources' tokens are from train sources; are "
        "the languages swapped? Give both sides in the order of data.train"
    ]  # not of data.test, which is right


@pytest.mark.parametrize(
    ("ask", "word"),
    [
        (lambda run: run.translate([]), "no source is given"),
        (lambda run: run.translate(["abc", ""]), "source 2 of 2 is empty"),
        (lambda run: run.translate([" "]), "source 1 of 1 is empty"),
        (lambda run: run.align(" \t"), "source 1 of 1 is empty"),
        (lambda run: run.search("abc", search=Exhaustive(), trail=Trail()), "a trail is of a beam search"),
        (lambda run: run.search("abc", banned=["i"], required=["j", "i"]), "^'i' is banned and required"),
        (lambda run: run.score(["abc"]), "allowed: pairs"),
        (lambda run: run.step("abc"), "writes from a source"),
        (lambda run: run.correct("abc"), "writes from a source"),
        (lambda run: run.generate("abc", stop="x"), "stop is for texts without an end"),
        (lambda run: run.judge(split="train"), "allowed: valid, test"),
        (lambda run: run.evaluate(rows=1), "pairs are read one a row"),
    ],
)
def test_bad_use(run, ask, word):
    with pytest.raises(UserError, match=word):
        ask(run)


class Killed(BaseException): ...


def test_killed_and_resumed_gives_the_same_bytes(cipher, tmp_path, monkeypatch):
    raw = recipe.read(cipher / "run" / "recipe.yaml")
    whole = start.train(raw, ["train.steps=40"], out=tmp_path / "whole", device="cpu", watch=Watch())
    step = Trainer.train_step

    def dies(self: Trainer, batches: Any) -> Any:
        if self.counters.step == 35:
            raise Killed
        return step(self, batches)

    monkeypatch.setattr(Trainer, "train_step", dies)
    with pytest.raises(Killed):
        start.train(raw, ["train.steps=40"], out=tmp_path / "parts", device="cpu", watch=Watch())
    monkeypatch.setattr(Trainer, "train_step", step)
    again = start.train(resume=tmp_path / "parts", device="cpu", watch=Watch())
    files = [(one.folder / "model.safetensors").read_bytes() for one in (whole, again)]
    assert files[0] == files[1]


def test_a_vocabulary_for_each_side(cipher, tmp_path):
    raw = recipe.read(cipher / "run" / "recipe.yaml")
    words = ["train.steps=20", "data.source_tokens=characters"]
    made = start.train(raw, words, out=tmp_path / "two", device="cpu", watch=Watch())
    assert isinstance(made, PairRun) and len(made.source_tokens) == len(made.tokens) == 13
    assert set(made.source_tokens.pieces(range(5, 13))) == set(LEFT)
    wanted = made.score([("abc", "ijk")])[0].nats
    moved = shutil.move(made.folder, tmp_path / "moved")
    assert load(moved, "cpu").score([("abc", "ijk")])[0].nats == wanted
    (Path(moved) / "source_tokens" / "text.json").write_text("{}")
    with pytest.raises(UserError, match=r"source_tokens/text.json is damaged"):
        load(moved, "cpu")


def test_commands(cipher, call, tmp_path):
    run = str(cipher / "run")
    done = call("generate", run, "abc")
    assert done.code == 0 and done.out.strip() == load(run, "cpu").translate(["abc"])[0]
    (tmp_path / "sources.txt").write_text("abc\ndef\n")
    two = json.loads(call("generate", run, "sources.txt", "--beam", "2", "--json").out)
    assert [one["prompt"] for one in two] == ["abc", "def"] and two[0]["score"] < 0
    sampled = call("generate", run, "abc", "--temperature", "1", "--number", "3").out.splitlines()
    assert len(sampled) == 3 == len(load(run, "cpu").generate("abc", number=3, decoder=Sample()))
    measured = json.loads(call("eval", run, "--split", "test", "--json").out)
    assert measured["exact"] > 0.8 and measured["bleu"] >= 0 and "13a" in measured["signatures"]["bleu"]
    shown = call("eval", run, "--split", "test", "--beam", "1").out
    assert "exact match" in shown and "BLEU" in shown and "perplexity" in shown
    asked = json.loads(call("eval", run, "--split", "test", "--measure", "errors", "--measure", "rouge", "--json").out)
    assert {"errors", "rouge1", "rouge2", "rougeL"} < set(asked) and not {"exact", "bleu"} & set(asked)
    shown = call("eval", run, "--split", "test", "--measure", "errors", "--measure", "rouge").out
    assert f"error rate          {100 * asked['errors']:.2f} % of" in shown and "BLEU" not in shown
    assert f"ROUGE-1 / 2 / L     {asked['rouge1']:.2f} / {asked['rouge2']:.2f} / {asked['rougeL']:.2f}  (case:" in shown
    scored = call("score", run, "abc\tijk").out
    assert scored.endswith("\tabc\tijk\n")
    found = json.loads(call("look", run, "--pair", "abc", "ijk", "--json", "--out", "look.png").out)
    assert len(found["weights"]) == 4 and (tmp_path / "look.png").read_bytes().startswith(b"\x89PNG")
    assert len(call("look", run, "--pair", "abc", "--out", "look.svg").out.splitlines()) >= 1
    assert "<svg" in (tmp_path / "look.svg").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["generate"], "no source is given"),
        (
            ["generate", "abc", "--stop", "x"],
            "--stop with beam search, as sources get; it is for sampling: give a temperature",
        ),
        (
            ["generate", "abc", "--beam", "3", "--seed", "1"],
            "--seed with --beam 3; it is for sampling: leave out --beam and give a temperature",
        ),
        (["eval", "--rows", "3"], "--rows 3, but pairs are read one a row"),
        (["eval", "--encoding", "klingon"], "--encoding klingon without --data"),
        (["eval", "--limit", "-5"], "limit=-5"),
        (["eval", "--alpha", "1e308"], "alpha=1e+308"),
        (["score", "abc"], "is no pair"),
        (["correct", "abc"], "correcting needs P of a text; use a language model"),
        (["look"], "nothing to look at"),
        (["look", "--pair", ""], "no source is given"),
        (["look", "--pair", " "], "no source is given"),
        (["generate", "abc", "--ban", "i", "--require", "i"], "'i' is banned and required"),
        (["look", "--pair", "abc", "--out", "look.pdf"], "allowed: a name that ends with .svg or .png"),
        (["eval", "--data", "nothing.tsv"], "is no file"),
        (
            ["eval", "--measure", "blue"],
            "measures=['blue']; allowed: a list, each one of exact, errors, bleu, chrf, rouge",
        ),
    ],
)
def test_bad_commands(cipher, call, words, said):
    done = call(words[0], str(cipher / "run"), *words[1:])
    assert done.code == 2 and said in done.error and done.error.count("\n") == 1


def test_look_and_two_files_need_pairs(trained, call):
    assert "allowed: a run of task seq2seq" in call("look", str(trained), "--pair", "abc").error
    assert "allowed: once" in call("eval", str(trained), "--data", "a", "--data", "b").error


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["data.kind=text", "data.train=my.txt"],
            "task=seq2seq writes a target from a source, and data.kind=text; allowed: data.kind=pairs",
        ),
        (["train.batches=buckets"], "train.batches=buckets with data.kind=pairs; allowed: train.batches=pairs"),
        (["task=language-model"], "task=language-model reads one text, and data.kind=pairs; allowed: data.kind=text"),
        (
            ["encoder=transformer", "encoder.causal=false", "encoder.positions=learnt", "encoder.positions.longest=5"],
            "encoder.positions=learnt ends at 5, but train.batches=pairs goes to 256",
        ),
        (
            ["writer=transformer", "writer.positions=learnt", "writer.positions.longest=5"],
            "writer.positions=learnt ends at 5",
        ),
        (["writer.scorer=dot", "writer.size=7"], "multiplies a state of 7 with an annotation of 24"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(cipher, tmp_path, words, said):
    raw = recipe.read(cipher / "run" / "recipe.yaml")
    with pytest.raises(UserError, match=said):
        start.train(raw, words, out=tmp_path / "no", device="cpu", watch=Watch())
    assert not (tmp_path / "no").exists()


def test_sources_too_long_for_the_positions_name_their_line(cipher, tmp_path):
    raw = recipe.read(cipher / "run" / "recipe.yaml")
    words = ["encoder=transformer", "encoder.size=8", "encoder.heads=2", "encoder.layers=1", "encoder.causal=false"]
    words += ["encoder.positions=learnt", "encoder.positions.longest=5", "train.batches.longest=5", "train.steps=2"]
    with pytest.raises(UserError, match=r"data.valid: line \d+ has a source of 6 tokens, .* ends at 5"):
        start.train(raw, words, out=tmp_path / "no", device="cpu", watch=Watch())
    short = table(tmp_path / "short.tsv", [pair for pair in rows(40, 2) if len(pair[0]) < 5])
    words += [f"data.valid={short}", f"data.test={short}"]
    made: Any = start.train(raw, words, out=tmp_path / "yes", device="cpu", watch=Watch())
    with pytest.raises(
        UserError, match=r"source 1 has 6 tokens, <stop> among them; encoder.positions=learnt ends at 5: shorten it"
    ):
        made.translate(["abcde"])


def test_a_length_beyond_the_positions_is_told_once(cipher, tmp_path):
    raw = recipe.read(cipher / "run" / "recipe.yaml")
    words = ["writer=transformer", "writer.size=8", "writer.heads=2", "writer.layers=1", "writer.positions=learnt"]
    words += ["writer.positions.longest=7", "train.batches.longest=7", "train.steps=1"]
    made: Any = start.train(raw, words, out=tmp_path / "run", device="cpu", watch=Watch())
    sources = ["ab", "abcde" * 8]
    for write in (made.translate, made.generate):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            write(sources, length=7)
        said = "length=7, and writer.positions=learnt ends at 7, <stop> among them: at most 6 tokens are written"
        assert [str(one.message) for one in told].count(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made.translate("ab", length=6)
        made.translate("ab")


def test_a_source_is_written_from_by_its_own_length(cipher):
    """Company changes nothing, also where a model does not end by itself."""
    run = load(cipher / "run")
    with torch.no_grad():
        for name, parameter in run.model.named_parameters():
            if name.endswith("output.bias"):
                parameter[3] = -50.0  # <stop>
    short, long = "ab", "abcdefgh" * 5
    alone, beside = run.search(short)[0][0], run.search([short, long])[0][0]
    assert (alone.text, alone.found.score) == (beside.text, beside.found.score) and len(alone.text) == 3 * 16 + 50
    assert run.generate(short) == run.generate([long, short])[1:]
    sampled = run.generate([short, long, short], temperature=1.0, number=2)
    assert sampled[:2] == run.generate(short, temperature=1.0, number=2) and sampled[0] != sampled[4]


def test_a_text_by_itself_is_one_source(cipher):
    run = load(cipher / "run")
    assert run.translate("abc") == run.translate(["abc"])


def test_the_first_pairs_are_measured_and_written(cipher):
    run = load(cipher / "run")
    whole, first = run.judge(split="test", measures=["exact"]), run.judge(split="test", limit=3, measures=["exact"])
    assert first.overlap.texts == 3 and first.written == whole.written[:3]
    pairs = rows(20, 3)[:3]
    nats = sum(scored.nats for scored in run.score(pairs))
    assert first.measured.tokens == sum(len(target) + 1 for _, target in pairs)
    assert first.measured.loss * first.measured.tokens == pytest.approx(nats, rel=1e-5)
    assert run.evaluate(split="test", limit=3).loss == first.measured.loss


@pytest.mark.parametrize("letters", ["ij", "ab"], ids=["targets", "sources"])
def test_texts_that_have_changed_are_not_judged(cipher, tmp_path, letters):
    copied = tmp_path / "all"
    shutil.copytree(cipher, copied)
    (copied / "test.tsv").write_text((copied / "test.tsv").read_text().replace(*letters))
    config = json.loads((copied / "run" / "config.json").read_text())
    changed = json.loads(json.dumps(config).replace(str(cipher), str(copied)))
    (copied / "run" / "config.json").write_text(json.dumps(changed))
    recipe_file = copied / "run" / "recipe.yaml"
    recipe_file.write_text(recipe_file.read_text().replace(str(cipher), str(copied)))
    with pytest.raises(UserError, match="have changed since"):
        load(copied / "run").judge(split="test")


@pytest.mark.parametrize(
    "call",
    [
        lambda run: run.translate([3]), lambda run: run.translate(3), lambda run: run.score(None),
        lambda run: run.score([(1, 2)]), lambda run: run.score([("ab", "")]), lambda run: run.align(3),
        lambda run: run.align("ab", 3), lambda run: run.align("ab", " "), lambda run: run.generate(3),
        lambda run: run.generate("ab", seed=1.5), lambda run: run.generate("ab", number=10**9, temperature=1.0),
        lambda run: run.generate("ab", length=10**11), lambda run: run.judge(limit=0),
        lambda run: run.judge(limit=2.5), lambda run: run.evaluate(limit=-1), lambda run: run.search("ab", banned=None),
        lambda run: run.search("ab", search=Beam(alpha=1e308)),
    ],
)  # fmt: skip
def test_wrong_values_are_the_users_mistake(cipher, call):
    with pytest.raises(UserError):
        call(load(cipher / "run"))


def test_the_length_norm_does_not_hang_on_naming_the_width(cipher, call):
    run = str(cipher / "run")
    scores = {
        words: [one["score"] for one in json.loads(call("generate", run, "abc", "--number", "2", "--json", *words).out)]
        for words in ((), ("--beam", "5"), ("--alpha", "1"), ("--alpha", "0"), ("--beam", "5", "--alpha", "0"))
    }
    assert scores[()] == scores["--beam", "5"] == scores["--alpha", "1"] != scores["--alpha", "0"]
    assert scores["--alpha", "0"] == scores["--beam", "5", "--alpha", "0"]


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("p.tsv", "is a table by its name (.tsv)"),
        ("p.jsonl.gz", "is a table by its name (.jsonl)"),
        ("p.parquet", "holds no lines of text by its name (.parquet)"),
    ],
)
def test_a_table_is_no_file_of_sources(cipher, call, name, what):
    Path(name).write_text("abc\tijk\n")
    assert call.refused("generate", cipher / "run", name) == f"{name} {what}; give a file of sources, one a line"


@pytest.mark.parametrize("talk", ["play", "lines"])
def test_a_run_of_talk_is_measured_on_pairs_too(cipher, call, tmp_path, talk):
    raw, pairs = recipe.read(cipher / "run" / "recipe.yaml"), rows(40, 7)
    named = ("A:\n{}\n\nB:\n{}\n\n" if talk == "play" else "{}\n{}\n\n").format
    Path("talk.txt").write_text("".join(named(*pair) for pair in pairs))
    raw["data"] = {"kind": "pairs", "train": "talk.txt", "valid": "talk.txt", "read": {"format": talk}}
    start.train(raw, ["train.steps=1"], out=tmp_path / "run", device="cpu", watch=Watch())
    Path("one").write_text("ab\ncd\n")
    Path("two").write_text("ij\nklm\n")
    table(tmp_path / "both.tsv", [("ab", "ij"), ("cd", "klm")])
    files = [["one", "two"], ["both.tsv"]]
    if talk == "lines":
        Path("said.txt").write_text("ab\nij\n\ncd\nklm\n")
        files.append(["said.txt"])
    for given in files:
        words = [word for name in given for word in ("--data", name)]
        assert json.loads(call("eval", tmp_path / "run", *words, "--json").out)["tokens"] == 3 + 4


def test_remedies_of_eval_are_its_options(cipher, call):
    Path("one").write_text("ab\n")
    assert call.refused("eval", cipher / "run", "--data", "one") == (
        "one is one file of lines, and pairs need two sides; give two files, --data test.en --data test.de, or a "
        "table: TSV, CSV, JSON lines"
    )
    Path("folder").mkdir()
    said = call.refused("eval", cipher / "run", "--data", "folder")
    assert said.endswith("pairs want files: two, --data test.en --data test.de, or one table")


def test_lines_that_hold_no_source(cipher, call):
    run = str(cipher / "run")
    done = call("generate", run, "-", given=b"abc\n\ndef\n")
    assert done.code == 2 and "standard input line 2 is empty; give a source on every line" in done.error
    done = call("score", run, "-", given=b"abc\tijk\n\n")
    assert done.code == 2 and "standard input line 2: '' is no pair" in done.error


def test_a_header_read_as_a_pair_is_told_of(cipher, tmp_path, monkeypatch):
    said = noted(monkeypatch)
    for name, first in (("named.csv", "en,De\n"), ("plain.csv", "abc,ijk\n")):
        Path(name).write_text(first + "".join(f"{a},{b}\n" for a, b in rows(40, 5)), "utf-8")
        start.train(
            TINY | {"data": {"kind": "pairs", "train": name}},
            ["train.steps=1"],
            out=tmp_path / f"run-{name}",
            watch=Watch(),
        )
    told = [one for one in said if "is read as a pair" in one]
    assert len(told) == 1 and "first line of named.csv, 'en' and 'De'," in told[0]
    assert told[0].endswith("say so: data.columns=[en, De]")


def test_held_out_pairs_that_stand_in_train_are_told_of(cipher, tmp_path, monkeypatch):
    said = noted(monkeypatch)
    for name, pairs in (("copies.tsv", [("ab", "ij")] * 40), ("own.tsv", list(dict.fromkeys(rows(200, 6))))):
        data = {"kind": "pairs", "train": table(Path(name), pairs), "share": 0.1}
        start.train(TINY | {"data": data}, ["train.steps=1"], out=tmp_path / f"run-{name}", watch=Watch())
    told = [one for one in said if "stand in train too" in one]
    assert len(told) == 1
    number, total = told[0].split(" held-out")[0].removeprefix("warning: ").split(" of ")
    assert number == total and int(total) > 0


def test_answers_come_as_they_are_found(run, monkeypatch):
    """In rounds, in their order, the same as all at once."""
    from foresay import translate

    sources, seen = [one for one, _ in rows(23, 7)], []
    expected = run.translate(sources)
    monkeypatch.setattr(translate, "ROUND", 5)
    found = run.search(sources, search=Beam(alpha=1.0), on_found=lambda best: seen.append(best[0].text))
    assert seen == [best[0].text for best in found] == expected


def test_what_has_not_ended_is_shown_without_an_end(run, monkeypatch):
    from foresay import translate

    monkeypatch.setattr(translate, "LOOKED", 2)
    with pytest.warns(UserWarning, match="has not ended after 2 tokens, and is shown up to there"):
        found = run.align("abcde")
    assert found.target == ["i", "j"] and len(found.weights) == 2


def test_a_beam_of_none_is_greedy(cipher, call, run):
    greedy = run.generate("abcd")[0]
    found = json.loads(call("generate", cipher / "run", "abcd", "--beam", 0, "--json").out)
    assert found == [{"prompt": "abcd", "text": greedy}]


def test_fewer_than_asked_for_are_told_of(cipher, call):
    called = call("generate", cipher / "run", "abcd", "--beam", 1, "--number", 3, "--length", 2)
    assert "--number 3: for 1 of 1 fewer were found; a wider --beam finds more" in called.error
    assert all(len(line.split("\t")) == 2 for line in called.out.splitlines())


def test_a_run_that_writes_from_sources_neither_fuses_nor_rescores(cipher, call):
    folder = cipher / "run"
    assert call.refused("generate", folder, "abc", "--fuse", f"{folder}=0.3").endswith(
        "writes from a source, and nothing can be fused with it; use a language model"
    )
    Path("n-best.tsv").write_text("1\t0.5\tabc\n")
    assert "rescoring needs P of a text; use a language model" in call.refused("rescore", folder, "n-best.tsv")


def test_scores_of_pairs_name_both_sides(cipher, call):
    pair = json.loads(call("score", cipher / "run", "ab\tij", "--json").out)
    assert (pair["source"], pair["text"]) == ("ab", "ij")
    Path("empty").write_text("")
    assert call.refused("score", cipher / "run", "empty") == (
        "empty has no line; give a text, a file of lines, or - for a pipe"
    )
    assert "is no pair" in call.refused("score", cipher / "run", "ab\tij\tkl")


def test_targets_too_long_for_the_positions(cipher, tmp_path):
    data = {"kind": "pairs", "train": str(cipher / "train.tsv"), "valid": str(cipher / "valid.tsv")}
    writer = {"kind": "transformer", "size": 16, "layers": 1, "heads": 2, "positions": {"kind": "learnt", "longest": 7}}
    words = ["train.steps=1", "train.batches.longest=7"]
    found = start.train(TINY | {"data": data, "writer": writer}, words, out=tmp_path / "r", watch=Watch())
    assert isinstance(found, PairRun) and len(found.log_probs("ab", "ijklmn")[1]) == 7
    for ask in (found.log_probs, found.align):
        with pytest.raises(UserError, match=r"the target 'ijklmno' has 8 tokens, <stop> among them; .* ends at 7"):
            ask("ab", "ijklmno")
