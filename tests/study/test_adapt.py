"""What a cache and learning while reading gain, against the cache's model and a loop by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import torch

from foresay.data.batch import Batch
from foresay.encode.encoder import map_state
from foresay.errors import UserError
from foresay.loading import load
from foresay.models.cached import Cached
from foresay.study import adapt as module
from foresay.study.adapt import adapt
from foresay.text.tokens import START
from foresay.train.evaluate import perplexity
from tests.striped import train_small


@pytest.fixture
def run(trained: Path) -> Any:
    return load(trained, "cpu")


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few settings to choose from."""
    for name, values in (
        ("SHARPNESS", (0.0, 4.0)),
        ("WEIGHTS", (0.1, 0.3)),
        ("RATES", (0.0, 0.1)),
        ("BACK", (0.0, 0.5)),
    ):
        monkeypatch.setattr(module, name, values)


def texts(run: Any, tokens: int) -> list[torch.Tensor]:
    """The symbols of both halves of the validation text, begun as a stream begins."""
    _, shards = run.held_out(None, "valid")
    found = module._texts(run, tokens)  # pyright: ignore[reportPrivateUsage]
    assert found[1].first == module.half_of(shards)
    return [torch.from_numpy(one.slice(0, len(one)).astype("int64")) for one in found]


def test_figures_are_those_of_the_model_and_of_its_cache(run: Any) -> None:
    before = {name: one.clone() for name, one in run.model.named_parameters()}
    found = adapt(run, places=20, tokens=150)
    fitted, measured = texts(run, 150)
    alone, cache, learning, both = found.ways
    assert [way.name for way in found.ways] == ["alone", "cache", "learning", "both"] and found.tokens == 150
    with torch.inference_mode():
        log_prob, _ = run.model.score(measured[None])
        cached, _ = Cached(run.model, 20, **cache.settings).score(measured[None])
    # a stream's first symbol is predicted from <start>, as by `score`
    assert alone.perplexity == pytest.approx(perplexity(-log_prob.double().mean().item()), rel=1e-4)
    assert cache.perplexity == pytest.approx(perplexity(-cached.double().mean().item()), rel=1e-4)
    assert (
        learning.settings.keys() == {"rate", "back"}
        and both.settings.keys() == cache.settings.keys() | learning.settings.keys()
    )
    assert all(torch.equal(before[name], one) for name, one in run.model.named_parameters())  # the run stays
    assert all(way.interval[0] <= way.loss <= way.interval[1] for way in found.ways)
    assert json.loads(json.dumps(found.as_dict()))["ways"][0]["perplexity"] == alone.perplexity
    choices = {(flat, weight) for flat in (0.0, 4.0) for weight in (0.1, 0.3)}
    h = run.model.features(Batch(ids=torch.cat([torch.tensor([START]), fitted])[None, :-1]), None)[0]
    usual = float(h.detach().square().sum(2).mean())
    losses = {}
    for flat, weight in choices:
        with torch.inference_mode():
            each, _ = Cached(run.model, 20, flat / usual, weight).score(fitted[None])
        losses[flat / usual, weight] = -each.double().mean().item()
    best = min(losses, key=lambda one: losses[one])
    assert (cache.settings["flatness"], cache.settings["weight"]) == pytest.approx(best, rel=1e-3)


def test_learning_is_a_step_behind_every_chunk(run: Any) -> None:
    """w - η g / max(1, ‖g‖) + ρ (w_0 - w), of the chunk that was just measured."""
    _, measured = texts(run, 48)
    text = module._texts(run, 48)[1]  # pyright: ignore[reportPrivateUsage]
    found = module._read(run, run.model, text, 0.1, 0.25)  # pyright: ignore[reportPrivateUsage]
    own, log_probs = copy.deepcopy(run.model).eval(), []
    first = [one.detach().clone() for one in own.parameters()]
    state = None
    ids = torch.cat([torch.tensor([START]), measured])
    for begin in range(0, 48, 16):
        batch = Batch(ids=ids[None, begin : begin + 16], targets=measured[None, begin : begin + 16], fresh=begin == 0)
        log_prob, state = own.measure(batch, state)
        state = map_state(state, torch.Tensor.detach)
        log_probs.append(log_prob[0].detach())
        own.zero_grad()
        (-log_prob.mean()).backward()
        norm = torch.cat([one.grad.flatten() for one in own.parameters()]).norm()
        with torch.no_grad():
            for one, start in zip(own.parameters(), first, strict=True):
                one -= 0.1 * one.grad / max(1.0, float(norm))
                one += 0.25 * (start - one)
    torch.testing.assert_close(found.log_prob.float(), torch.cat(log_probs), rtol=1e-4, atol=1e-4)


def test_the_command(trained: Path, call: Any) -> None:
    shown = call("adapt", trained, "--places", 10, "--tokens", 60).out.splitlines()
    assert [line.split()[0] for line in shown] == ["alone", "cache", "learning", "both", "on"]
    found = json.loads(call("adapt", trained, "--places", 10, "--tokens", 60, "--json").out)
    assert found["tokens"] == 60 and found["places"] == 10 and len(found["ways"]) == 4


def test_what_is_refused(tmp_path: Path, run: Any, tiny: dict[str, Any], call: Any, trained: Path) -> None:
    for name in ("places", "tokens"):
        with pytest.raises(UserError, match=f"{name}=0"):
            adapt(run, **{name: 0})
    with pytest.raises(UserError, match="give a run on texts"):
        adapt(train_small(tmp_path))
    assert "places=0" in call.refused("adapt", trained, "--places", 0)
