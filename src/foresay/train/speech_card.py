"""What the card of a run on recordings says: its figures, and how it is used."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from foresay.recipe import Recipe


def measured_speech(valid: dict[str, Any]) -> str:
    """The table of figures."""
    (low, high), (least, most) = valid["error_rate_interval"], valid["exact_interval"]
    return (
        f"| on {valid['recordings']:,} of {valid['of_recordings']:,} validation recordings (95 % bootstrap interval) "
        "| |\n"
        "|---|---|\n"
        f"| symbol error rate | {100 * valid['error_rate']:.2f} % ({100 * low:.2f} – {100 * high:.2f}) |\n"
        f"| texts that are right | {100 * valid['exact']:.2f} % ({100 * least:.2f} – {100 * most:.2f}) |\n"
        f"| loss, nats per symbol | {valid['loss']:.4f} |\n"
    )


def use_of_speech(folder: Path, trust: str, recipe: Recipe) -> str:
    """The commands and the Python for it."""
    place, words = shlex.quote(str(folder)), recipe.task.reads == "speech"
    lines = [f"foresay predict {place} a.wav", *([f"foresay look {place} --sound a.wav"] if words else [])]
    commands = "\n".join(f"{line}{trust}" for line in [*lines, f"foresay eval {place}"])
    call = 'recognise(["a.wav"])[0].text' if words else 'predict(["a.wav"])'
    return f"""```
{commands}
```

```python
import foresay

run = foresay.load({json.dumps(str(folder))}{", trust=True" if trust else ""})
run.{call}
```
"""
