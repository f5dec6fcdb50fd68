"""Writing shards: several processes give what one gives; a sample is spread."""

import gzip
import json
import signal

import pytest

from foresay import parts
from foresay.data import writer as module
from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.data.source import Reading
from foresay.text.words import Words
from tests.data.formats import shards
from tests.data.made import TEXT


def test_processes_give_the_same_shards(tmp_path, monkeypatch):
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    one = prepare(Corpus(str(file)), Words(), 1, cache=tmp_path / "one", block=100)
    monkeypatch.setattr(module, "_WORTH", 0)
    two = prepare(Corpus(str(file)), Words(), 1, cache=tmp_path / "two", block=100)
    for name in ("train", "valid"):
        for path in (one.folder / name).iterdir():
            assert path.read_bytes() == (two.folder / name / path.name).read_bytes()


def test_a_sample_is_spread_over_the_text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"{letter * 9}\n" for letter in "abcdefghij" for _ in range(10)))
    tokens = parts.make("tokens", {"kind": "subwords", "size": 400, "sample": 300})
    found = prepare(Corpus(str(path), share=0.0), tokens, 1, cache=tmp_path / "c", block=10)
    learnt = "".join(found.tokens.pieces(range(261, len(found.tokens))))
    assert set("abcdefghij") <= set(learnt)


class Killed(BaseException):
    """Takes the place of SIGKILL: nothing of ours catches it."""


def killed_at(stage, fraction):
    def tell(now, done):
        if now == stage and done >= fraction:
            raise Killed

    return tell


@pytest.mark.parametrize("processes", [False, True])
@pytest.mark.parametrize("drop", [False, True])
def test_killed_and_gone_on_with_gives_the_same_shards(tmp_path, monkeypatch, drop, processes):
    lines = [line for line in TEXT.split("\n") if line]
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(line) + "\n" for line in lines + lines[::3]).encode()))
    corpus = Corpus(str(path), read=Reading(duplicates="drop" if drop else "count"))
    call = {"block": 100, "shard": 128}
    whole = prepare(corpus, Words(), 1, cache=tmp_path / "whole", **call)
    monkeypatch.setattr(module, "KEEP_EVERY", -1.0)
    monkeypatch.setattr(module, "_WORTH", 0 if processes else 2**40)
    cache = tmp_path / "c"
    for stage, fraction in [("learn", 0.5), ("encode train", 0.4), ("encode train", 0.7), ("encode valid", 0.1)]:
        with pytest.raises(Killed):
            prepare(corpus, Words(), 1, cache=cache, on_progress=killed_at(stage, fraction), **call)
        (aside,) = cache.glob("*.part")
        assert (aside / "text.json").exists() == (stage != "learn")
    assert (aside / "train" / "meta.json").exists() and not (aside / "train" / "progress.json").exists()
    found = prepare(corpus, Words(), 1, cache=cache, **call)
    assert shards(found.folder) == shards(whole.folder)
    assert found.notes == whole.notes and found.train.meta.repeated > 5


def test_what_was_kept_is_not_encoded_again(tmp_path, monkeypatch):
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    monkeypatch.setattr(module, "KEEP_EVERY", -1.0)
    encoded = []
    original = Words.encode_many
    monkeypatch.setattr(Words, "encode_many", lambda self, texts: encoded.extend(texts) or original(self, texts))
    with pytest.raises(Killed):
        prepare(
            Corpus(str(file)), Words(), 1, cache=tmp_path / "c", block=100, on_progress=killed_at("encode train", 0.5)
        )
    first = len("".join(encoded))
    encoded.clear()
    prepare(Corpus(str(file)), Words(), 1, cache=tmp_path / "c", block=100)
    assert 0.4 * len(TEXT) < first < 0.6 * len(TEXT)
    assert len(TEXT) <= first + len("".join(encoded)) < len(TEXT) + 200


def test_killed_by_the_system(tmp_path, forks):
    file = tmp_path / "text.txt"
    file.write_text(TEXT)
    whole = prepare(Corpus(str(file)), Words(), 1, cache=tmp_path / "whole", block=100)
    for calls, code in ((7, -signal.SIGKILL), (11, -signal.SIGKILL), (10**6, 0)):
        hook = ("tests.data.processes", "prepare_and_die", str(file), str(tmp_path / "c"), calls)
        assert forks.run("foresay", hook=hook) == (code, "", "")
    (found,) = (path for path in (tmp_path / "c").iterdir() if path.name == whole.folder.name)
    assert shards(found) == shards(whole.folder)
