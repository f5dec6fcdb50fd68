"""One corpus, many models: the same tokens and split for each, one table, one plot.

Each model is trained in turn into `OUT/NAME`. The time, when one is given, is shared out equally, so that the table
answers: what do I get for the same minutes? Models of a text are ranked by bits per byte, of pictures and sounds by
bits per dimension and per sample, of series by nats per step, of labels by accuracy, of tags by the F1 of their spans
or, where they write none, by accuracy: on the validation part. How far each is behind the best is told with an interval
of the difference, piece by piece on the same text (paired.py).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from foresay import recipe as recipes
from foresay import start
from foresay.checks import check
from foresay.data.place_kind import OTHERS
from foresay.errors import UserError
from foresay.loading import pick_device
from foresay.study.paired import Pieces, behind, pieces_of
from foresay.train.diverged import Diverged
from foresay.train.folder import next_free
from foresay.train.progress import Metrics, Watch, watch_for, without_nan
from foresay.train.report import draw_curves, read_results

LEAST = {
    "bits_per_byte": "bits per byte",
    "bits_per_dimension": "bits per dimension",
    "bits_per_sample": "bits per sample",
    "nats_per_step": "nats per step",
}
BY = {**LEAST, "f1": "F1 of spans", "accuracy": "accuracy"}  # the first there is ranks
WITH_ENCODERS = "language models such as lstm, gru, mlp and transformer"
MEASURED = (
    *LEAST,
    "nats_per_image",
    "nats_per_sound",
    "bits_per_character",
    "perplexity",
    "perplexity_interval",
    "loss",
)
MEASURED += ("crps", "mase", "f1_of_ones", "accuracy", "accuracy_interval", "macro_f1", "macro_f1_interval")


def compare(
    names: Sequence[str],
    settings: Sequence[str] = (),
    *,
    data: str | None = None,
    minutes: float | None = None,
    out: str | Path | None = None,
    device: str | None = None,
    watch: Watch | None = None,
) -> list[dict[str, Any]]:
    """Trains each recipe on the same tokens; a row of figures for each, the best first."""
    names = [names] if isinstance(names, str) else names
    settings = [settings] if isinstance(settings, str) else settings
    if not names:
        raise UserError(f"no recipe to compare; give some of {', '.join(recipes.built_in())}")
    if len({Path(name).stem for name in names}) != len(names):
        raise UserError(f"{' '.join(names)}: a recipe is given twice, or two have one name; each once")
    watch = watch if watch is not None else watch_for(brief=True)
    raws = {Path(name).stem: recipes.read(name) for name in names}
    given = next((raw for raw in raws.values() if _kind(raw) in OTHERS), None)
    raws = {name: _raw(name, raw, given, data, settings, watch) for name, raw in raws.items()}
    _same_text(raws, pick_device(device), watch)
    folder = Path(out) if out is not None else next_free("compare")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists; allowed: a new folder: give another --out")
    share = None if minutes is None else minutes / len(raws)
    rows: list[dict[str, Any]] = []
    pieces: dict[str, Pieces] = {}
    for number, (name, raw) in enumerate(raws.items(), 1):
        watch.note(f"{name} ({number} of {len(raws)})")
        try:
            run = start.train(raw, out=folder / name, minutes=share, device=device, watch=watch)
        except Diverged as error:  # the others are worth as much without it
            if not rows and number == len(raws):
                raise
            watch.note(f"warning: {name} is left out: {error}")
            continue
        except UserError:  # told before the first was trained: nothing stays behind
            with suppress(OSError):
                folder.rmdir()
            raise
        rows.append({"model": name} | _figures(folder / name))
        pieces[name] = pieces_of(run)
        del run  # the next one needs its memory
    by = next(measure for measure in BY if measure in rows[0])
    rows.sort(key=lambda row: row[by] if by in LEAST else -row[by])
    if len(rows) > 1:
        _put_behind(rows, pieces)
    plot(folder, [row["model"] for row in rows], by)
    (folder / "compare.json").write_text(json.dumps(without_nan(rows), indent=1) + "\n", "utf-8")
    return rows


def _put_behind(rows: list[dict[str, Any]], pieces: dict[str, Pieces]) -> None:
    """How far each is behind the first, which is the best; none where its text was cut into other tokens."""
    best = pieces[rows[0]["model"]]
    for row in rows:
        own = pieces[row["model"]]
        found = behind(best, own) if own is not best and own.of == best.of else (None, None)
        row |= {"behind_best_by": found[0], "behind_best_interval": found[1] and list(found[1])}


def _raw(
    name: str,
    raw: dict[str, Any],
    media: dict[str, Any] | None,
    data: str | None,
    settings: Sequence[str],
    watch: Watch,
) -> dict[str, Any]:
    """A recipe on the common corpus; its tokens are chosen for that corpus, not for the model.

    `media` is one of the recipes that reads pictures, sounds or series: those for texts read what it reads.
    """
    said = any(word.startswith(("data=", "data.kind=")) for word in settings)
    if media is not None and not said and _kind(raw) == "text" and raw.get("task") in ("language-model", "ngram"):
        raw, notes = (raw, []) if media["task"] == "series" else recipes.override(raw, [f"data.kind={_kind(media)}"])
        raw = _of_series(name, raw, media) if media["task"] == "series" else raw
        raw |= {key: media[key] for key in ("data", "tokens") if key in media}
        for note in notes:
            watch.note(f"{name}: {note}")
    if data is not None:
        if _kind(raw) == "text":
            raw |= {"data": {"train": data}, "tokens": start.tokens_for(data, settings)}
        else:  # how rows are read is the recipe's; valid and test belong to its own train
            kept = {name: value for name, value in raw["data"].items() if name not in ("valid", "test")}
            raw |= {"data": kept | {"train": data}}
    raw, notes = recipes.override(raw, list(settings))
    for note in notes:
        watch.note(f"{name}: {note}")
    return raw


def _of_series(name: str, raw: dict[str, Any], series: dict[str, Any]) -> dict[str, Any]:
    """The encoder of a language model in place of that of a recipe for series, which tells the rest."""
    if "encoder" not in raw:
        raise UserError(f"{name} has no encoder to read series with; allowed: {WITH_ENCODERS}, or leave it out")
    return series | {"encoder": raw["encoder"]}


def _kind(raw: dict[str, Any]) -> str:
    """The kind of data that a recipe reads."""
    given = raw.get("data")
    return given.get("kind", "text") if isinstance(given, dict) else "text"


def _same_text(raws: dict[str, dict[str, Any]], place: torch.device, watch: Watch) -> None:
    """Every mistake is said before the first model is trained; only models of one text can be compared."""
    checked = {name: check(recipes.complete(raw), place) for name, raw in raws.items()}
    for name, recipe in checked.items():
        if recipe.task.reads in ("tags", "labels", "series"):
            continue
        if not recipe.task.sequence:
            raise UserError(f"{name} learns word vectors, which know no probability of a text; compare language models")
        if not recipe.task.causal:
            raise UserError(f"{name} sees both sides: its pseudo-perplexity compares with no other; leave it out")
    told = [name for name, recipe in checked.items() if getattr(recipe.task, "condition", None) is not None]
    if 0 < len(told) < len(checked):
        watch.note(f"{', '.join(told)}: told each one's label (condition), which the others are not")
    found = {name: recipe.as_dict() for name, recipe in checked.items()}
    first, *others = found
    data = found[first]["data"]
    if data["share"] == 0.0 and data["valid"] is None:
        raise UserError("data.share=0.0 holds out nothing to compare on; set data.share > 0 or give data.valid")
    for name in others:
        _check_data(first, found[first]["data"], name, found[name]["data"])
        if found[name]["tokens"] != found[first]["tokens"] and checked[name].task.sequence:
            watch.note(f"{first} and {name} have different tokens: compare their bits per byte, not their perplexity")


def _check_data(first: str, one: dict[str, Any], name: str, other: dict[str, Any]) -> None:
    """Refuses two recipes that learn from different texts, or read one text differently."""
    if one == other:
        return
    if (one["kind"], one["train"]) == (other["kind"], other["train"]):
        ways = [{**data, **data["read"]} for data in (one, other)]
        for setting in sorted(ways[0].keys() - {"read"}):
            values = ["null" if way.get(setting) is None else way[setting] for way in ways]
            if values[0] != values[1]:
                raise UserError(
                    f"{first} has data.{setting}={values[0]} and {name} {values[1]}; allowed: one for all: set "
                    f"data.{setting}"
                )
    raise UserError(f"{first} and {name} are trained on different data; give one text for all: --data TEXT")


def _figures(folder: Path) -> dict[str, Any]:
    results = read_results(folder)
    valid = results["valid"]
    if valid is None:
        raise UserError(f"{folder} has no validation figures; set data.share > 0 or give data.valid")
    kept = {name: results[name] for name in ("parameters", "seconds", "tokens_per_second", "peak_bytes")}
    return kept | {name: valid[name] for name in MEASURED if name in valid} | spans_of(valid)


def spans_of(measured: dict[str, Any]) -> dict[str, Any]:
    """F1 of spans and its interval, where tags write some."""
    spans = measured.get("spans")
    return {} if spans is None else {"f1": spans["f1"], "f1_interval": spans["f1_interval"]}


def plot(folder: Path, models: Sequence[str], by: str = "bits_per_byte") -> Path:
    """`compare.png`: what they are ranked by, on the validation part, against seconds of training."""
    curves = {name: _curve(folder / name, by) for name in models}
    latest = max((points[-1][0] for points in curves.values() if points), default=1.0)
    for points in curves.values():  # a model that counts is there at once: a level line
        if len(points) == 1:
            points.append((latest, points[0][1]))
    path = folder / "compare.png"
    draw_curves(path, curves, f"validation {BY[by]}", title=f"{folder.name}: validation against time")
    return path


def _curve(folder: Path, by: str) -> list[tuple[float, float]]:
    found = []
    for line in Metrics(folder / "metrics.jsonl").read():
        valid = {name.removeprefix("valid_"): value for name, value in line.items() if name.startswith("valid_")}
        valid |= spans_of(valid)
        if by in valid:
            found.append((line["seconds"], valid[by]))
    return found


def _share(value: float) -> str:
    return f"{100 * value:.2f} %"


def _between(interval: Sequence[float]) -> str:
    return f"{interval[0]:.2f} – {interval[1]:.2f}"


def _shares(interval: Sequence[float]) -> str:
    return _between([100 * value for value in interval])


COLUMNS: list[tuple[str, str, Callable[[Any], str]]] = [
    ("parameters", "parameters", lambda value: f"{value:,}"),
    ("seconds", "seconds", lambda value: f"{value:.1f}"),
    ("tokens/s", "tokens_per_second", lambda value: f"{value:,.0f}"),
    ("bits/byte", "bits_per_byte", lambda value: f"{value:.3f}"),
    ("bits/dimension", "bits_per_dimension", lambda value: f"{value:.4f}"),
    ("bits/sample", "bits_per_sample", lambda value: f"{value:.4f}"),
    ("nats/image", "nats_per_image", lambda value: f"{value:.2f}"),
    ("nats/sound", "nats_per_sound", lambda value: f"{value:.2f}"),
    ("nats/step", "nats_per_step", lambda value: f"{value:.4f}"),
    ("CRPS", "crps", lambda value: f"{value:.4g}"),
    ("MASE", "mase", lambda value: f"{value:.4g}"),
    ("F1 of ones", "f1_of_ones", _share),
    ("perplexity", "perplexity", lambda value: f"{value:.2f}"),
    ("95 % interval", "perplexity_interval", _between),
    ("span F1", "f1", _share),
    ("95 % interval", "f1_interval", _shares),
    ("accuracy", "accuracy", _share),
    ("95 % interval", "accuracy_interval", _shares),
    ("macro-F1", "macro_f1", _share),
    ("peak memory", "peak_bytes", lambda value: f"{value / 1e6:,.0f} MB"),
]


def _behind(row: dict[str, Any]) -> str:
    """How far a row is behind the best, and between which two; of shares in points of a hundred."""
    by, interval = row["behind_best_by"], row["behind_best_interval"]
    if interval is None:
        return "" if by is None else f"{by:.3f}"
    scale, digits = (1, 3) if LEAST.keys() & row.keys() else (100, 2)
    found, low, high = (f"{round(scale * value, digits) + 0.0:.{digits}f}" for value in (by, *interval))  # no -0.00
    return f"{found} ({low} – {high})"


def table(rows: Sequence[dict[str, Any]]) -> Any:
    """The rows as a rich table."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("model")
    left_out = () if "bits_per_byte" in rows[0] else ("perplexity", "perplexity_interval")  # of a level says little
    columns = [column for column in COLUMNS if column[1] in rows[0] and column[1] not in left_out]
    for head, _, _ in columns:
        grid.add_column(head, justify="right")
    if "behind_best_by" in rows[0]:
        grid.add_column("behind the best by", justify="right")
    for row in rows:
        more = [_behind(row)] if "behind_best_by" in row else []
        grid.add_row(row["model"], *(shown(row[name]) for _, name, shown in columns), *more)
    return grid
