"""What the card of a run on series says: its figures, and how it is used."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from foresay.recipe import Recipe


def measured_series(valid: dict[str, Any]) -> str:
    """The table of figures."""
    low, high = valid["nats_per_step_interval"]
    lines = [
        f"| on {valid['steps']:,} of {valid['of_steps']:,} held-out steps of {valid['series']:,} series | |",
        "|---|---|",
        f"| nats per step (95 % bootstrap interval) | {valid['loss']:.4f} ({low:.4f} – {high:.4f}) |",
    ]
    if "f1_of_ones" in valid:
        lines.append(f"| F1 of ones | {100 * valid['f1_of_ones']:.2f} % |")
    else:
        lines.append(f"| mean error of the next step's mean | {valid['error']:.4g} |")
        lines.append(f"| mean error of the step before in its place | {valid['naive_error']:.4g} |")
    if "crps" in valid:
        ahead = f"over {valid['horizon']} steps from {valid['origins']} points"
        lines.append(f"| CRPS of forecasts {ahead} | {valid['crps']:.4g} |")
        lines.append(f"| CRPS of the season before in their place | {valid['naive_crps']:.4g} |")
        lines += [f"| MASE of their medians | {valid['mase']:.4g} |"] if valid["mase"] is not None else []
        lines.append(f"| share of what came within the middle 80 % of the paths | {100 * valid['covered_80']:.1f} % |")
    return "\n".join(lines) + "\n"


def use_of_series(folder: Path, trust: str, recipe: Recipe) -> str:
    """The commands and the Python for it."""
    place, music = shlex.quote(str(folder)), recipe.data.part_name == "music"
    lines = [f"foresay draw {place}"] if music else [f"foresay forecast {place} my.csv --steps {recipe.task.horizon}"]
    lines += [f"foresay score {place} {'my.mid' if music else 'my.csv'}", f"foresay eval {place}"]
    commands = "\n".join(f"{line}{trust}" for line in lines)
    call = "draw(2, steps=64)" if music else f'forecast("my.csv", steps={recipe.task.horizon}).mean'
    return f"""```
{commands}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.{call}
```
"""
