"""Paths of series: drawn one after the other or together, they are the same; a path is what steps give."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from foresay import parts
from foresay.data.series_form import SeriesForm
from foresay.decode import paths as module
from foresay.decode.chance import keys, uniform
from foresay.decode.paths import paths

FORM = SeriesForm(("a", "b"), (2.0, -1.0), (3.0, 0.5), (-9.0, -3.0), (12.0, 1.0), (False, False), (0.0, 0.0))


def made(mixtures: int) -> Any:
    torch.manual_seed(1)
    output = {"mixtures": mixtures}
    one: Any = parts.make("task", {"kind": "series", "encoder": {"kind": "recurrent", "size": 7}, "output": output})
    one.learn_form(FORM)
    one.build(5)
    return one.eval()


@pytest.fixture
def model() -> Any:
    return made(3)


def begun(model: Any, rows: int = 1) -> Any:
    torch.manual_seed(2)
    return model.step(torch.randn(rows, 4, 2), model.begin(rows))[1]


@torch.inference_mode()
def test_a_path_is_drawn_step_by_step(model: Any) -> None:
    found = paths(model, begun(model), 5, 3, seed=7)
    for number in range(3):
        state, own = begun(model), keys(7, torch.tensor([number]))
        for step in range(5):
            value = model.draw(state, uniform(own, step, 3)).float()
            torch.testing.assert_close(found[0, number, step], value[0])
            _, state = model.step(value[:, None], state)


@torch.inference_mode()
def test_together_and_in_pieces_they_are_the_same(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = paths(model, begun(model, 2), 4, 7, seed=3)
    assert whole.shape == (2, 7, 4, 2)
    monkeypatch.setattr(module, "AT_ONCE", 4)
    torch.testing.assert_close(paths(model, begun(model, 2), 4, 7, seed=3), whole)
    torch.testing.assert_close(paths(model, begun(model, 2), 4, 3, seed=3), whole[:, :3])
    assert not torch.equal(paths(model, begun(model, 2), 4, 7, seed=4), whole)
    assert len(whole.flatten(0, 1).unique(dim=0)) == 14  # no two alike


@torch.inference_mode()
def test_the_number_of_the_first_chooses_the_paths(model: Any) -> None:
    whole = paths(model, begun(model), 4, 6, seed=3)
    torch.testing.assert_close(paths(model, begun(model), 4, 2, seed=3, first=4), whole[:, 4:])


@torch.inference_mode()
def test_temperature_0_is_one_path(model: Any) -> None:
    found = paths(model, begun(model), 6, 5, seed=3, temperature=0.0)
    torch.testing.assert_close(found, found[:, :1].expand_as(found))


@torch.no_grad()
def test_temperature_is_a_variance() -> None:
    """The first step of one Gaussian at a quarter of the temperature has half the deviation."""
    model = made(1)
    hot, cold = (paths(model, begun(model), 1, 4000, seed=3, temperature=t)[0, :, 0] for t in (1.0, 0.25))
    torch.testing.assert_close(cold.std(0), hot.std(0) / 2, rtol=1e-3, atol=0)


@torch.inference_mode()
def test_the_share_that_is_done_is_told(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 7 paths, 4 and 3 at a time, of 2 steps each."""
    monkeypatch.setattr(module, "AT_ONCE", 4)
    told: list[float] = []
    paths(model, begun(model), 2, 7, seed=3, tell=told.append)
    assert told == pytest.approx([2 / 7, 4 / 7, 5.5 / 7, 1])
