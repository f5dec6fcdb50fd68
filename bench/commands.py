"""Commands of Foresay's, run as a person would: in processes of their own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def run(*words: str) -> str:
    """A command of Foresay's, its output."""
    done = subprocess.run([sys.executable, "-m", "foresay", *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"foresay {' '.join(words)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def train(words: Sequence[str], out: Path) -> None:
    """Trains, or goes on where an earlier one was killed, unless it is there."""
    if (out / "model.safetensors").exists():
        print(f"{out} is there and not trained again", flush=True)
    elif (out / "recipe.yaml").exists():
        run("train", "--resume", str(out))
    else:
        run("train", *words, "--out", str(out))


def measured(out: Path, *words: str) -> dict[str, Any]:
    """What an evaluation says of a run."""
    return json.loads(run("eval", str(out), *words, "--json"))
