"""Model of series of numbers: p(x_1 .. x_T) = prod_t p(x_t | x_1 .. x_{t-1}), x_t (D,).

    e_t = embedding(x_{t-1}),  y_t = encoder(e_1 .. e_t),  p(x_t | ...) = output(y_t),  x_0 is not known

Any causal encoder fits, and any density: with `gaussian` it is the autoregressive N(mu(x_<t), sigma^2(x_<t)). Densities
that scale are of z = (x - mean) / deviation, so p(x) = p(z) / prod deviation: all losses are of x itself. With
`relative` the density is of z_t - z_{t-1}, for series that wander: what is not known there counts as the mean.

The state is the encoder's, the features (B, H) that predict the next step and, as `last`, z (B, D) of the one before.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from foresay.data.batch import Batch
from foresay.data.series_form import SeriesForm
from foresay.embed.embedding import Embedding
from foresay.embed.frames import Frames
from foresay.encode.encoder import Encoder, State
from foresay.errors import UserError
from foresay.models.task import Task, last_real
from foresay.output.density import Density
from foresay.parts import Size, part


@part("task", "series")
class Series(Task):
    """Embedding of numbers, causal encoder and density that predict the next step of a series."""

    reads = "series"
    sequence = False  # it knows no P of symbols, but densities
    form: SeriesForm
    log_scale: Tensor

    def __init__(
        self,
        embedding: Embedding | str = "frames",
        encoder: Encoder | str = "recurrent",
        output: Density | str = "gaussian",
        relative: bool = False,
        horizon: Size = 12,
        season: Size = 1,
    ):
        super().__init__()
        assert isinstance(embedding, Embedding) and isinstance(encoder, Encoder) and isinstance(output, Density)
        if not isinstance(embedding, Frames):
            raise UserError(
                f"embedding={embedding.part_name} reads symbols, and a series has numbers; set embedding=frames"
            )
        if not encoder.causal:
            raise UserError(
                "encoder sees what comes after and would see the numbers it must predict; allowed: a causal one: "
                f"{encoder.how_one_way()}"
            )
        if relative and not output.scaled:
            raise UserError(
                f"relative=true with output={output.part_name}, whose values have no differences; leave it out"
            )
        self.embedding, self.encoder, self.output = embedding, encoder, output
        self.relative, self.horizon, self.season = relative, horizon, season

    def learn_form(self, form: SeriesForm) -> None:
        """What the series are like; told before it is built."""
        for column in zip(form.least, form.most, form.whole, form.columns, strict=True):
            self.output.check(*column[:3], f"column {column[3]}")
        self.form = self.embedding.form = form

    def build(self, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.embedding.build(vocabulary)
        self.encoder.build(self.embedding.width)
        self.output.build(self.encoder.width, self.form.width)
        if not self.output.scaled:
            self.output.begin_at(torch.tensor(self.form.means))
        scale = self.embedding.deviations.log() if self.output.scaled else torch.zeros(self.form.width)
        self.register_buffer("log_scale", scale)

    def loss(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        assert batch.frames is not None and batch.targets is not None
        y, after = self.encoder(self.embedding(batch), batch.mask, None)
        z = self._apart(batch.targets, self._scaled(batch.frames))
        scale = self._of_scale(batch.targets).sum() / (~batch.targets.isnan()).any(-1).sum().clamp(min=1)
        return self.output.loss(y, z, batch.mask) + scale, after

    def measure(self, batch: Batch, state: State | None = None) -> tuple[Tensor, State]:
        """log p of every step, (B, T); 0 where nothing of it is known."""
        assert batch.frames is not None and batch.targets is not None
        y, after = self.encoder(self.embedding(batch), batch.mask, None)
        return self._log_prob(y, batch.targets, self._scaled(batch.frames)), after

    def expect(self, batch: Batch) -> Tensor:
        """E[x] of every step given those before it, (B, T, D)."""
        assert batch.frames is not None
        y, _ = self.encoder(self.embedding(batch), batch.mask, None)
        return self._back(self.output.mean(y), self._scaled(batch.frames))

    def begin(self, rows: int, condition: Tensor | None = None, capacity: int | None = None) -> State:
        """The state before the first step, of `rows` series."""
        nothing = torch.full((rows, 1, self.form.width), math.nan, device=self.device)
        inner = self.encoder.begin(rows, None if capacity is None else capacity + 1)
        y, inner = self.encoder(self.embedding(Batch(frames=nothing)), None, inner)
        return {"encoder": inner, "features": y[:, -1], "last": self._scaled(nothing)[:, -1]}

    def amid(self, rows: int) -> State:
        """The state in the middle of series of which nothing was read yet: a step of one value or more comes next."""
        inner = self.encoder.begin(rows)
        nothing = torch.full((rows, self.form.width), math.nan, device=self.device)
        features = torch.zeros(rows, self.encoder.width, device=self.device)
        return {"encoder": inner, "features": features, "last": self._scaled(nothing)}

    def step(self, ids: Tensor, state: State, mask: Tensor | None = None) -> tuple[Tensor, State]:
        """Consumes values (B, T, D); the features (B, H) of what follows the last real ones, and the state."""
        y, inner = self.encoder(self.embedding(Batch(frames=ids)), mask, state["encoder"])
        features = last_real(y, state["features"], mask)
        last = last_real(self._scaled(ids), state["last"], mask)
        return features, {"encoder": inner, "features": features, "last": last}

    def score(
        self, ids: Tensor, mask: Tensor | None = None, condition: Tensor | None = None, state: State | None = None
    ) -> tuple[Tensor, State]:
        """log p (B, T) of values (B, T, D), each given all before it."""
        state = self.begin(len(ids)) if state is None else state
        y, inner = self.encoder(self.embedding(Batch(frames=ids)), mask, state["encoder"])
        features = torch.cat([state["features"][:, None], y], 1)[:, :-1]
        z = self._scaled(ids)
        before = torch.cat([state["last"][:, None], z], 1)[:, :-1]
        log_prob = self._log_prob(features, ids, before)
        log_prob = log_prob if mask is None else log_prob.masked_fill(~mask, 0.0)
        after = {"features": last_real(y, state["features"], mask), "last": last_real(z, state["last"], mask)}
        return log_prob, {"encoder": inner, **after}

    def draw(self, state: State, u: Tensor, temperature: float = 1.0) -> Tensor:
        """The next step of each row, (B, D), by inverting u (B, D + 1)."""
        return self._back(self.output.draw(state["features"], u, temperature), state["last"])

    def guessing(self) -> float:
        """-log p of a step by one who knows the means and deviations alone, in the mean; of 0 and 1 their shares."""
        if self.output.scaled:
            return sum(math.log(one) + 0.5 * math.log(2 * math.pi * math.e) for one in self.form.deviations)
        shares = [min(max(one, 1e-9), 1 - 1e-9) for one in self.form.means]
        return -sum(one * math.log(one) + (1 - one) * math.log(1 - one) for one in shares)

    def _scaled(self, values: Tensor) -> Tensor:
        """z of values (..., D), NaN where they are not known."""
        assert isinstance(self.embedding, Frames)
        return self.embedding.scaled(values) if self.output.scaled else values.to(self.log_scale.dtype)

    def _apart(self, values: Tensor, before: Tensor) -> Tensor:
        """What the density is of: z, or how far it is from the step before."""
        z = self._scaled(values)
        return z - before.nan_to_num() if self.relative else z

    def _back(self, found: Tensor, before: Tensor) -> Tensor:
        """Values of what the density is of."""
        if not self.output.scaled:
            return found
        assert isinstance(self.embedding, Frames)
        z = found + before.nan_to_num() if self.relative else found
        return z * self.embedding.deviations + self.embedding.means

    def _log_prob(self, features: Tensor, values: Tensor, before: Tensor) -> Tensor:
        """log p of values (B, T, D); of what is known of them."""
        return self.output.log_prob(features, self._apart(values, before)) - self._of_scale(values)

    def _of_scale(self, values: Tensor) -> Tensor:
        """log of the deviations of what is known of each step, (B, T)."""
        return (~values.isnan() * self.log_scale).sum(-1)
