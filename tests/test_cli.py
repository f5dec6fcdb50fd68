"""Every command: what it prints is what Python gives; its exit code says how it went."""

from __future__ import annotations

import errno
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from foresay import __version__, cli, start
from foresay import recipe as recipes
from foresay.errors import UserError
from foresay.loading import load
from foresay.run import Run
from foresay.train.loop import Interrupted
from tests.commands import Commands
from tests.forks import Forks

COMMANDS = ("train", "rate", "watch", "eval", "score", "generate", "compare", "prepare", "vocabulary", "claims")
COMMANDS += ("list", "demo")


@pytest.fixture(scope="module")
def run(trained: Path) -> Run:
    return load(trained, "cpu")


@pytest.fixture
def recipe(tiny: dict, tmp_path: Path) -> Path:
    path = tmp_path / "small.yaml"
    path.write_text(yaml.safe_dump(tiny), "utf-8")
    return path


def test_train_makes_a_run_and_says_where(call: Commands, recipe: Path) -> None:
    called = call("train", recipe, "train.steps=2", "seed=7", "--device", "cpu")
    assert called.code == 0 and called.out == ""
    assert called.error.splitlines()[-1] == (
        "runs/small: done; see runs/small/README.md, or: foresay generate runs/small"
    )
    saved = recipes.read("runs/small/recipe.yaml")
    assert saved["train"]["steps"] == 2 and saved["seed"] == 7
    assert call("train", recipe, "train.steps=1").error.splitlines()[-1].startswith("runs/small-2: done")


def test_train_resumes_with_settings_alone(call: Commands, recipe: Path) -> None:
    assert call("train", recipe, "train.steps=2", "--out", "r").code == 0
    assert "r is finished; nothing to resume" in call("train", "train.steps=2", "--resume", "--out", "r").error
    assert "train.steps=3, but the run in r has 2" in call.refused("train", "train.steps=3", "--resume", "--out", "r")


def test_train_passes_the_minutes_on(call: Commands, monkeypatch: pytest.MonkeyPatch, trained: Path) -> None:
    given: dict = {}
    monkeypatch.setattr(
        start, "train", lambda source, words, **rest: (given.update(rest, words=words), load(trained))[1]
    )
    assert call("train", "my.txt", "a=1", "b=2", "--minutes", "2.5", "--out", "x", "--device", "cpu").code == 0
    assert given == {
        "words": ["a=1", "b=2"],
        "out": Path("x"),
        "resume": False,
        "minutes": 2.5,
        "device": "cpu",
        "trust": False,
    }


def test_eval_prints_what_evaluate_gives(call: Commands, run: Run, trained: Path, corpus: Path) -> None:
    measured = run.evaluate()
    called = call("eval", trained)
    assert called.code == 0 and f"loss                {measured.loss:.4f} nats per token" in called.out
    assert f"perplexity          {measured.perplexity:.3f}  (95 % interval" in called.out
    assert f"bits per byte       {measured.bits_per_byte:.4f}" in called.out
    assert json.loads(call("eval", trained, "--json").out) == measured.as_dict()
    on_all = run.evaluate(str(corpus))
    assert json.loads(call("eval", trained, "--json", "--data", corpus).out) == on_all.as_dict()
    assert "the run has no test text" in call.refused("eval", trained, "--split", "test")


def test_score_takes_texts(call: Commands, run: Run, trained: Path) -> None:
    called = call("score", trained, "the cat", "a dog sees it.")
    expected = [f"{s.nats:.4f}\t{s.text}" for s in run.score(["the cat", "a dog sees it."])]
    assert called.code == 0 and called.out.splitlines() == expected and called.error == ""


def test_score_takes_files_and_pipes_line_by_line(call: Commands, run: Run, trained: Path, tmp_path: Path) -> None:
    expected = [f"{s.nats:.4f}\t{s.text}" for s in run.score(["the cat", "", "a dog"])]
    path = tmp_path / "lines"
    for content in (b"the cat\n\na dog\n", b"\xef\xbb\xbfthe cat\r\n\r\na dog"):  # as Windows writes it
        path.write_bytes(content)
        assert call("score", trained, path).out.splitlines() == expected
    assert call("score", trained, "-", given=b"the cat\n\na dog\n").out.splitlines() == expected
    assert call("score", trained, "-", given=b"").out == ""


def test_score_shows_tokens(call: Commands, run: Run, trained: Path) -> None:
    lines = call("score", trained, "a\tcat", "--tokens").out.splitlines()
    scored = run.score("a\tcat")[0]
    assert lines[0] == f"{scored.nats:.4f}\ta⇥cat"
    assert [line.split() for line in lines[1:]] == [
        [f"{-p:.4f}", *([name] if name.strip() else [])]
        for p, name in zip(scored.log_probs, ["a", "<unk>", "c", "a", "t"], strict=True)
    ]


def test_score_as_json_is_one_object_a_line(call: Commands, run: Run, trained: Path) -> None:
    lines = call("score", trained, "the cat", "猫", "--json").out.splitlines()
    assert [json.loads(line) for line in lines] == [s.as_dict() for s in run.score(["the cat", "猫"])]
    assert "猫" in lines[1]


def test_a_text_too_long_for_a_file_name_is_a_text(call: Commands, trained: Path) -> None:
    text = "the cat sees a dog. " * 300
    assert call("score", trained, text).out.endswith(f"\t{text}\n")


@pytest.mark.parametrize(
    "name",
    ["nothing.txt", "./nothing", "../nothing", "/no/thing", "~/nothing", "notes.md", "a.TSV", "a.jsonl", "a.txt.gz"],
)
def test_score_refuses_a_file_that_is_not_there(name: str, call: Commands, trained: Path) -> None:
    assert call.refused("score", trained, name).startswith(f"{name} is no file; give a file of lines, - for a pipe")


@pytest.mark.parametrize("text", ["cat/dog", "a/b", "他/她是一名医生", "/ she said", "~5 cats", "and/or the cat."])
def test_a_text_with_a_slash_is_a_text(text: str, call: Commands, trained: Path) -> None:
    assert call("score", trained, text).out.endswith(f"\t{text}\n")


def test_what_is_no_utf8_is_refused_after_the_lines_before_it(call: Commands, trained: Path, tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"caf\xe9\n")
    assert "latin line 1 is not UTF-8: byte 0xE9; say its encoding" in call.refused(
        "score", trained, tmp_path / "latin"
    )
    assert "standard input line 1 is not UTF-8" in call.refused("generate", trained, "-", given=b"caf\xe9\n")
    called = call("score", trained, "-", given=b"the cat\n" * 99 + b"caf\xe9\n")
    assert called.code == 2 and called.error.count("\n") == 1
    assert "standard input line 100 is not UTF-8: byte 0xE9" in called.error and called.out.count("\n") == 99


def test_a_line_is_answered_before_the_next_is_sent(forks: Forks, run: Run, trained: Path) -> None:
    process = forks.start(["foresay", "score", trained, "-"])
    for text in ("the cat", "a dog"):
        process.stdin.write(f"{text}\n".encode())
        assert process.line() == f"{run.score(text)[0].nats:.4f}\t{text}\n"
    assert process.finish() == (0, "", "")


def test_generate_is_what_python_writes(call: Commands, run: Run, trained: Path) -> None:
    called = call("generate", trained, "the ", "--length", 20, "--number", 2, "--seed", 3)
    assert called.code == 0
    assert called.out == "\n---\n".join(run.generate("the ", length=20, number=2, seed=3)) + "\n"
    assert call("generate", trained).out == run.generate()[0] + "\n"
    assert (
        call("generate", trained, "-", "--length", 9, given=b"a dog\n").out == run.generate("a dog", length=9)[0] + "\n"
    )


@pytest.mark.parametrize(
    "greedy", [["--temperature", "0"], ["--top-k", "1"], ["--top-p", "1e-9"], ["--min-p", "0.9999"]]
)
def test_each_filter_reaches_the_decoder(greedy: list[str], call: Commands, run: Run, trained: Path) -> None:
    expected = run.generate("the ", length=15, temperature=0)[0] + "\n"
    assert call("generate", trained, "the ", "--length", 15, *greedy).out == expected
    assert call("generate", trained, "the ", "--length", 15, "--temperature", "3").out != expected


def test_repetition_makes_what_was_written_rarer(call: Commands, trained: Path) -> None:
    plain = call("generate", trained, "a", "--length", 30, "--top-k", "1", "--repetition", "1").out
    rarer = call("generate", trained, "a", "--length", 30, "--top-k", "1", "--repetition", "9").out
    assert len(set(rarer)) > len(set(plain))


def test_generate_as_json(call: Commands, run: Run, trained: Path) -> None:
    found = json.loads(call("generate", trained, "a ", "--number", 2, "--length", 8, "--json").out)
    assert found == [{"prompt": "a ", "text": text} for text in run.generate("a ", number=2, length=8)]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--temperature", "-1"], "--temperature -1.0; allowed: 0 (greedy) or more"),
        (["--length", "0"], "length=0"),
        (["--top-k", "-3"], "top_k=-3; allowed: an integer >= 0"),
        (["--min-p", "2"], "min_p=2.0; allowed: a number >= 0 and < 1"),
        (["--length", "ten"], "'--length'"),
        (["--colour", "red"], "No such option"),
    ],
)
def test_generate_refuses_what_cannot_be(words: list[str], message: str, call: Commands, trained: Path) -> None:
    assert message in call.refused("generate", trained, "a", *words)


def test_compare_trains_each_on_the_same_text(call: Commands, recipe: Path, tiny: dict, corpus: Path) -> None:
    other = recipe.with_name("wider.yaml")
    other.write_text(yaml.safe_dump(tiny | {"encoder": {"kind": "recurrent", "size": 40}}), "utf-8")
    called = call("compare", recipe, other, "train.steps=6", "--json", "--out", "both", "--device", "cpu")
    rows = json.loads(called.out)
    assert called.code == 0 and {row["model"] for row in rows} == {"small", "wider"}
    assert rows[0]["bits_per_byte"] <= rows[1]["bits_per_byte"]
    for row in rows:
        valid = json.loads(Path("both", row["model"], "results.json").read_text())["valid"]
        assert (
            row["bits_per_byte"] == valid["bits_per_byte"]
            and row["perplexity_interval"] == valid["perplexity_interval"]
        )
    assert Path("both/compare.png").exists()
    table = call("compare", recipe, "train.steps=2", "--data", corpus, "--out", "one").out
    assert re.search(r"^model +parameters +seconds", table) and "small" in table


def test_list_says_what_there_is(call: Commands) -> None:
    parts = json.loads(call("list", "parts", "--json").out)
    lstm = next(part for part in parts if (part["kind"], part["name"]) == ("encoder", "recurrent"))
    assert {"size", "layers", "cell"} <= {setting["name"] for setting in lstm["settings"]}
    text = call("list", "parts").out
    assert all(f"  {part['name']}: {part['about']}" in text for part in parts)
    assert {entry["name"] for entry in json.loads(call("list", "recipes", "--json").out)} == set(recipes.built_in())
    assert "builtin:python-reference" in call("list", "data").out
    assert call.refused("list", "models") == "'models' cannot be listed; allowed: parts, recipes, data"


def test_version_and_help(call: Commands) -> None:
    assert call("--version").out == f"foresay {__version__}\n"
    whole = call("--help")
    assert whole.code == 0 and all(f"\n  {name} " in whole.out for name in COMMANDS)
    for name in COMMANDS:
        called = call(name, "--help")
        assert called.code == 0 and called.out.startswith(f"Usage: foresay {name}")
    assert "Usage: foresay" in call().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["trian"], "No such command 'trian'. Did you mean 'train'?; see foresay --help"),
        (["score"], "Missing argument 'RUN'; see foresay score --help"),
        (["generate", "r", "--beem", "3"], "; see foresay generate --help"),
        (["words", "r", "near"], "Missing argument 'WORD...'; see foresay words RUN near --help"),
        (["train", "--minutes", "soon"], "'--minutes'"),
        (["eval", "none"], "none is no run: no such folder; train one first"),
        (["eval", "none", "--device", "abacus"], "none is no run"),
    ],
)
def test_mistakes_in_words(words: list[str], message: str, call: Commands) -> None:
    assert message in call.refused(*words)


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (UserError("given\nallowed"), 2, "foresay: given allowed"),
        (KeyboardInterrupt(), 130, "foresay: stopped"),
        (
            Interrupted(15, 7, Path("r")),
            143,
            "stopped by SIGTERM at step 7; saved: foresay train --resume r goes on",
        ),
        (OSError(errno.EACCES, "Permission denied", "f"), 2, "foresay: f: Permission denied; check the path"),
    ],
)
def test_how_errors_end(error: BaseException, code: int, line: str, call: Commands, monkeypatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(cli.using, "load_run", fail)
    called = call("eval", "x")
    assert called.code == code and called.error.startswith(line) and called.error.count("\n") == 1


def test_a_fault_of_ours_is_not_hidden(call: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli.using, "load_run", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        call("eval", "x")


def test_a_reader_that_goes_is_no_fault(forks: Forks) -> None:
    process = forks.start(["foresay", "list", "parts"])
    process.stdout.close()
    process.stdin.close()
    error = process.stderr.read()
    assert (process.wait(), error) == (0, b"")


def test_help_needs_no_torch() -> None:
    script = "import sys; from foresay import cli\ntry: cli.main()\nfinally: print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script, "--help"], capture_output=True, text=True, check=True)
    assert "Usage: foresay" in done.stdout and " torch" not in done.stdout and " numpy" not in done.stdout


def test_python_dash_m(trained: Path) -> None:
    done = subprocess.run([sys.executable, "-m", "foresay", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"foresay {__version__}\n"
    assert shutil.which("foresay", path=str(Path(sys.executable).parent))
