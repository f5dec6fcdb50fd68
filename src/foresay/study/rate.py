"""Which learning rate? The rate rises step by step on a model that is thrown away (Smith 2017).

    rate_i = lowest (highest / lowest)^(i / (n - 1))        i = 0 .. n - 1

Too low, and the loss stands still; right, and it falls; too high, and it climbs again: there the sweep ends. The loss
is smoothed over neighbours on both sides, so that nothing is shifted. It has a valley: from the rate at which it has
made half of its fall to the last at which it has climbed back by no more than a tenth of it. Suggested is the middle of
the valley on the logarithmic axis,

    rate = sqrt(left right),

which lay nearest to the best rate of short runs; a tenth of the rate with the lowest loss, and the rate of the steepest
fall, were too low by up to thirty times, because the valley's floor is flat and noisy: docs/log.md.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from foresay import start
from foresay.begun import Beginning
from foresay.data.loader import Loader
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.loading import pick_device
from foresay.train.folder import next_free
from foresay.train.loop import Trainer
from foresay.train.progress import Watch, watch_for
from foresay.train.report import COLOURS, write_picture

STEPS = 140  # 20 a decade
LOWEST, HIGHEST = 1e-5, 100.0
NEIGHBOURS = 5  # on each side, that a loss is smoothed over
CLIMBED = 1.25  # times the first loss: it has diverged
CLEAR = 0.05  # of the first loss: a smaller fall is none
FALLEN, RISEN = 0.5, 0.1  # shares of the fall that bound the valley


@dataclass(frozen=True)
class Found:
    """The rate suggested, the valley it is the middle of, whether the curve shows it clearly, and the curve itself."""

    rate: float
    valley: tuple[float, float]
    clear: bool
    rates: list[float]
    losses: list[float]
    smoothed: list[float]
    picture: str | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def find_rate(
    source: start.Source,
    settings: start.Settings = (),
    *,
    steps: int | None = None,
    minutes: float | None = None,
    out: str | Path | None = None,
    device: str | None = None,
    watch: Watch | None = None,
) -> Found:
    """Suggests a learning rate for a recipe or a text, and draws the curve into `out`, a .png file."""
    if minutes is not None and not 0 < minutes < 1e6:
        raise UserError(f"minutes={minutes}; allowed: a number > 0")
    watch = watch if watch is not None else watch_for()
    place = pick_device(device)
    picture = _place(source, out)
    new = start.new_recipe(source, start.words_of(settings), minutes, place)
    recipe = new.recipe
    if hasattr(recipe.task, "fit"):
        name = recipe.task.part_name
        own = getattr(recipe.task, "lr", None)  # of word vectors
        how = (
            "counts and has no learning rate" if own is None else f"learns in epochs, at a rate of its own, lr={own:g}"
        )
        what = "the finder is for models that are trained in steps: give such a one"
        raise UserError(f"task={name} {how}; {what}" + ("" if own is None else ", or set lr yourself"))
    for note in new.notes:
        if "minutes of training" not in note:  # nobody trains here
            watch.note(note)
    try:
        with watch.stage("preparing text") as tell:
            prepared = prepare(
                recipe.data,
                recipe.tokens,
                recipe.seed,
                on_progress=lambda stage, done: tell(done, stage),
                learnt=recipe.learnt_tokens,
            )
        trainer = Trainer(
            Beginning(recipe, prepared, place).model(), recipe.train, prepared, recipe.seed, picture.parent, Watch()
        )
        with watch.stage("raising the rate") as tell:
            rates = rising(steps or STEPS)
            losses = sweep(trainer, rates, tell)
    finally:
        watch.close()
    found = suggest(rates, losses)
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(picture, found, picture.stem)
    return replace(found, picture=str(picture))


def _place(source: start.Source, out: str | Path | None) -> Path:
    """Where the picture goes; where it cannot go is refused before the work."""
    picture = next_free(f"{start.name_of(source)}-rate", ".png") if out is None else Path(out)
    if picture.is_dir():
        raise UserError(f"out={str(picture)!r} is a folder; allowed: a file in it: {picture / 'rate.png'}")
    if picture.suffix.lower() != ".png":
        raise UserError(f"out={str(picture)!r}; allowed: a name that ends with .png")
    there = next(parent for parent in picture.parents if os.path.lexists(parent))
    if not there.is_dir():
        raise UserError(f"out={str(picture)!r}, but {there} is no folder; give another --out")
    return picture


def rising(steps: int, lowest: float = LOWEST, highest: float = HIGHEST) -> list[float]:
    """Rates at equal distances on a logarithmic scale."""
    if steps < 2 * NEIGHBOURS:
        raise UserError(f"steps={steps}; allowed: {2 * NEIGHBOURS} or more")
    return [lowest * (highest / lowest) ** (i / (steps - 1)) for i in range(steps)]


def sweep(trainer: Trainer, rates: Sequence[float], tell: Callable[[float], None]) -> list[float]:
    """The loss of one step at each rate, until it has climbed above where it began."""
    trainer.rate = lambda step: rates[step]
    losses: list[float] = []
    with Loader(trainer.order, 0, trainer.loop.batches.workers) as loader:
        for step in range(len(rates)):
            loss, norm = map(float, trainer.train_step([next(loader)[1] for _ in range(trainer.loop.accumulate)]))
            if not math.isfinite(loss) or not math.isfinite(norm):
                break
            losses.append(loss)
            tell((step + 1) / len(rates))
            if sum(losses[-NEIGHBOURS:]) / len(losses[-NEIGHBOURS:]) > CLIMBED * losses[0]:
                break
    return losses


def smooth(losses: Sequence[float]) -> list[float]:
    """Each loss with its neighbours, the nearer the heavier: weights 1 .. NEIGHBOURS + 1 .. 1, fewer at the ends."""
    smoothed = []
    for i in range(len(losses)):
        near = range(max(i - NEIGHBOURS, 0), min(i + NEIGHBOURS + 1, len(losses)))
        weights = [NEIGHBOURS + 1 - abs(i - j) for j in near]
        smoothed.append(sum(w * losses[j] for w, j in zip(weights, near, strict=True)) / sum(weights))
    return smoothed


def suggest(rates: Sequence[float], losses: Sequence[float]) -> Found:
    """The middle of the valley; clear when the loss fell well below where it began and climbed before the last rate."""
    if len(losses) <= NEIGHBOURS:
        raise UserError(
            f"the loss climbed, or was no number, after {len(losses)} steps at the lowest rates: no rate can be "
            "suggested; look at the recipe"
        )
    smoothed = smooth(losses)
    low, fall = min(smoothed), smoothed[0] - min(smoothed)
    left = next(r for r, loss in zip(rates, smoothed, strict=False) if loss <= low + (1 - FALLEN) * fall)
    right = [r for r, loss in zip(rates, smoothed, strict=False) if loss <= low + RISEN * fall][-1]
    clear = fall >= CLEAR * smoothed[0] and len(losses) < len(rates)
    rate = float(f"{math.sqrt(left * right):.1e}")  # two digits: the curve says no more
    return Found(rate, (left, right), clear, list(rates[: len(losses)]), list(losses), smoothed)


def draw(path: Path, found: Found, title: str) -> None:
    """Loss over rate on a logarithmic axis, the suggestion marked."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot(found.rates, found.losses, ".", color=COLOURS[0], alpha=0.35, markersize=5, label="loss of each step")
    axes.plot(found.rates, found.smoothed, color=COLOURS[0], linewidth=1.8, label="smoothed")
    axes.axvspan(*found.valley, color=COLOURS[2], alpha=0.1, linewidth=0, label="valley")
    label = f"train.lr={found.rate:g}" + ("" if found.clear else "  (not clear)")
    axes.axvline(found.rate, color=COLOURS[1], linestyle="--", linewidth=1.5, label=label)
    axes.set_xscale("log")
    low, high = min(found.smoothed), found.smoothed[0]
    edge = max(0.1 * (high - low), 0.01 * high)
    axes.set_ylim(low - edge, max(high, found.smoothed[-1] if not found.clear else high) + 2 * edge)
    axes.set_xlabel("learning rate")
    axes.set_ylabel("training loss, nats per token")
    axes.set_title(f"{title}: loss while the rate rises", loc="left", parse_math=False)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25)
    axes.legend(frameon=False, loc="lower left")
    write_picture(path, figure)
