"""The claim `layers`: its rule, its sentences, probes on a model that is known, the treebank, and a small run."""

from __future__ import annotations

import functools
import itertools
import random

import pytest
import torch

from foresay.study.claims import layers, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.layers import Probed, Size, below, best, judge, probed
from foresay.study.claims.layers_text import CHUNKS, CLOSED, OPEN, POS, TOPICS, WORDS, Tagged, made, treebank
from foresay.study.probe import fit
from foresay.text.tokens import SPECIALS, UNK
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.5, 1.5, "holds"),
        (1, 1, "holds"),
        (-0.5, 1.5, "not decided at this size"),
        (0, 0, "does not hold"),
        (-2, -1, "does not hold"),
    ],
)
def test_the_rule(low, high, verdict):
    assert judge(Figure("", (low + high) / 2, low, high)) == verdict


def test_the_best_layer():
    assert best([50.0, 90.0, 80.0]) == 1 and best([50.0, 90.0, 90.0]) == 1 and best([95.0, 90.0, 90.0]) == 0
    one = Probed(1, "made", True, {"part of speech": [50.0, 90.0, 80.0], "topic": [50.0, 60.0, 61.0]})
    assert below(one) == 1


def test_made_sentences_are_what_their_labels_say():
    chance, topics, own, opened, both = random.Random(1), set(), 0, 0, {}
    for _ in range(300):
        one = made(chance)
        words, tags = [WORDS[i] for i in one.ids], [POS[i] for i in one.labels["part of speech"]]
        chunks = [CHUNKS[i] for i in one.labels["chunk"]]
        (topic,) = {[*TOPICS][i] for i in one.labels["topic"]}
        topics.add(topic)
        for word, tag, chunk, before in zip(words, tags, chunks, ["O", *chunks], strict=False):
            assert word in (CLOSED[tag].split() if tag in CLOSED else [*itertools.chain(*OPEN[tag].values())])
            assert not chunk.startswith("I-") or before[2:] == chunk[2:]
            both.setdefault(word, set()).add(tag)
            if tag in OPEN:
                own, opened = own + (word in OPEN[tag][topic]), opened + 1
    assert topics == {*TOPICS} and own / opened == pytest.approx(0.925, abs=0.02)  # 0.9, and a quarter of the rest
    assert sum(len(tags) == 2 for tags in both.values()) == 24 and len(WORDS) == len(set(WORDS))


class Known(torch.nn.Module):
    """Vectors that say: nothing, the word, and the word with that of the next."""

    def read(self, batch):
        words = torch.nn.functional.one_hot(batch.ids, 4).float()
        return [torch.zeros_like(words), words, torch.cat([words, words.roll(-1, 1)], 2)]


def test_probes_by_layer():
    """`this` is the word, `next` the one after it, of random words: the layers tell neither, the first, and both."""
    chance, rows = random.Random(2), []
    for _ in range(200):
        ids = [chance.randrange(4) for _ in range(6)]
        rows.append(Tagged(ids, {"this": ids, "next": [*ids[1:], ids[0]]}))
    right = probed(Known(), rows, {"this": 4, "next": 4}, 1)  # pyright: ignore[reportArgumentType]
    assert right["this"][1:] == [100, 100] and right["next"][2] == 100
    assert right["this"][0] < 45 and max(right["next"][:2]) < 45


def test_the_treebank(tmp_path, monkeypatch):
    monkeypatch.delenv("FORESAY_DATA", raising=False)
    assert treebank(3) is None
    monkeypatch.setenv("FORESAY_DATA", str(tmp_path))
    (tmp_path / "ud-english-ewt").mkdir()
    for name in ("train", "dev", "test"):
        rows = "The\tDET\tDT\ncat\tNOUN\tNN\n\nthe\tDET\tDT\ndog\tNOUN\tNN\nsat\tVERB\tVBD\n\ncat\tNOUN\tNN\n"
        (tmp_path / "ud-english-ewt" / f"{name}.tsv").write_text(rows)
    found = treebank(2, longest=2)
    assert found is not None and found.words == len(SPECIALS) + 2 and found.tags == 3
    the, cat = len(SPECIALS), len(SPECIALS) + 1
    assert [one.ids for one in found.train] == [[the, cat], [the, UNK], [cat]]
    assert [one.labels["part of speech"] for one in found.test] == [[0, 1], [0, 1], [1]]


def test_a_whole_run(monkeypatch, tmp_path):
    small = Size(2, rows=4, looked=40, width=8, treebank=2)
    monkeypatch.setattr(layers, "FULL", small)
    monkeypatch.setattr(layers, "TREE", small)
    monkeypatch.setattr(layers, "fit", functools.partial(fit, iterations=3))
    test_the_treebank(tmp_path, monkeypatch)
    found = runner.run_claim("layers", out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 15 and len(found["figures"]) == 1 + 9 + 9 + 3 and not found["note"]
    assert (tmp_path / "layers.png").stat().st_size > 10_000
