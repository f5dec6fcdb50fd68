"""A language model that remembers what it has read of late: the continuous cache of Grave et al. (2017).

    p(w | u) = (1 - λ) p_model(w | u) + λ p_cache(w | u)
    p_cache(w | u) ∝ Σ_i 1{x_i = w} exp(θ h_t · h_i)         over the last N symbols

h_i are the features that symbol i was predicted from, h_t those of now. A word that was written lately is likelier to
come again, and the likelier the more alike the places are; nothing is learnt. While nothing is remembered the model
speaks alone.

State: the model's, and of the last N places `keys` (B, N, H) and `ids` (B, N), -1 where nothing stands.
"""

from __future__ import annotations

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.encode.encoder import State
from foresay.errors import UserError
from foresay.models.language_model import LanguageModel
from foresay.models.task import Task, masked
from foresay.parts import Amount, Share, Size, fits

NOTHING = -1


class Cached(Task):
    """A sequence model like the one inside it, with a cache of N places."""

    def __init__(self, model: LanguageModel, size: int = 500, flatness: float = 0.3, weight: float = 0.1):
        super().__init__()
        if not isinstance(model, LanguageModel) or model.condition is not None:
            raise UserError("a cache is for language models of texts; give a run of task language-model")
        self.model, self.vocabulary = model, model.vocabulary
        self.places = fits(Size, size, "size")
        self.flatness, self.weight = fits(Amount, flatness, "flatness"), fits(Share, weight, "weight")

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        inner = self.model.begin(rows, condition, capacity)
        return {"model": inner, **self._empty(inner["features"])}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        if ids.shape[1]:
            _, state = self.score(ids, mask, state=state)
        now = state["model"]["features"]
        log_probs, _ = self.model.step(ids[:, :0], state["model"])
        cached = log_cache(now[:, None], state["keys"], state["ids"], self.flatness, self.vocabulary)
        return self._joined(log_probs, cached[:, 0]), state

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        state = self.begin(len(ids), condition) if state is None else state
        batch = Batch(ids=ids, mask=mask, fresh=False)
        y, inner = self.model.features(batch, state["model"]["encoder"])
        before = torch.cat([state["model"]["features"][:, None], y], 1)
        features = before[:, :-1]
        log_prob = self.model.output.log_prob(features, ids)
        found, after = self._cached(features, ids, mask, state)
        last = before[torch.arange(len(ids)), ids.shape[1] if mask is None else mask.sum(1)]
        return masked(self._joined(log_prob, found), mask), {"model": {"encoder": inner, "features": last}, **after}

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.targets is not None
        if batch.starts is not None:
            raise UserError("a cache reads one text a row, and rows are packed; measure in rows: rows=1")
        state = None if batch.fresh else state
        y, inner = self.model.features(batch, None if state is None else state["model"])
        log_prob = self.model.output.log_prob(y, batch.targets)
        found, after = self._cached(y, batch.targets, batch.mask, self._empty(y[:, 0]) if state is None else state)
        return masked(self._joined(log_prob, found), batch.mask), {"model": inner, **after}

    def _empty(self, like: Tensor) -> State:
        ids = torch.full((len(like), self.places), NOTHING, device=like.device)
        return {"keys": like.new_zeros(len(like), self.places, like.shape[-1]), "ids": ids}

    def _cached(self, h: Tensor, targets: Tensor, mask: Tensor | None, state: State) -> tuple[Tensor, State]:
        """log p_cache (B, T) of the targets, and what is remembered after them."""
        read = targets if mask is None else targets.masked_fill(~mask, NOTHING)
        keys, ids = torch.cat([state["keys"], h], 1), torch.cat([state["ids"], read], 1)
        steps = h.shape[1]
        found = log_cache_of(h, targets, keys, ids, self.flatness, self.places)
        length = torch.full((len(h),), steps, device=h.device) if mask is None else mask.sum(1)
        places = length[:, None] + torch.arange(self.places, device=h.device)
        kept = keys.gather(1, places[..., None].expand(-1, -1, h.shape[-1]))
        return found, {"keys": kept, "ids": ids.gather(1, places)}

    def _joined(self, log_prob: Tensor, cached: Tensor) -> Tensor:
        """The logarithm of the mixture; of the model alone where nothing is remembered (NaN)."""
        weight = torch.tensor([1 - self.weight, self.weight], dtype=torch.float64, device=log_prob.device).log()
        both = torch.logaddexp(log_prob.double() + weight[0], cached.double() + weight[1])
        return torch.where(cached.isnan(), log_prob.double(), both).to(log_prob.dtype)


def log_cache_of(h: Tensor, targets: Tensor, keys: Tensor, ids: Tensor, flatness: float, places: int) -> Tensor:
    """log p_cache (B, T) of each target, from the `places` keys before it: keys (B, N + T, H) end with h's own.

    NaN where nothing is remembered, -inf where the target is not.
    """
    steps = h.shape[1]
    scores = flatness * torch.einsum("bth,bnh->btn", h.float(), keys.float())
    at = torch.arange(keys.shape[1], device=h.device) - torch.arange(steps, device=h.device)[:, None]
    seen = (at >= 0) & (at < places) & (ids != NOTHING)[:, None]
    scores = scores.masked_fill(~seen, -torch.inf)
    same = scores.masked_fill(ids[:, None] != targets[..., None], -torch.inf)
    return same.logsumexp(-1) - scores.logsumexp(-1)  # -inf - -inf is NaN: nothing is seen


def log_cache(h: Tensor, keys: Tensor, ids: Tensor, flatness: float, vocabulary: int) -> Tensor:
    """log p_cache (B, T, V) of every symbol from the same keys (B, N, H); NaN where nothing is remembered."""
    scores = flatness * torch.einsum("bth,bnh->btn", h.float(), keys.float())
    scores = scores.masked_fill((ids == NOTHING)[:, None], -torch.inf)
    shares = scores.softmax(-1)
    into = ids.clamp(min=0)[:, None].expand_as(shares)
    found = shares.new_zeros(*h.shape[:2], vocabulary).scatter_add(-1, into, shares.nan_to_num())
    return found.log().masked_fill((ids == NOTHING).all(1)[:, None, None], torch.nan)
