"""One corpus, many models: the same tokens and split for each, one table, one plot.

Each model is trained in turn into `OUT/NAME`. The time, when one is given, is shared out equally, so that the table
answers: what do I get for the same minutes?
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from foresay import recipe as recipes
from foresay import start
from foresay.checks import check
from foresay.errors import UserError
from foresay.loading import pick_device
from foresay.train.folder import next_free
from foresay.train.progress import Metrics, Watch, watch_for
from foresay.train.report import draw_curves, read_results


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
    """Trains each recipe on the same tokens; a row of figures for each, best bits per byte first."""
    names = [names] if isinstance(names, str) else names
    settings = [settings] if isinstance(settings, str) else settings
    if not names:
        raise UserError(f"no recipe to compare; give some of {', '.join(recipes.built_in())}")
    if len({Path(name).stem for name in names}) != len(names):
        raise UserError(f"{' '.join(names)}: a recipe is given twice, or two have one name; each once")
    watch = watch if watch is not None else watch_for(brief=True)
    raws = {Path(name).stem: _raw(name, data, settings, watch) for name in names}
    _same_text(raws, pick_device(device), watch)
    folder = Path(out) if out is not None else next_free("compare")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UserError(f"{folder} exists; allowed: a new folder: give another --out")
    share = None if minutes is None else minutes / len(raws)
    rows = []
    for name, raw in raws.items():
        watch.note(f"{name} ({len(rows) + 1} of {len(raws)})")
        start.train(raw, out=folder / name, minutes=share, device=device, watch=watch)
        rows.append({"model": name} | _figures(folder / name))
    rows.sort(key=lambda row: row["bits_per_byte"])
    plot(folder, [row["model"] for row in rows])
    (folder / "compare.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return rows


def _raw(name: str, data: str | None, settings: Sequence[str], watch: Watch) -> dict[str, Any]:
    """A recipe on the common corpus; its tokens are chosen for that corpus, not for the model."""
    raw = recipes.read(name)
    if data is not None:
        raw |= {"data": {"train": data}, "tokens": start.tokens_for(data, settings)}
    raw, notes = recipes.override(raw, list(settings))
    for note in notes:
        watch.note(f"{name}: {note}")
    return raw


def _same_text(raws: dict[str, dict[str, Any]], place: torch.device, watch: Watch) -> None:
    """Every mistake is said before the first model is trained; only models of one text can be compared."""
    checked = {name: check(recipes.complete(raw), place) for name, raw in raws.items()}
    for name, recipe in checked.items():
        if not recipe.task.sequence:
            kinds = {"labels": "gives labels to texts and knows", "tags": "gives tags to words and knows"}
            does = kinds.get(recipe.task.reads, "learns word vectors, which know")
            raise UserError(f"{name} {does} no probability of a text; compare language models")
        if not recipe.task.causal:
            raise UserError(f"{name} sees both sides: its pseudo-perplexity compares with no other; leave it out")
    found = {name: recipe.as_dict() for name, recipe in checked.items()}
    first, *others = found
    data = found[first]["data"]
    if data["share"] == 0.0 and data["valid"] is None:
        raise UserError("data.share=0.0 holds out nothing to compare on; set data.share > 0 or give data.valid")
    for name in others:
        if found[name]["data"] != found[first]["data"]:
            raise UserError(f"{first} and {name} are trained on different data; give one text for all: --data TEXT")
        if found[name]["tokens"] != found[first]["tokens"]:
            watch.note(f"{first} and {name} have different tokens: compare their bits per byte, not their perplexity")


def _figures(folder: Path) -> dict[str, Any]:
    results = read_results(folder)
    valid = results["valid"]
    if valid is None:
        raise UserError(f"{folder} has no validation figures; set data.share > 0 or give data.valid")
    names = ("parameters", "seconds", "tokens_per_second", "peak_bytes")
    kept = ("bits_per_byte", "bits_per_character", "perplexity", "perplexity_interval", "loss")
    return {n: results[n] for n in names} | {n: valid[n] for n in kept}


def plot(folder: Path, models: Sequence[str]) -> Path:
    """`compare.png`: validation bits per byte against seconds of training."""
    curves = {name: _curve(folder / name) for name in models}
    latest = max((points[-1][0] for points in curves.values() if points), default=1.0)
    for points in curves.values():  # a model that counts is there at once: a level line
        if len(points) == 1:
            points.append((latest, points[0][1]))
    path = folder / "compare.png"
    draw_curves(path, curves, "validation bits per byte", title=f"{folder.name}: validation against time")
    return path


def _curve(folder: Path) -> list[tuple[float, float]]:
    lines = Metrics(folder / "metrics.jsonl").read()
    return [(line["seconds"], line["valid_bits_per_byte"]) for line in lines if "valid_bits_per_byte" in line]


def table(rows: Sequence[dict[str, Any]]) -> Any:
    """The rows as a rich table."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("model")
    for head in ("parameters", "seconds", "tokens/s", "bits/byte", "perplexity", "95 % interval", "peak memory"):
        grid.add_column(head, justify="right")
    for row in rows:
        low, high = row["perplexity_interval"]
        grid.add_row(
            row["model"],
            f"{row['parameters']:,}",
            f"{row['seconds']:.1f}",
            f"{row['tokens_per_second']:,.0f}",
            f"{row['bits_per_byte']:.3f}",
            f"{row['perplexity']:.2f}",
            f"{low:.2f} – {high:.2f}",
            f"{row['peak_bytes'] / 1e6:,.0f} MB",
        )
    return grid
