"""The gradient of a run against the state of every step as a leaf, for every cell; and what is refused."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch

from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.parts import names
from foresay.study.dynamics.backwards import Passed, draw, gradient_of, lines
from foresay.text.tokens import START

TEXT = "the cat sees"


@pytest.mark.parametrize("cell", names("cell"))
def test_every_cells_gradient_is_that_of_its_state_as_a_leaf(cell: str, fresh):
    """One window, all the text: the encoder runs to step t - d, and from its state on to the end."""
    run = fresh(cell)
    ids = torch.tensor([[START, *run.tokens.encode(TEXT).tolist()]])
    steps = ids.shape[1] - 1
    found = gradient_of(run, TEXT, steps - 1)
    assert found.places == 1 and all(len(norms) == steps for norms in found.norms.values())
    model: Any = run.model
    encoder, x = copy.deepcopy(model.encoder).double(), model.embedding(Batch(ids=ids[:, :-1])).detach().double()
    for d in (1, 4, steps - 1):
        state = encoder(x[:, : steps - d])[1]
        leaves = {name: one.detach().double().requires_grad_() for name, one in state["0"].items()}
        features = encoder(x[:, steps - d :], state=state | {"0": leaves})[0][:, -1:]
        loss = -model.output.log_prob(features.float(), ids[:, -1:]).sum()
        for name, grad in zip(leaves, torch.autograd.grad(loss, [*leaves.values()], allow_unused=True), strict=True):
            if name in encoder.forwards[0].states:
                expected = 0.0 if grad is None else float(grad.norm())
                assert found.norms[f"0.{name}"][d] == pytest.approx(expected, rel=1e-4, abs=1e-12)


def test_windows_are_spread_over_the_text(fresh):
    """Of 199 characters: windows of 11 for 8 steps back, 32 of them; the loss is asked of the token after each."""
    run = fresh("gru")
    long = "the cat sees a dog. " * 10
    assert gradient_of(run, long, 8).places == 32
    assert len(gradient_of(run, long).norms["0.h"]) == 65 and len(gradient_of(run, TEXT).norms["0.h"]) == 12


def test_half_lives_leave_out_what_has_not_passed(fresh):
    found = Passed({"0.c": [0.0, 8.0, 4.0, 2.0], "0.h": [9.0, 1.0, 1.0, 1.0]}, 3)
    assert found.half_life("0.c") == pytest.approx(1) and found.half_life("0.h") == math.inf
    told = found.as_dict()["states"]
    assert told["0.h"] == {"norms": [9.0, 1.0, 1.0, 1.0], "half_life": None}
    assert lines(found) == ["0.c\t1", "0.h\t∞"]
    assert len(draw(Passed(found.norms | {"x": [1.0, 0.5, 0.25, 0.1]}, 3)).axes[0].lines) == 3


@pytest.mark.parametrize(
    ("cell", "text", "far", "message"),
    [
        ("lstm", "ab", None, "the text has 2 tokens; give at least three"),
        ("lstm", "abcd", 4, "--far 4; allowed: 1 to 3, as the text has 4 tokens"),
        ("lstm", "abcd", 0, "--far 0; allowed: 1 to 3"),
        ({"kind": "transformer", "size": 4, "heads": 2}, "abcd", None, "has no recurrence to look at: it is transform"),
        ({"kind": "window", "size": 2}, "abcd", None, "has no recurrence to look at: it is window"),
    ],
)
def test_refusals(cell, text, far, message, fresh):
    run = fresh(cell, whole=isinstance(cell, dict))
    with pytest.raises(UserError, match=message):
        gradient_of(run, text, far)
