"""Letters of the built-in text, windows of them, and models that learn them."""

from __future__ import annotations

import math

import pytest
import torch

from foresay.study.claims import small_text
from foresay.study.claims.small_text import Size, Text, build, held_out_loss, learn, text_of, width_for, windows
from foresay.study.recall import count
from foresay.text.tokens import SPECIALS, UNK


def test_a_tenth_is_held_out_and_nothing_is_in_both():
    text = text_of(1)
    assert 0.05 < len(text.held_out) / len(text.learnt) < 0.2 and text.vocabulary == len(SPECIALS) + 60
    assert int(text.learnt.max()) < text.vocabulary and int(text.learnt.min()) >= UNK
    learnt = " ".join(map(str, text.learnt.tolist()))
    piece = " ".join(map(str, text.held_out[2000:2120].tolist()))
    assert f" {piece} " not in learnt and not torch.equal(text.learnt[:500], text_of(2).learnt[:500])


def test_windows_are_shifted_by_one():
    batch = windows(torch.arange(100), 7, 12, torch.Generator().manual_seed(1))
    assert batch.ids.shape == (7, 12) and torch.equal(batch.ids + 1, batch.targets)


def test_what_is_certain_is_learnt():
    """Four letters in turn: 0 nats; before, those of guessing."""
    turns = torch.arange(4000) % 4 + 5
    text, size = Text(turns, turns, 9), Size(60, rows=8, length=8, asked=8, rate=1e-2)
    model = build({"cell": "elman", "size": 8}, 1, 9)
    assert held_out_loss(model, text, size) == pytest.approx(math.log(9), abs=0.5)
    assert learn(model, text, size, 1) < 0.2


def test_what_is_no_number_is_without_end():
    model = build({"cell": "elman", "size": 8}, 1, 9)
    with torch.no_grad():
        next(model.encoder.parameters()).fill_(math.nan)
    turns = torch.arange(400) % 4 + 5
    assert held_out_loss(model, Text(turns, turns, 9), Size(1, length=8)) == math.inf


def test_widths_for_a_number_of_parameters():
    for cell in ("elman", "lstm"):
        width = width_for({"cell": cell}, 6000, 65)
        missed = [abs(count(build({"cell": cell, "size": one}, 1, 65)) - 6000) for one in (width - 1, width, width + 1)]
        assert missed[1] == min(missed)


def test_the_same_seed_learns_the_same(monkeypatch):
    turns = torch.arange(400) % 7 + 5
    text, size = Text(turns, turns, 12), Size(3, rows=2, length=6, asked=4)
    one, other, third = (learn(build({"size": 4}, 1, 12), text, size, seed) for seed in (1, 1, 2))
    assert one == other != third
    assert small_text.build({"size": 4}, 1, 12).encoder.size == 4
