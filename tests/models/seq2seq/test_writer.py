"""One vector of a source: the last state of both ways, the last real step, or the mean of what sees all."""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from foresay.errors import UserError
from foresay.models.seq2seq.writer import Writer, summarise

MASK = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])


def read(encoder: dict) -> tuple:
    torch.manual_seed(1)
    made = parts.make("encoder", encoder)
    made.build(4)
    made.eval()
    y, state = made(torch.randn(3, 3, 4), MASK)
    return y, summarise(made, y, state, MASK)


def test_both_ways_end_at_the_last_and_at_the_first():
    y, found = read({"kind": "recurrent", "cell": "elman", "size": 6, "bidirectional": True, "layers": 2})
    for row, last in ((0, 2), (1, 0)):
        torch.testing.assert_close(found[row], torch.cat([y[row, last, :3], y[row, 0, 3:]]))


def test_one_way_ends_at_the_last_real_step():
    y, found = read({"kind": "recurrent", "cell": "elman", "size": 6})
    torch.testing.assert_close(found, torch.stack([y[0, 2], y[1, 0], torch.zeros(6)]))


def test_what_sees_all_is_meant():
    y, found = read({"kind": "transformer", "size": 6, "heads": 2, "layers": 1, "causal": False})
    torch.testing.assert_close(found, torch.stack([y[0].mean(0), y[1, 0], torch.zeros(6)]))


def test_a_writer_that_looks_at_no_place_says_so():
    writer = parts.make("writer", {"kind": "recurrent", "form": "last", "size": 6})
    assert isinstance(writer, Writer)
    with pytest.raises(UserError, match="writer recurrent looks at no single place of the source; allowed: form=att"):
        Writer.looks(writer, torch.zeros(1, 1, 4), {})
