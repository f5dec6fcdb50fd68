"""What a run on series of numbers does: it forecasts them, scores them step by step, and draws new ones.

run = foresay.load("runs/sunspots")
found = run.forecast("my.csv", steps=12)       # or an array (T, D), or nothing: its own data
found.quantile(0.9), found.mean                # (series, steps, D)
run.nats("my.csv")                             # -log p of every step of each series: what is rare stands out
run.draw(4, steps=100)                         # new series (4, 100, D)
run.evaluate().as_dict()["crps"]

A forecast is made of paths: each draws a step, reads it, and draws the next (decode/paths.py). Of a long history the
last `train.batches.length` steps are read, as in training. All numbers that are drawn are in memory: at most MOST.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import torch
from annotated_types import Gt, Lt

from foresay.data.prepare import Prepared
from foresay.data.series import Series as SeriesData
from foresay.data.series import SeriesReading
from foresay.data.series_files import SeriesText
from foresay.data.series_form import SeriesForm
from foresay.data.series_shards import SeriesShards
from foresay.decode.paths import paths
from foresay.errors import UserError
from foresay.models.series import Series
from foresay.parts import Amount, Size, fits
from foresay.run import Run
from foresay.train.foreseen import SeriesFigures
from foresay.train.rolling import Rolled, origins, rolled
from foresay.translate import Number

Given = str | Path | np.ndarray
Quantile = Annotated[float, Gt(0), Lt(1)]
PATHS = 200
PIECE = 1024  # steps scored at a time
MOST = 2**26  # numbers that are drawn: 256 MiB
Tell = Callable[[float], None]


def _silent(done: float) -> None: ...


@dataclass(frozen=True)
class Forecast:
    """How series go on: `paths` (series, paths, steps, D), and where each series came from."""

    names: list[str]
    columns: tuple[str, ...]
    paths: np.ndarray
    histories: list[np.ndarray]  # what was given, (T, D) each

    @property
    def mean(self) -> np.ndarray:
        """(series, steps, D)."""
        return self.paths.mean(1, dtype=np.float64).astype(np.float32)

    def quantile(self, share: float) -> np.ndarray:
        """The value that so many of the paths stay below, (series, steps, D)."""
        return np.quantile(self.paths, fits(Quantile, share, "quantile"), axis=1)

    def as_dict(self, quantiles: Sequence[float] = (0.1, 0.5, 0.9)) -> dict[str, Any]:
        found = {f"{share:g}": self.quantile(share) for share in quantiles}
        each = [
            {"name": name, "mean": self.mean[n].tolist(), "quantiles": {q: one[n].tolist() for q, one in found.items()}}
            for n, name in enumerate(self.names)
        ]
        return {"columns": list(self.columns), "paths": self.paths.shape[1], "series": each}


@dataclass(frozen=True)
class Foreseen(SeriesFigures):
    """Figures of the next step, and of forecasts over the run's horizon."""

    rolled: Rolled | None = None

    def as_dict(self) -> dict[str, Any]:
        return super().as_dict() | ({} if self.rolled is None else self.rolled.as_dict())


class SeriesRun(Run):
    """A run whose model knows series of numbers."""

    model: Series  # pyright: ignore[reportIncompatibleVariableOverride]

    @property
    def form(self) -> SeriesForm:
        """What its series are like."""
        return self.model.form

    @torch.inference_mode()
    def forecast(
        self,
        history: Given | None = None,
        *,
        steps: int | None = None,
        number: int = PATHS,
        temperature: float = 1.0,
        seed: int = 1,
        tell: Tell = _silent,
    ) -> Forecast:
        """How each series of `history` goes on, by `number` paths over `steps` (the run's horizon).

        Without a history it is the run's own data, to their end: of test, valid or train the last there is. `tell` is
        called with the share that is done.
        """
        ahead = fits(Size, self.model.horizon if steps is None else steps, "steps")
        number = fits(Number, number, "number")
        temperature, seed = fits(Amount, temperature, "temperature"), fits(int, seed, "seed")
        self.model.eval()
        found = list(self.series(history)) if history is not None else self._own_series()
        self._check_room(ahead, number, len(found), "paths")
        drawn = []
        for n, (_, values) in enumerate(found):
            told = lambda done, n=n: tell((n + done) / len(found))  # noqa: E731 - the share of all series
            drawn.append(self._paths(values, ahead, number, seed, temperature, told))
        return Forecast([name for name, _ in found], self.form.columns, np.stack(drawn), [v for _, v in found])

    def _paths(
        self, values: np.ndarray | None, steps: int, number: int, seed: int, temperature: float, tell: Tell
    ) -> np.ndarray:
        state = self.model.begin(1) if values is None else self.after(values)
        return paths(self.model, state, steps, number, seed, temperature, tell=tell)[0].numpy()

    def _check_room(self, steps: int, number: int, series: int, what: str) -> None:
        wanted = steps * number * series * self.form.width
        if wanted > MOST:
            many = f" for each of {series:,} series" if series > 1 else ""
            wide = f" of {self.form.width} numbers" if self.form.width > 1 else ""
            raise UserError(
                f"steps={steps:,} of {number:,} {what}{many}{wide} are {wanted:,} numbers; allowed: {MOST:,} at once: "
                f"lower the steps or the number of {what}"
            )

    def after(self, values: np.ndarray) -> Any:
        """The state after a series (T, D), of which the last `length` steps are read."""
        read = torch.from_numpy(values[-self.recipe.train.batches.length :])[None].to(self.model.device)
        whole = len(values) == read.shape[1]
        return self.model.step(read, self.model.begin(1) if whole else self.model.amid(1))[1]

    @torch.inference_mode()
    def nats(self, given: Given) -> list[np.ndarray]:
        """-log p of every step of each series, (T,), given all before it; of a step that is not known it is 0."""
        self.model.eval()
        return [self._nats(values) for _, values in self.series(given)]

    def _nats(self, values: np.ndarray) -> np.ndarray:
        """Windows of the trained length, each but the first with half a window read again, for context."""
        length = cast(int, self.recipe.train.batches.length)
        half, found, done = max(length // 2, 1), [], 0
        every = torch.from_numpy(values)[None].to(self.model.device)
        while done < len(values):
            begin = 0 if len(values) <= length else max(done - half, 0)
            end = min(begin + length, len(values))
            state = self.model.begin(1)
            if begin:  # the step before is read, nothing before that
                _, state = self.model.step(every[:, begin - 1 : begin], self.model.amid(1))
            log_prob, _ = self.model.score(every[:, begin:end], state=state)
            found.append(-log_prob[0, done - begin :].double().cpu().numpy() + 0.0)
            done = end
        return np.concatenate(found)

    @torch.inference_mode()
    def draw(
        self,
        number: int = 1,
        *,
        steps: int = 100,
        temperature: float = 1.0,
        seed: int = 1,
        begun: Given | None = None,
        tell: Tell = _silent,
    ) -> np.ndarray:
        """New series, (number, steps, D); with one that is `begun` it comes first in each, (number, T + steps, D)."""
        number, steps = fits(Number, number, "number"), fits(Size, steps, "steps")
        temperature, seed = fits(Amount, temperature, "temperature"), fits(int, seed, "seed")
        self._check_room(steps, number, 1, "series")
        self.model.eval()
        if begun is None:
            return self._paths(None, steps, number, seed, temperature, tell)
        (_, values), *more = self.series(begun)
        if more:
            raise UserError(f"{begun} has {len(more) + 1} series; allowed: one to go on from")
        drawn = self._paths(values, steps, number, seed, temperature, tell)
        return np.concatenate([np.repeat(values[None], number, 0), drawn], 1)

    def series(self, given: Given) -> Iterator[tuple[str, np.ndarray]]:
        """The series of a file or a folder, or an array (T,), (T, D), with the run's columns."""
        if isinstance(given, np.ndarray):
            yield "the array", self._admitted(given)
            return
        data = cast(SeriesData, self.recipe.data).another(str(given), cast(Any, self.recipe.data).read, self.form)
        text = cast(SeriesText, data.opened("the argument", str(given)))
        for where, values, _ in text:
            if text.columns != self.form.columns:
                raise UserError(f"{where} has {', '.join(text.columns[:8])}, and the run {self.form.told()}")
            yield where, values

    def _admitted(self, given: np.ndarray) -> np.ndarray:
        values = given[:, None] if given.ndim == 1 else given
        if values.ndim != 2 or values.shape[1] != self.form.width or values.dtype.kind not in "fiub" or not len(values):
            raise UserError(f"the array is {given.dtype} {given.shape}; allowed: numbers (T, {self.form.width})")
        if np.isinf(values).any():
            raise UserError("the array has infinite numbers; allowed: finite ones, or NaN where it is not known")
        return values.astype(np.float32)

    def _own_series(self) -> list[tuple[str, np.ndarray]]:
        """The run's own series of the last part there is, to their end."""
        prepared = self._own()
        last = next(part for part in (prepared.test, prepared.valid, prepared.train) if part is not None)
        shards = cast(SeriesShards, last)
        return [(name, shards.series(number).copy()) for number, name in enumerate(shards.names)]

    def _own(self) -> Prepared:
        from foresay.train.resume import own_prepared

        return own_prepared(self.folder, self.recipe)

    def evaluate(self, data: Any = None, *, split: str = "valid", **more: Any) -> Any:
        """Figures of the next step, and of forecasts over the run's horizon from many points of the held-out steps."""
        found = super().evaluate(data, split=split, **more)
        _, shards = self.held_out(data, split)
        return Foreseen(**vars(found), rolled=self.roll(shards))

    @torch.inference_mode()
    def roll(self, shards: Any) -> Rolled | None:
        """How good forecasts over the horizon are; None where no series is that long, or of 0 and 1 alone."""
        if not self.model.output.scaled:
            return None
        self.model.eval()
        places = origins(shards, self.model.horizon)
        return rolled(shards, places, self.after, self.model, self.model.season) if places else None

    def of_no_text(self, *_: Any, **__: Any) -> Any:
        """What `generate`, `search`, `step`, `correct` and `score` of texts are here: a UserError."""
        raise UserError(
            f"{self.folder} is of series of numbers and knows no texts; use foresay forecast, score or draw"
        )

    generate = search = step = correct = score = perplexity = of_no_text

    def _corpus(self, data: Any, split: str, read: Any) -> Any:
        return cast(SeriesData, self.recipe.data).another(str(data), read, self.form)

    def reading(self, encoding: str | None = None, columns: Sequence[str | int] | None = None) -> Any:
        read: SeriesReading = self.recipe.data.read
        if encoding is not None:
            raise UserError(f"encoding={encoding!r} is for texts; series are read as UTF-8: leave it out")
        return read if columns is None else replace(read, columns=list(columns))
