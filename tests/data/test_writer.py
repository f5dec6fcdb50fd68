"""Writing shards: several processes give what one gives; a sample is spread."""

from foresay import parts
from foresay.data import writer as module
from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.text.words import Words
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
