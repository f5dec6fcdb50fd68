"""Classes of users' files: found by `FILE.py:Class`, run when named, kept in runs, trusted or not."""

from __future__ import annotations

import contextlib
import importlib
import json
import shutil
from pathlib import Path

import pytest
import torch

import foresay
from foresay import own, parts, recipe, start
from foresay.errors import UserError
from foresay.text.saved import open_tokens
from foresay.train import folder as folders
from foresay.train.progress import Watch

LEAKY = '''
from foresay import Cell

print("the file is run")

class Leaky(Cell):
    """One gate says how much leaks away."""

    gates = ("leak", "new")

    def __init__(self, *, slope: float = 1.0):
        super().__init__()
        self.slope = slope

    def step(self, leak, new, h):
        leak = (self.slope * leak).sigmoid()
        return {"h": h + leak * (new.tanh() - h), "leak": leak}

class Other:
    pass
'''
NAME = "mycells.py:Leaky"


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a new process: no file has been run yet."""
    monkeypatch.setattr(own, "_modules", {})
    monkeypatch.setattr(own, "_classes", {})


def forget() -> None:
    own._modules.clear()
    own._classes.clear()


@pytest.fixture
def mycells(tmp_path: Path) -> Path:
    path = tmp_path / "mycells.py"
    path.write_text(LEAKY)
    return path


def written(tmp_path: Path, text: str) -> str:
    (tmp_path / "mine.py").write_text(text)
    return "mine.py:Mine"


def refused(call, *args, **given) -> str:
    with pytest.raises(UserError) as caught:
        call(*args, **given)
    text = str(caught.value)
    assert "\n" not in text
    return text


def make(name: str, **settings):
    return parts.make("cell", {"kind": name, **settings}, "encoder.cell")


@pytest.mark.usefixtures("mycells")
def test_a_class_of_a_file_is_a_part():
    cell = make(NAME, slope=2.0)
    assert cell.slope == 2.0
    assert parts.describe(cell) == {"kind": NAME, "slope": 2.0}
    assert parts.describe(parts.anew(cell)) == parts.describe(cell)
    assert type(make(NAME)) is type(cell), "the same file is run once"
    assert NAME not in parts.names("cell")


@pytest.mark.usefixtures("mycells")
def test_its_settings_are_checked_as_any_parts():
    assert refused(make, NAME, slop=2.0) == (
        "encoder.cell.slop is no setting of cell mycells.py:Leaky; allowed: slope; did you mean 'slope'?"
    )
    assert refused(make, NAME, slope="2") == "encoder.cell.slope='2'; allowed: a number"


@pytest.mark.usefixtures("mycells")
def test_it_nests_in_recipes_and_on_the_command_line(tiny, capsys):
    raw, _ = recipe.override(tiny, ["encoder.cell=mycells.py:Leaky", "encoder.cell.slope=3", "encoder.layers=2"])
    assert capsys.readouterr().out == "", "nothing is run before the recipe is completed"
    made = recipe.complete(raw)
    assert capsys.readouterr().out == "the file is run\n"
    assert made.as_dict()["encoder"]["cell"] == {"kind": NAME, "slope": 3.0}
    assert recipe.complete(recipe.read(made.as_dict())).as_dict() == made.as_dict()
    stack = parts.make("encoder", {"kind": "stack", "layers": [{"kind": "recurrent", "size": 4, "cell": NAME}]})
    assert parts.describe(stack)["layers"][0]["cell"]["kind"] == NAME


def test_any_kind_of_part_may_be_ones_own(tmp_path):
    text = """
from foresay.encode.recurrent import Recurrent

class Mine(Recurrent):
    def __init__(self, *, size: int = 6):
        super().__init__(cell=parts_make(), size=size)

def parts_make():
    from foresay.parts import make
    return make("cell", "gru")
"""
    encoder = parts.make("encoder", {"kind": written(tmp_path, text), "size": 4})
    assert parts.describe(encoder) == {"kind": "mine.py:Mine", "size": 4}
    encoder.build(3)
    assert encoder(torch.zeros(2, 5, 3))[0].shape == (2, 5, 4)
    assert refused(make, "mine.py:Mine") == (
        "encoder.cell=mine.py:Mine: class Mine is no cell; it is a part of kind encoder"
    )


@pytest.mark.parametrize("way", ["raise SystemExit(3)", "import sys; sys.exit(3)", "exit(3)"])
def test_a_class_that_would_end_the_program_is_one_line(tmp_path, way):
    text = LEAKY.replace("super().__init__()", f"super().__init__(); {way}").replace("Leaky", "Mine")
    line = refused(make, written(tmp_path, text))
    assert line == "encoder.cell=mine.py:Mine fails as it is made: mine.py line 12: SystemExit: 3"


def test_a_signal_is_nobodys_mistake(tmp_path):
    text = LEAKY.replace("super().__init__()", "super().__init__(); raise SystemExit(143)").replace("Leaky", "Mine")
    with pytest.raises(SystemExit):
        make(written(tmp_path, text))
    with pytest.raises(SystemExit):
        make(written(tmp_path, "raise SystemExit(143)"))


def test_a_changed_file_is_run_again(mycells):
    assert make(NAME).settings == {"slope": 1.0}
    mycells.write_text(LEAKY.replace("slope: float = 1.0", "slope: float = 5.0"))
    assert make(NAME).settings == {"slope": 5.0}


def test_a_name_registered_in_the_file_is_not_kept(tmp_path):
    text = "from foresay.parts import part\n" + LEAKY.replace("class Leaky", '@part("cell", "leaky")\nclass Mine')
    for slope in ("1.0", "2.0"):
        cell = make(written(tmp_path, text.replace("= 1.0", f"= {slope}")))
        assert parts.describe(cell) == {"kind": "mine.py:Mine", "slope": float(slope)}
    assert "leaky" not in parts.names("cell") and "lstm" in parts.names("cell")


@pytest.mark.usefixtures("mycells")
def test_what_is_not_there():
    assert refused(make, "mycell.py:Leaky") == (
        "encoder.cell=mycell.py:Leaky: there is no file mycell.py; allowed: mycells.py; did you mean 'mycells.py'?"
    )
    for file in ("elsewhere/mycells.py", "elsewhere/../mycells.py"):
        assert refused(make, f"{file}:Leaky") == (
            f"encoder.cell={file}:Leaky: there is no file {file}: there is no folder elsewhere; "
            "allowed: mycells.py; did you mean 'mycells.py'?"
        )
    Path("empty").mkdir()
    assert refused(make, "empty/cell.py:Leaky") == (
        "encoder.cell=empty/cell.py:Leaky: there is no file empty/cell.py; "
        "allowed: mycells.py; did you mean 'mycells.py'?"
    )
    with contextlib.chdir("empty"):
        assert refused(make, "cell.py:Leaky") == (
            "encoder.cell=cell.py:Leaky: there is no file cell.py; "
            "no .py file lies here: write one, or give the path of yours"
        )
    assert refused(make, "mycells.py:Leak") == (
        "encoder.cell=mycells.py:Leak: mycells.py has no class Leak; allowed: Leaky, Other; did you mean 'Leaky'?"
    )
    assert refused(make, "mycells.py:Cell").endswith("mycells.py has no class Cell; allowed: Leaky, Other")
    assert refused(make, "mycells.py:Other") == (
        "encoder.cell=mycells.py:Other: class Other is no cell; derive it from foresay.Cell"
    )
    assert refused(make, "mycells.py").startswith("encoder.cell='mycells.py' is no cell; allowed: ")
    assert refused(make, "mycells.py").endswith("name the class too: mycells.py:CLASS")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1\nclass Mine(\n", "mine.py line 2: SyntaxError: '(' was never closed"),
        ("import foresay\n\nraise ValueError('no\\ngood')\n", "mine.py line 3: ValueError: no good"),
        ("def f():\n    return torhc\n\nf()\n", "mine.py line 2: NameError: name 'torhc' is not defined"),
        ("import sys\nsys.exit(3)\n", "mine.py line 2: SystemExit: 3"),
        ("\n\nimport beside\n", "mine.py line 3: ModuleNotFoundError: No module named 'beside'"),
        ("x = 1\n", "mine.py has no class Mine; it defines none"),
    ],
)
def test_a_file_that_fails_says_the_line(tmp_path, text, told):
    assert refused(make, written(tmp_path, text)) == f"encoder.cell=mine.py:Mine: {told}"


@pytest.mark.parametrize(
    ("constructor", "told"),
    [
        ("def __init__(self, **settings): super().__init__()", "Mine takes **settings; name each setting"),
        ("def __init__(self, *sizes): super().__init__()", "Mine takes *sizes; name each setting"),
        (
            "def __init__(self, slope: 'Slope' = 1): super().__init__()",
            "Mine: a setting is annotated with Slope, which its file does not know",
        ),
        (
            "def __init__(self, at: object() = 1): super().__init__()",
            "encoder.cell.at: <object object at",
        ),
        (
            "def __init__(self, slope: float = 1.0): self.slope = slope",
            "cell mine.py:Mine: its __init__ does not call super().__init__(); make that its first line",
        ),
        (
            "def __init__(self, slope=1.0):\n        super().__init__()\n        self.slope = slope / 0",
            "encoder.cell=mine.py:Mine fails as it is made: mine.py line 6: ZeroDivisionError: ",
        ),
    ],
)
def test_constructors_that_cannot_be_settings(tmp_path, constructor, told):
    text = f"from foresay import Cell\nclass Mine(Cell):\n    gates = ('a',)\n    {constructor}\n"
    assert refused(make, written(tmp_path, text)).startswith(told)


def test_an_error_of_the_constructor_says_the_line(tmp_path):
    text = "from foresay import Cell\nclass Mine(Cell):\n    def __init__(self):\n        self.slope = 1 / 0\n"
    assert refused(make, written(tmp_path, text)).endswith("made: mine.py line 4: ZeroDivisionError: division by zero")


# --- runs ---


def train(tiny: dict, out: Path, words: list[str], **given):
    return start.train(tiny, words, out=out, device="cpu", watch=Watch(), **given)


@pytest.fixture
def run(mycells: Path, tiny: dict, tmp_path: Path) -> Path:
    train(tiny, tmp_path / "run", [f"encoder.cell={NAME}", "train.steps=4"])
    mycells.unlink()
    return tmp_path / "run"


def test_a_run_keeps_the_file_and_its_hash(run):
    copy = run / "code" / "mycells.py"
    assert copy.read_text() == LEAKY
    config = json.loads((run / "config.json").read_text())
    assert config["sha256"]["code/mycells.py"] == folders.file_hash(copy)
    assert "kind: mycells.py:Leaky" in (run / "recipe.yaml").read_text()
    assert f'foresay.load("{run}", trust=True)' in (run / "README.md").read_text()
    assert f"foresay eval {run} --trust" in (run / "README.md").read_text()


def test_a_run_with_code_is_loaded_with_trust_alone(run, capsys):
    forget()
    asked = (
        f"{run} would run code that came with it: {run}/code/mycells.py (encoder.cell=mycells.py:Leaky); "
        "read it, then allow it: --trust (in Python trust=True)"
    )
    assert refused(foresay.load, run) == asked
    assert refused(start.train, resume=run) == asked
    assert capsys.readouterr().out == ""
    loaded = foresay.load(run, trust=True)
    assert capsys.readouterr().out == "the file is run\n"
    assert loaded.perplexity("the cat sees it") > 1


def test_a_run_is_moved_and_gives_the_same(run, tmp_path, monkeypatch):
    before = foresay.load(run, trust=True).score("the cat sees it")[0].nats
    (tmp_path / "far").mkdir()
    shutil.move(run, tmp_path / "far" / "away")
    monkeypatch.chdir(tmp_path / "far")
    forget()
    assert foresay.load("away", trust=True).score("the cat sees it")[0].nats == before


def test_a_changed_copy_is_refused(run):
    copy = run / "code" / "mycells.py"
    copy.write_text(LEAKY + "# more\n")
    text = refused(foresay.load, run, trust=True)
    assert text.startswith(f"{copy} is not the code of this run: its SHA-256 begins {folders.file_hash(copy)[:12]}, ")
    assert text.endswith("; put the file back, or train anew with it")
    copy.unlink()
    assert refused(foresay.load, run, trust=True).endswith(f"{copy} cannot be read: No such file or directory")


def test_a_run_names_no_file_outside_it(run, tmp_path):
    """A stranger's recipe cannot have a file run that lies about here."""
    (tmp_path / "evil.py").write_text("raise SystemExit('run!')")
    saved = run / "recipe.yaml"
    saved.write_text(saved.read_text().replace("mycells.py:Leaky", f"{tmp_path}/evil.py:Leaky"))
    assert refused(foresay.load, run, trust=True) == (
        f"encoder.cell={tmp_path}/evil.py:Leaky, but the run {run} has no code of that name; it has mycells.py; "
        "did you mean 'mycells.py'?"
    )


def test_resumed_with_the_runs_own_copy(mycells, tiny, tmp_path):
    words = [f"encoder.cell={NAME}", "train.steps=12", "train.save.every=4"]
    whole = train(tiny, tmp_path / "whole", words)
    half = tmp_path / "half"
    shutil.copytree(tmp_path / "whole", half)
    for path in ("model.safetensors", "results.json", "README.md", "checkpoints/best"):
        folders_remove(half / path)
    for path in sorted((half / "checkpoints").iterdir())[1:]:
        folders_remove(path)
    config = json.loads((half / "config.json").read_text())
    del config["sha256"]["model.safetensors"]
    (half / "config.json").write_text(json.dumps(config))
    mycells.write_text("raise ValueError('the run has its own')")
    assert folders.how_to_resume(half) == f"foresay train --resume {half} --trust"
    again = start.train(resume=half, trust=True, device="cpu", watch=Watch())
    for name, tensor in whole.model.tensors().items():
        assert torch.equal(again.model.tensors()[name], tensor), name


def folders_remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def test_what_is_asked_of_the_text_alone_needs_no_trust(run):
    from foresay.ready import ready

    assert len(ready(run).tokens) > 5


def test_a_run_that_fails_at_once_takes_its_code_away(mycells, tiny, tmp_path, monkeypatch):
    (tmp_path / "run").mkdir()

    def fail(*_):
        raise ValueError("no good")

    monkeypatch.setattr(recipe.Recipe, "as_yaml", fail)
    with pytest.raises(ValueError, match="no good"):
        train(tiny, tmp_path / "run", [f"encoder.cell={NAME}"])
    assert list((tmp_path / "run").iterdir()) == []


def test_a_folder_called_code_of_the_users_is_left_alone(tiny, tmp_path):
    (tmp_path / "run" / "code").mkdir(parents=True)
    (tmp_path / "run" / "code" / "mine.py").write_text("mine")
    (tmp_path / "run" / "config.json").write_text('{"sha256": {}}')
    text = refused(start.train, tiny, out=tmp_path / "run", resume=True)
    assert text.endswith("is no run but holds code; give another --out")
    assert (tmp_path / "run" / "code" / "mine.py").read_text() == "mine"


def test_two_files_of_one_name_are_refused(mycells, tiny, tmp_path):
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mycells.py").write_text(LEAKY + "#")
    layers = [{"kind": "recurrent", "size": 4, "cell": name} for name in (NAME, f"b/{NAME}")]
    text = refused(train, tiny | {"encoder": {"kind": "stack", "layers": layers}}, tmp_path / "run", [])
    assert text == "two files of this recipe are called mycells.py; give one another name"
    assert not (tmp_path / "run").exists()


def test_the_text_side_comes_from_no_file(run, tmp_path):
    """Prepared texts and tokenisers are opened without trust."""
    (tmp_path / "evil.py").write_text("raise SystemExit('run!')")
    text = refused(parts.make, "tokens", {"kind": "words", "stem": "evil.py:Stem"})
    assert text.startswith(
        "tokens.stem=evil.py:Stem: no stem can come from a file; allowed kinds: batches, smoothing, embedding"
    )
    about = json.loads((run / "text.json").read_text())
    about["tokens"] = {"kind": "words", "stem": "evil.py:Stem"}
    (run / "text.json").write_text(json.dumps(about))
    assert "no stem can come from a file" in refused(open_tokens, run)


# --- from Python ---


def imported(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(path.parent)
    monkeypatch.delitem(importlib.sys.modules, path.stem, raising=False)  # another test's file may be called so too
    module = importlib.import_module(path.stem)
    monkeypatch.setitem(importlib.sys.modules, path.stem, module)
    return module


def test_an_object_of_ones_own_class(mycells, tiny, tmp_path, monkeypatch):
    from foresay.encode.recurrent import Recurrent

    cell = imported(mycells, monkeypatch).Leaky(slope=0.5)
    assert cell.settings == {"slope": 0.5}
    encoder = Recurrent(cell=cell, size=6)
    assert parts.describe(encoder)["cell"] == {"kind": NAME, "slope": 0.5}
    trained = train(tiny | {"encoder": encoder}, tmp_path / "run", ["train.steps=2"])
    assert type(trained.model.encoder.forwards[0]) is type(cell), "the file is not run a second time"
    assert (tmp_path / "run" / "code" / "mycells.py").read_text() == LEAKY
    assert foresay.load(tmp_path / "run", trust=True).model.encoder.forwards[0].slope == 0.5


def test_a_subclass_of_a_built_in_part_is_ones_own(tmp_path, monkeypatch):
    (tmp_path / "slow.py").write_text("from foresay.encode.cells.lstm import LSTM\nclass Slow(LSTM):\n    pass\n")
    cell = imported(tmp_path / "slow.py", monkeypatch).Slow(forget_bias=2.0)
    assert parts.describe(cell) == {"kind": "slow.py:Slow", "forget_bias": 2.0}


def test_a_class_in_no_file_is_refused(tiny, tmp_path):
    from foresay.encode.recurrent import Recurrent

    scope: dict = {}
    exec(LEAKY, scope)
    text = refused(train, tiny | {"encoder": Recurrent(cell=scope["Leaky"]())}, tmp_path / "run", [])
    assert text == (
        "Leaky stands in no file of its own, so that a run could not be loaded again; "
        "put the class, by itself, in a .py file and import it from there"
    )


def test_a_file_that_trains_as_it_is_loaded(tmp_path):
    text = "import foresay\nclass Mine(foresay.Cell): ...\nforesay.train('my.txt')\n"
    assert refused(make, written(tmp_path, text)) == (
        "encoder.cell=mine.py:Mine: mine.py line 3: UserError: mine.py begins to train while it is loaded for its "
        'classes; put that under if __name__ == "__main__":'
    )


# --- the command line ---


@pytest.mark.parametrize(
    ("given", "made", "told"),
    [
        (
            '"h": h + leak * (new.tanh() - h)',
            '"h": leak[:, 1:]',
            "cell mycells.py:Leaky, stage step returns h of shape (B, 7); allowed: (B, 8)",
        ),
        (
            "    def step",
            "    def build(self, in_width, size):\n        super().build(in_width, size // self.none)\n\n    def step",
            "mycells.py:Leaky fails as the model is built: mycells.py line 16: AttributeError: 'Leaky' object has no "
            "attribute 'none'",
        ),
    ],
)
def test_a_wrong_cell_is_refused_before_the_text_is_read(call, mycells, tmp_path, given, made, told):
    mycells.write_text(LEAKY.replace(given, made).replace("print", "str"))
    (tmp_path / "empty.txt").write_text("a few words only, too few to be split and trained on\n" * 20)
    text = call.refused("train", "empty.txt", f"encoder.cell={NAME}", "encoder.size=8")
    assert text == told
    assert not (tmp_path / "runs").exists()


def test_commands_ask_for_trust(run, call):
    for words in (
        ["eval", run],
        ["score", run, "the cat"],
        ["generate", run, "--length", "3"],
        ["train", "--resume", run],
    ):
        assert "would run code that came with it" in call.refused(*words)
        assert call(*words, "--trust").code == 0


@pytest.mark.usefixtures("mycells")
def test_training_by_command(call, corpus):
    words = ["train", corpus, f"encoder.cell={NAME}", "encoder.size=8", "train.steps=2", "--out", "new"]
    called = call(*words)
    assert called.code == 0 and "or: foresay generate new --trust" in called.error
    assert call.refused("train", corpus, "encoder.cell=mycell.py:Leaky").startswith(
        "encoder.cell=mycell.py:Leaky: there is no file mycell.py"
    )
