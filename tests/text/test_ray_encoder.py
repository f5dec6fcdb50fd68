"""Encoding on a Ray cluster: in order, the same ids; with a Ray made of this process, and with Ray where it is."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.data.tags import Tags
from foresay.errors import UserError
from foresay.text.ray_encoder import Encoding, RayEncoders
from foresay.text.subwords import Subwords

LINES = [f"the {n % 7} cats see {n % 5} dogs\n" for n in range(400)]


class Here(ModuleType):
    """What is used of Ray, in this process: calls happen when they are asked for, last ones first where they can."""

    exceptions = SimpleNamespace(RayActorError=RuntimeError)

    def __init__(self, cpus: int = 3) -> None:
        super().__init__("ray")
        self.cpus, self.up, self.made = cpus, False, 0

    def is_initialized(self) -> bool:
        return self.up

    def init(self, **_: Any) -> None:
        self.up = True

    def shutdown(self) -> None:
        self.up = False

    def put(self, value: Any) -> Any:
        return value

    def get(self, call: Any) -> Any:
        return call()

    def kill(self, actor: Any) -> None:
        self.made -= 1

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.cpus)}

    def remote(self, **_: Any) -> Any:
        def actor_of(kind: type) -> Any:
            def make(*given: Any) -> Any:
                self.made += 1
                own = kind(*given)
                return SimpleNamespace(encode=SimpleNamespace(remote=lambda texts: lambda: own.encode(texts)))

            return SimpleNamespace(remote=make)

        return actor_of


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    made = Here()
    monkeypatch.setitem(sys.modules, "ray", made)
    return made


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def both(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(LINES), "utf-8")
    corpus = Corpus(str(tmp_path / "a.txt"), unit="line", share=0.1)
    found = [
        prepare(corpus, Subwords(size=300), 1, cache=tmp_path / name, block=512, ray=name == "ray").folder
        for name in ("alone", "ray")
    ]
    assert found[0].name == found[1].name and contents(found[0]) == contents(found[1])


def test_a_prepared_text_is_the_same_to_the_byte(here: Here, tmp_path: Path) -> None:
    both(tmp_path)
    assert not here.up and here.made == 0  # what was started is ended


def test_ids_come_in_the_order_of_the_texts(here: Here, tmp_path: Path) -> None:
    tokens = Subwords(size=300)
    tokens.learn(LINES)
    tokens.save(tmp_path)
    batches = [LINES[at : at + 9] for at in range(0, 400, 9)]
    here.up = True
    with RayEncoders(tmp_path) as encoders:
        assert here.made == 3
        found = list(encoders.encode(iter(batches)))
    assert here.up and here.made == 0  # a cluster that was there stays
    for ids, texts in zip(found, batches, strict=True):
        assert all(map(np.array_equal, ids, tokens.encode_many(texts)))


def test_an_actor_reads_the_tokeniser_from_its_files(tmp_path: Path) -> None:
    tokens = Subwords(size=300)
    tokens.learn(LINES)
    tokens.save(tmp_path)
    actor = Encoding({name: (tmp_path / name).read_bytes() for name in ("tokenizer.json", "text.json")})
    assert all(map(np.array_equal, actor.encode(LINES), tokens.encode_many(LINES)))


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(UserError, match="ray encodes plain text"):
        prepare(Tags("a.tsv"), Subwords(size=300), 1, ray=True)


def test_without_the_library_one_line_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"pip install 'foresay\[ray\]'"):
        RayEncoders(tmp_path)


@pytest.mark.slow
def test_a_real_cluster_writes_the_same(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    both(tmp_path)
