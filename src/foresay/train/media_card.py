"""What the card of a run on pictures or sounds says: its figures, and how it is used."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from foresay.recipe import Recipe
from foresay.train.evaluate import DIMENSIONS

EXAMPLES = {"images": "a.png", "sounds": "a.wav"}


def noun_of(valid: dict[str, Any]) -> str:
    """`image` or `sound`, whose figures these are; nothing of texts."""
    return next((noun for noun in DIMENSIONS if f"nats_per_{noun}" in valid), "")


def measured_media(valid: dict[str, Any], noun: str) -> str:
    """The table of figures of a language model."""
    low, high = valid["perplexity_interval"]
    read, dimension = f"{valid['tokens']:,} of {valid['of_tokens']:,} validation levels", DIMENSIONS[noun]
    return (
        f"| on {read} | |\n|---|---|\n"
        f"| nats per {noun} | {valid[f'nats_per_{noun}']:.3f} |\n"
        f"| bits per {dimension} | {valid[f'bits_per_{dimension}']:.4f} |\n"
        f"| loss, nats per level | {valid['loss']:.4f} |\n"
        f"| perplexity of a level (95 % bootstrap interval) | {valid['perplexity']:.3f} ({low:.3f} – {high:.3f}) |\n"
    )


def use_of_media(folder: Path, trust: str, recipe: Recipe) -> str:
    """The commands and the Python for it."""
    place, example = shlex.quote(str(folder)), EXAMPLES[recipe.data.part_name]
    answers, draws = recipe.task.reads == "labels", recipe.task.part_name == "language-model"
    knows = answers or getattr(recipe.task, "condition", None) is not None
    lines = [f"foresay draw {place}"] if draws else []
    lines += [f"foresay predict {place} {example}"] if knows else []
    lines += [] if answers else [f"foresay score {place} {example}"]
    commands = "\n".join(f"{line}{trust}" for line in [*lines, f"foresay eval {place}"])
    call = f'predict(["{example}"])' if answers else "draw(4)" if draws else f'nats(["{example}"])'
    call = "draw(4, label=run.labels[0])" if draws and knows else call
    return f"""```
{commands}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.{call}
```
"""
