"""Processes that encode: the same ids, in order."""

import pytest

from foresay.text.encoder import Encoders
from foresay.text.words import Words


@pytest.fixture
def tokens(tmp_path):
    tokens = Words()
    tokens.learn(["the dog eats; the cat, too"])
    tokens.save(tmp_path)
    return tokens


def test_same_ids_in_order(tokens, tmp_path):
    batches = [[f"the {'dog ' * i}eats", "", "cat"] for i in range(20)]
    with Encoders(tmp_path, processes=2) as encoders:
        found = list(encoders.encode(batches))
    assert [[i.tolist() for i in ids] for ids in found] == [
        [i.tolist() for i in tokens.encode_many(batch)] for batch in batches
    ]


def test_a_process_that_dies_is_told_of(tokens, tmp_path):
    with Encoders(tmp_path, processes=1) as encoders:
        encoders.processes[0].kill()
        encoders.processes[0].wait()
        with pytest.raises(RuntimeError, match="ended early"):
            list(encoders.encode([["the dog"]]))
