"""How much a language model gains from what it reads: by a cache, by learning while it reads, and by both.

    cache      p = (1 - λ) p_model + λ p_cache over the last N symbols (models/cached.py; Grave et al. 2017)
    learning   a chunk is measured, then learnt from, as it comes (dynamic evaluation; Krause et al. 2018):
               w <- w - η g / max(1, ‖g‖) + ρ (w_0 - w)

θ, λ, η and ρ are those that do best on the validation text; figures are of the test text, or of its second half where
there is none. The text is read in one row, its documents one after the other; the run stays as it was.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.data.shards import Shards
from foresay.data.streams import Streams
from foresay.encode.encoder import map_state
from foresay.errors import UserError
from foresay.models.cached import log_cache_of
from foresay.models.language_model import LanguageModel
from foresay.parts import Size, fits
from foresay.study.mix import half_of
from foresay.train.evaluate import bootstrap, perplexity
from foresay.train.resume import own_prepared

SHARPNESS = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0)  # θ, times the mean ‖h‖²: it means the same for all models
WEIGHTS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # λ
RATES = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # η
BACK = (0.0, 0.01)  # ρ
BLOCK = 256  # places whose cache is computed at a time
FEWEST = 2
TOKENS = 20_000  # of each text, by default
Tell = Callable[[float], None]


@dataclass(frozen=True)
class Way:
    """One way to read: its settings, and what it reaches."""

    name: str
    settings: dict[str, float]
    loss: float
    interval: tuple[float, float]

    @property
    def perplexity(self) -> float:
        return perplexity(self.loss)


@dataclass(frozen=True)
class Adapted:
    """The model alone, with a cache, learning, and with both; on `tokens` of a text that nothing was fitted on."""

    ways: list[Way]
    tokens: int
    places: int

    def as_dict(self) -> dict[str, Any]:
        each = [{**asdict(way), "interval": list(way.interval), "perplexity": way.perplexity} for way in self.ways]
        return {"ways": each, "tokens": self.tokens, "places": self.places}


@dataclass(frozen=True)
class _Read:
    """A text as it was read: features (N, H), the symbols, and log P of each by the model."""

    h: Tensor
    ids: Tensor
    log_prob: Tensor


def adapt(run: Any, *, places: int = 2000, tokens: int = TOKENS, tell: Tell | None = None) -> Adapted:
    """Fits on the first part of the run's held-out text and measures on the rest."""
    places, tokens, tell = fits(Size, places, "places"), fits(Size, tokens, "tokens"), tell or (lambda share: None)
    if tokens < FEWEST:
        raise UserError(f"tokens={tokens}; allowed: {FEWEST} or more, of which each is predicted from those before")
    model = _checked(run)
    fitted, measured = _texts(run, tokens)
    plain = [_read(run, model, text, 0.0, 0.0) for text in (fitted, measured)]
    cache = _best_cache(plain[0], places)
    loads = [(rate, back) for rate, back in itertools.product(RATES, BACK) if rate or not back]
    losses = {}
    for number, (rate, back) in enumerate(loads, 1):
        read = plain[0] if not rate else _read(run, model, fitted, rate, back)
        losses[rate, back] = -float(read.log_prob.mean())
        tell(0.8 * number / len(loads))
    rate, back = min(losses, key=lambda one: losses[one])
    learnt = [
        plain[n] if not rate else _read(run, model, text, rate, back) for n, text in enumerate((fitted, measured))
    ]
    tell(0.9)
    both = _best_cache(learnt[0], places)
    learning = {"rate": rate, "back": back}
    ways = [
        _way("alone", {}, plain[1].log_prob),
        _way("cache", cache, _joined(plain[1], places, **cache)),
        _way("learning", learning, learnt[1].log_prob),
        _way("both", both | learning, _joined(learnt[1], places, **both)),
    ]
    tell(1.0)
    return Adapted(ways, len(plain[1].ids), places)


def _checked(run: Any) -> LanguageModel:
    model = run.model
    if not isinstance(model, LanguageModel) or model.condition is not None or model.reads != "text":
        raise UserError(f"{run.folder} is no language model of texts; give a run such as foresay train lstm makes")
    if hasattr(run, "form"):
        raise UserError(f"{run.folder} is of {run.form.told()}; give a run on texts")
    if not isinstance(run.recipe.train.batches, Streams):
        kind = run.recipe.train.batches.part_name
        raise UserError(f"{run.folder} reads {kind}, not a text in its order; train with train.batches=streams")
    return model


def _texts(run: Any, tokens: int) -> tuple[Any, Any]:
    """What settings are fitted on, and what is measured."""
    prepared = own_prepared(run.folder, run.recipe)
    if prepared.valid is None:
        raise UserError(f"{run.folder} has no validation text to fit settings on; give data.valid in its recipe")
    if prepared.test is not None:
        return _Some(prepared.valid, 0, tokens), _Some(prepared.test, 0, tokens)
    half = half_of(prepared.valid)
    return _Some(prepared.valid, 0, min(half, tokens)), _Some(prepared.valid, half, tokens)


class _Some:
    """So many tokens of shards from a place on."""

    def __init__(self, shards: Shards, first: int, size: int):
        self.shards, self.first, self.size = shards, first, min(size, len(shards) - first)
        ends = np.asarray(shards.ends) - first
        self.ends = np.append(ends[(ends > 0) & (ends < self.size)], self.size)
        self.folder, self.given, self.documents = shards.folder, shards.given, len(self.ends)

    def __len__(self) -> int:
        return self.size

    def slice(self, start: int, stop: int) -> np.ndarray:
        return self.shards.slice(self.first + start, self.first + min(stop, self.size))


def _read(run: Any, model: LanguageModel, text: Any, rate: float, back: float) -> _Read:
    """Reads a text in one row; with a rate a copy of the model learns from every chunk behind it."""
    batches = Streams(1, run.recipe.train.batches.chunk)
    own = copy.deepcopy(model).eval() if rate else model.eval()
    first = {name: one.detach().clone() for name, one in own.named_parameters()} if rate else {}
    state, found = None, []
    for batch in batches.evaluation(text):
        batch = batch.to(own.device)
        with torch.set_grad_enabled(rate > 0):
            h, after = own.features(batch, state)
            assert batch.targets is not None
            log_prob = own.output.log_prob(h, batch.targets)
        found.append((h[0].detach().float(), batch.targets[0], log_prob[0].detach().double()))
        if rate:
            _learn(own, -log_prob.mean(), first, rate, back)
        state = map_state(after, Tensor.detach)
    h, ids, log_prob = (torch.cat(each) for each in zip(*found, strict=True))
    return _Read(h, ids, log_prob)


def _learn(model: LanguageModel, loss: Tensor, first: dict[str, Tensor], rate: float, back: float) -> None:
    names, weights = zip(*((n, p) for n, p in model.named_parameters() if p.requires_grad), strict=True)
    grads = torch.autograd.grad(loss, weights, allow_unused=True)
    norm = torch.stack([grad.norm() for grad in grads if grad is not None]).norm()
    with torch.no_grad():
        for name, weight, grad in zip(names, weights, grads, strict=True):
            if grad is not None and bool(norm.isfinite()):
                weight -= rate * grad / norm.clamp(min=1.0)
            if back:
                weight += back * (first[name] - weight)


def _best_cache(read: _Read, places: int) -> dict[str, float]:
    """θ and λ that do best."""
    usual = float(read.h.square().sum(1).mean())
    found: dict[tuple[float, float], float] = {}
    for sharp in SHARPNESS:
        cached = _cached(read, sharp / usual, places)
        found |= {(sharp / usual, weight): -float(_mixed(read.log_prob, cached, weight).mean()) for weight in WEIGHTS}
    flatness, weight = min(found, key=lambda one: found[one])
    return {"flatness": flatness, "weight": weight}


def _cached(read: _Read, flatness: float, places: int) -> Tensor:
    """log p_cache (N,) of every symbol, from those before it."""
    found = []
    for begin in range(0, len(read.ids), BLOCK):
        end, first = min(begin + BLOCK, len(read.ids)), begin - places
        keys, ids = read.h[max(first, 0) : end], read.ids[max(first, 0) : end]
        if first < 0:  # nothing stands before the beginning
            keys = torch.cat([keys.new_zeros(-first, keys.shape[1]), keys])
            ids = torch.cat([ids.new_full((-first,), -1), ids])
        now, targets = read.h[begin:end], read.ids[begin:end]
        found.append(log_cache_of(now[None], targets[None], keys[None], ids[None], flatness, places)[0])
    return torch.cat(found).double()


def _mixed(log_prob: Tensor, cached: Tensor, weight: float) -> Tensor:
    both = torch.logaddexp(log_prob + np.log1p(-weight), cached + np.log(weight))
    return torch.where(cached.isnan(), log_prob, both)


def _joined(read: _Read, places: int, flatness: float, weight: float) -> Tensor:
    return _mixed(read.log_prob, _cached(read, flatness, places), weight)


def _way(name: str, settings: dict[str, float], log_prob: Tensor) -> Way:
    nats = -log_prob.numpy(force=True)
    return Way(name, settings, float(nats.mean()), bootstrap(nats, np.ones(len(nats))))
