"""Hidden Markov model of series of numbers: what is carried on is which of K states the series is in.

    p_t = P(s_t | x_1 .. x_{t-1}),   p(x_t | x_1 .. x_{t-1}) = sum_k p_t[k] prod_d N(x_td; mu[k, d], v[k, d])
    p_{t+1} = f_t A,                 f_t[k] = p_t[k] b_k(x_t) / p(x_t | x_1 .. x_{t-1}),            p_1 = pi

Learnt by Baum and Welch (baum_welch.py, frames.py), in the numbers' own units. Given the state a step says nothing of
the next one's numbers: forecasts fall back to what a state's frames are like, and then to how often each state is. A
number that is not known is left out. It keeps what models of series keep (models/series.py).

frames (B, T, D) -> log p (B, T); state p (B, K), kept as `features`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.data.series_shards import SeriesShards
from foresay.encode.encoder import State
from foresay.models.markov.baum_welch import Chain, How, Pass, Rows, best_of, random_chain
from foresay.models.markov.frames import FLOOR, FrameChain, Frames, Normals
from foresay.models.series import Series
from foresay.models.task import Fitting, Task
from foresay.parts import Amount, Size, part

LEAST = 1e-12  # variance of a column that never changes


class Normal:
    """What others ask of a density: how wide it is, and that its numbers are of any size."""

    scaled = True
    width: int


@part("task", "hmm-series")
class HiddenSeries(Series):
    """Hidden Markov model of series, its states normal, learnt by Baum and Welch."""

    doing = "learning"

    def __init__(
        self,
        states: Size = 8,
        passes: Size = 100,
        tolerance: Amount = 1e-4,
        smoothing: Amount = 0.1,
        starts: Size = 4,
        horizon: Size = 12,
        season: Size = 1,
    ):
        Task.__init__(self)  # it has no embedding, no encoder and no layer of density
        self.states, self.passes, self.tolerance = states, passes, tolerance
        self.smoothing, self.starts = smoothing, starts
        self.horizon, self.season, self.relative = horizon, season, False
        self.output = Normal()  # pyright: ignore[reportAttributeAccessIssue]
        self.history: list[Pass] = []
        self.notes: list[str] = []

    def learn_form(self, form: SeriesForm) -> None:
        self.form, self.output.width = form, form.width

    def build(self, vocabulary: int) -> None:
        self.vocabulary, states = vocabulary, self.states
        for name, shape in (("first", (states,)), ("moves", (states, states)), ("usual", (states,))):
            self.register_buffer(name, torch.full(shape, 1.0 / states, dtype=torch.float64))
        for name, row in (("means", self.form.means), ("variances", [one**2 for one in self.form.deviations])):
            self.register_buffer(name, torch.tensor(row, dtype=torch.float64).expand(states, -1).clone())

    def fit(
        self,
        shards: SeriesShards,
        on_progress: Callable[[float], None] | None = None,
        how: Fitting = Fitting(),  # noqa: B008 - it is frozen
    ) -> None:
        """Passes over all series, each by itself."""
        frames = shards.values.astype(np.float64)
        edges = np.concatenate([[0], shards.ends]).astype(np.int64)
        spread = np.nanvar(frames, 0)
        least = np.maximum(FLOOR * spread, LEAST)

        def begin(chance: np.random.Generator) -> Chain:
            chosen = frames[chance.integers(0, len(frames), self.states)]
            means = np.where(np.isnan(chosen), np.nanmean(frames, 0), chosen)
            normals = Normals(means, np.tile(np.maximum(spread, least), (self.states, 1)), least)
            return random_chain(self.states, Frames(frames, normals), chance)

        rows = Rows(np.arange(len(frames), dtype=np.int64), np.unique(edges))
        course = How(self.passes, self.tolerance, self.smoothing)
        tell = on_progress or (lambda done: None)
        chain, self.history, self.notes = best_of(self.starts, begin, rows, course, how.seed, tell)
        assert isinstance(chain.emissions, Frames) and chain.usual is not None
        normals = chain.emissions.normals
        found = {"first": chain.first, "moves": chain.moves, "usual": chain.usual}
        for name, array in (found | {"means": normals.means, "variances": normals.variances}).items():
            setattr(self, name, torch.from_numpy(array))

    def size(self) -> int:
        """The numbers of pi, A, mu and v; no gradient reaches them."""
        return self.states * (1 + self.states + 2 * self.form.width)

    def chain(self) -> FrameChain:
        """The same for whole series at hand: posteriors, and the most probable states."""
        first, moves, means, variances = (
            self._table(name).cpu().numpy() for name in ("first", "moves", "means", "variances")
        )
        return FrameChain(first, moves, Normals(means, variances, np.zeros(self.form.width)))

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        raise AssertionError("a hidden Markov model is fitted as a whole")

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.frames is not None and batch.targets is not None
        known = self._known(batch)
        log_prob = (known.log() + self._log_densities(batch.targets)).logsumexp(-1)
        nothing = batch.targets.isnan().all(-1)
        nothing = nothing if batch.mask is None else nothing | ~batch.mask
        return log_prob.masked_fill(nothing, 0.0), {"features": known[:, -1]}

    def expect(self, batch: Batch) -> Tensor:
        return self._known(batch) @ self._table("means")

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        return {"features": self._table("first").expand(rows, -1).clone()}

    def amid(self, rows: int) -> State:
        return {"features": self._table("usual").expand(rows, -1).clone()}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        _, known = self._follow(ids, mask, state["features"])
        return known, {"features": known}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        before, known = self._follow(ids, mask, (state or self.begin(len(ids)))["features"])
        log_prob = (before.log() + self._log_densities(ids)).logsumexp(-1)
        nothing = ids.isnan().all(-1)
        nothing = nothing if mask is None else nothing | ~mask
        return log_prob.masked_fill(nothing, 0.0), {"features": known}

    def draw(self, state: State, u: Tensor, temperature: float = 1.0) -> Tensor:
        """By a state, and a normal of it; at temperature 0 the mean of the likeliest state."""
        known, means, deviations = state["features"], self._table("means"), self._table("variances").sqrt()
        if temperature == 0:
            return means[known.argmax(-1)]
        edges = (known.log() / temperature).softmax(-1).cumsum(-1)
        chosen = (u[:, :1].to(edges.dtype) >= edges).sum(-1).clamp(max=self.states - 1)
        normal = torch.special.ndtri(u[:, 1:].double().clamp(1e-12, 1 - 1e-12))
        return means[chosen] + temperature * deviations[chosen] * normal

    def _known(self, batch: Batch) -> Tensor:
        """p (B, T, K) of every step of a batch, whose frames are the steps before."""
        assert batch.frames is not None
        frames = batch.frames
        begins = frames[:, 0].isnan().all(-1, keepdim=True)  # nothing stands before the first step of a series
        _, amid = self._follow(frames[:, :1], None, self.amid(len(frames))["features"])
        first = torch.where(begins, self._table("first"), amid)
        before, last = self._follow(frames[:, 1:], None, first)
        return torch.cat([before, last[:, None]], 1)

    def _follow(self, values: Tensor, mask: Tensor | None, known: Tensor) -> tuple[Tensor, Tensor]:
        """p (B, T, K) before every step of values (B, T, D), and (B, K) behind the last real one."""
        scores, moves = self._log_densities(values), self._table("moves")
        densities = (scores - scores.amax(-1, keepdim=True)).exp()
        before, known = [], known.double()
        for t in range(values.shape[1]):
            before.append(known)
            taken = known * densities[:, t]
            whole = taken.sum(-1, keepdim=True)
            filtered = torch.where(whole > 0, taken / whole.where(whole > 0, 1.0), known)
            onward = filtered @ moves
            known = onward if mask is None else torch.where(mask[:, t, None], onward, known)
        return torch.stack(before, 1) if before else scores, known

    def _log_densities(self, values: Tensor) -> Tensor:
        """log b (B, T, K) of values (B, T, D), of what is known of them."""
        x, variances = values[..., None, :].double(), self._table("variances")
        each = -0.5 * ((x - self._table("means")) ** 2 / variances + (2 * torch.pi * variances).log())
        return each.masked_fill(x.isnan(), 0.0).sum(-1)

    def _table(self, name: str) -> Tensor:
        return self.get_buffer(name).double()
