"""Runs on the hub, without a network: a cache laid out as the library's own, and every way that it can fail."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import foresay
from foresay import hub
from foresay.errors import UserError
from tests.commands import Commands

library = pytest.importorskip("huggingface_hub")
errors = pytest.importorskip("huggingface_hub.errors")
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own, and no network."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "cache"


def kept(cache: Path, name: str, folder: Path) -> Path:
    """A repository in the cache as the library keeps it: blobs, and a snapshot of links to them."""
    place = cache / f"models--{name.replace('/', '--')}"
    snapshot = place / "snapshots" / COMMIT
    for path in (snapshot, place / "blobs", place / "refs"):
        path.mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT)
    for number, file in enumerate(one for one in sorted(folder.rglob("*")) if one.is_file()):
        inner = file.relative_to(folder)
        if inner.parts[0] == "checkpoints":
            continue
        shutil.copy(file, place / "blobs" / str(number))
        (snapshot / inner).parent.mkdir(exist_ok=True)
        (snapshot / inner).symlink_to(os.path.relpath(place / "blobs" / str(number), (snapshot / inner).parent))
    return snapshot


def test_a_run_of_the_cache_is_loaded_by_its_name(cache: Path, trained: Path, call: Commands):
    snapshot = kept(cache, "anna/lines", trained)
    run = foresay.load("hub:anna/lines")
    assert run.folder == snapshot
    due = foresay.load(trained).score("the cat")[0].nats
    for name in ("hub:anna/lines", f"hub:anna/lines@{COMMIT}", "hub:anna/lines@main"):
        assert foresay.load(name).score("the cat")[0].nats == due
    found = call("score", "hub:anna/lines", "-", "--json", given=b"the cat\n")
    assert found.code == 0 and json.loads(found.out)["nats"] == pytest.approx(due)


def test_without_its_word_a_name_is_of_this_disk(cache: Path, trained: Path):
    kept(cache, "anna/lines", trained)
    with pytest.raises(UserError, match="anna/lines is no run: no such folder"):
        foresay.load("anna/lines")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("hub:anna/lines", True), ("hub:lines", True), ("anna/lines", False), ("runs/lines", False), ("hub", False)],
)
def test_names(name: str, expected: bool):
    assert hub.is_name(name) is hub.is_name(Path(name)) is expected


def test_last_part():
    assert hub.last_part("hub:anna/lines@main") == hub.last_part("hub:anna/lines") == "lines"


def test_not_in_the_cache_and_no_network(cache: Path, call: Commands):
    said = call.refused("eval", "hub:anna/other")
    assert said == "hub:anna/other cannot be reached, and the cache has it not: check the name and the network"
    assert call.refused("eval", "hub:other").startswith("hub:other names no run of the hub; allowed: hub:OWNER/NAME")


def test_a_repository_of_others_is_refused(cache: Path, tmp_path: Path, call: Commands):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "config.json").write_text('{"model_type": "gpt2"}')
    kept(cache, "bob/gpt", tmp_path / "other")
    assert call.refused("eval", "hub:bob/gpt").startswith("hub:bob/gpt is no run of Foresay; allowed: ")
    (tmp_path / "other" / "config.json").write_text("no json")
    kept(cache, "bob/bad", tmp_path / "other")
    assert call.refused("eval", "hub:bob/bad").startswith("hub:bob/bad is no run of Foresay")


@pytest.mark.parametrize(
    ("error", "says"),
    [
        ("GatedRepoError", "asks who you are: request access on its page"),
        ("RepositoryNotFoundError", "is not there, or is private: check the name"),
        ("RevisionNotFoundError", "has no such revision"),
        ("EntryNotFoundError", "is no run of Foresay, for it has no config.json"),
        ("LocalEntryNotFoundError", "cannot be reached, and the cache has it not"),
        (None, r"cannot be had \(no route\): check the name and the network"),
    ],
)
def test_every_failure_is_one_line(error, says, monkeypatch):
    kind = OSError if error is None else getattr(errors, error)
    raised = kind.__new__(kind)
    Exception.__init__(raised, "no route\nto the host.")
    if error is None:
        raised = OSError("no route\nto the host.")

    def fail(**_):
        raise raised

    monkeypatch.setattr(library, "hf_hub_download", fail)
    with pytest.raises(UserError, match=f"^hub:anna/lines {says}"):
        hub.local("hub:anna/lines")


def test_nothing_of_others_is_fetched_and_no_checkpoints_of_ours(tmp_path, monkeypatch):
    asked = []
    (tmp_path / "config.json").write_text('{"model_type": "foresay"}')
    monkeypatch.setattr(
        library, "hf_hub_download", lambda **given: asked.append(given) or str(tmp_path / "config.json")
    )
    monkeypatch.setattr(library, "snapshot_download", lambda **given: asked.append(given) or str(tmp_path))
    assert hub.local("hub:anna/lines@v2") == tmp_path
    assert asked == [
        {"filename": "config.json", "repo_id": "anna/lines", "revision": "v2"},
        {"ignore_patterns": ["checkpoints/*", "tensorboard/*"], "repo_id": "anna/lines", "revision": "v2"},
    ]


def test_the_library_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "huggingface_hub", None)
    with pytest.raises(UserError, match=r"hub:anna/lines, which is a run on the hub.*pip install 'foresay\[hub\]'"):
        hub.local("hub:anna/lines")


CELL = '''from foresay import Cell


class Leaky(Cell):
    """h' = h + sigmoid(leak) (tanh(new) - h)"""

    gates = ("leak", "new")

    def step(self, leak, new, h):
        return {"h": h + leak.sigmoid() * (new.tanh() - h)}
'''


def test_code_of_a_run_asks_for_trust(cache: Path, tmp_path: Path, tiny: dict, call: Commands):
    (tmp_path / "leaky.py").write_text(CELL)
    encoder = {"kind": "recurrent", "cell": f"{tmp_path}/leaky.py:Leaky", "size": 8}
    run = foresay.train(tiny | {"encoder": encoder}, ["train.steps=2"], out=tmp_path / "own")
    kept(cache, "anna/own", run.folder)
    assert "--trust" in call.refused("eval", "hub:anna/own")
    assert call("eval", "hub:anna/own", "--trust").code == 0
