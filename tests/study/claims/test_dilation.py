"""The claim `dilation`: its rule, its formula, what a gradient tells, and a whole run of the smallest size."""

from __future__ import annotations

import json

import pytest
import torch

from foresay.study.claims import dilation, runner
from foresay.study.claims.dilation import DOUBLED, PLAIN, Needed, Seen, Size, fewest, judge, layers_for
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("layers", "field", "holes", "verdict"),
    [
        (3, 8, 0, "holds"),
        (4, 8, 0, "does not hold"),  # a layer more than the formula's
        (2, 8, 0, "does not hold"),
        (3, 7, 0, "does not hold"),  # not what the encoder states
        (3, 8, 1, "does not hold"),
    ],
)
def test_the_rule(layers, field, holes, verdict):
    good, fine = Needed(PLAIN, 2, 4, 3, formula=3), Seen(PLAIN, 2, 3, 4, 0, stated=4)
    needed, seen = Needed(DOUBLED, 2, 8, layers, formula=3), Seen(DOUBLED, 2, 3, field, holes, stated=8)
    assert judge([good, needed], [fine, seen]) == verdict


@pytest.mark.parametrize(
    ("kernel", "steps", "plain", "doubled"),
    [
        (2, 2, 1, 1),
        (2, 8, 7, 3),  # 1 + 7 steps; 1 + 1 + 2 + 4
        (2, 9, 8, 4),
        (3, 7, 3, 2),  # 1 + 2 + 2 + 2; 1 + 2 + 4
        (3, 8, 4, 3),  # 1 + 4 * 2 = 9; 1 + 2 + 4 + 8 = 15
        (5, 2048, 512, 10),  # 2047 / 4; 1 + 4 * 1023 = 4093, and 1 + 4 * 511 = 2045 is not enough
    ],
)
def test_layers_by_the_formula(kernel, steps, plain, doubled):
    assert layers_for(PLAIN, kernel, steps) == plain and layers_for(DOUBLED, kernel, steps) == doubled


@pytest.mark.parametrize("guess", [1, 3, 9])
def test_the_fewest_layers_are_found_from_any_guess(guess):
    assert fewest(lambda layers: 2**layers, 8, guess) == 3


@pytest.mark.parametrize(
    ("dilations", "kernel", "field", "holes"),
    [
        ([1, 1, 1], 2, 4, 0),
        ([1, 2, 4], 2, 8, 0),
        ([1, 2], 3, 7, 0),
        ([2], 2, 3, 1),  # sees t and t - 2
        ([1, 4], 2, 6, 2),  # t, t - 1, t - 4, t - 5
    ],
)
@pytest.mark.parametrize("kept", [True, False])
def test_a_gradient_tells_the_steps_that_are_seen(dilations, kernel, field, holes, kept):
    """The same whether it is brought to length 1 below each block or left as it is."""
    size = dilation.gradient(dilation.built(dilations, kernel, 1), 20, 1, kept=kept)
    assert dilation.extent(size) == (field, holes)


def test_a_gradient_that_would_vanish_is_kept():
    encoder = dilation.built([1] * 300, 2, 1)
    assert dilation.extent(dilation.gradient(encoder, 310, 1, kept=False))[0] < 301
    assert dilation.extent(dilation.gradient(encoder, 310, 1)) == (301, 0)


def test_extent_of_any_row():
    assert dilation.extent(torch.tensor([[0.0, 0, 2, 0, 1], [0, 3, 0, 0, 0]])) == (4, 1)
    assert dilation.extent(torch.zeros(2, 5)) == (0, 0)


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(dilation, "QUICK", Size((4, 8)))
    found = runner.run_claim("dilation", quick=True, out=tmp_path, watch=Watch())
    values = {one["name"]: one["value"] for one in found["figures"]}
    assert found["verdict"] == "holds" and len(values) == 8
    assert [values[f"{PLAIN}, kernel {kernel}: layers at L = 8"] for kernel in (2, 3)] == [7, 4]
    assert values[f"{DOUBLED}, kernel 2: layers at L = 8"] == 3
    assert values[f"{DOUBLED}, kernel 2: layers more by each doubling of L"] == pytest.approx(1)
    seen = json.loads((tmp_path / "dilation.json").read_text("utf-8"))["details"]["seen"]
    assert {(2, 6): 7, (2, 7): 8}.items() <= {
        (one["kernel"], one["layers"]): one["field"] for one in seen if one["kind"] == PLAIN
    }.items()
    assert (tmp_path / "dilation.png").stat().st_size > 10_000
