"""The demo: six small models on the Python reference text, compared; each writes; surprise is shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from foresay.run import load
from foresay.study.compare import compare, table
from foresay.study.surprise import surprise
from foresay.train.folder import next_free

MODELS = ("ngram", "mlp", "rnn", "lstm", "gru", "transformer")
PROMPT = "The value of the expression"
SENTENCE = "The return statement leaves the current banana with a list of values."


def demo(out: Path | None, minutes: float, show: Callable[[Any], None]) -> None:
    """Trains, compares, writes a passage with each model and shows the most surprising words of a sentence."""
    folder = out if out is not None else next_free("demo")
    settings = ["train.batches.rows=8"]  # in seconds, many small steps learn more than few large ones
    rows = compare(MODELS, settings, data="builtin:python-reference", minutes=minutes, out=folder)
    show("")
    show(table(rows))
    for row in rows:
        text = load(folder / row["model"]).generate(PROMPT, length=60 * 4, temperature=0.7)[0]
        show(f"\n[bold]{row['model']}[/bold] writes:")
        show(_plain(_cut(text)))
    best = load(folder / rows[0]["model"])
    words = sorted(surprise(best, SENTENCE), key=lambda word: -word.nats)[:3]
    show(f"\n{_plain(SENTENCE)}")
    named = ", ".join(f"[bold]{_plain(word.text)}[/bold] ({word.nats:.1f} nats)" for word in words)
    show(f"The most surprising words to {rows[0]['model']}: {named}")
    picture, card = _plain(str(folder / "compare.png")), _plain(str(folder / rows[0]["model"] / "README.md"))
    show(f"\nThe picture: {picture}; each run has a card: {card}")


def _cut(text: str, most: int = 240) -> str:
    text = " ".join(text.split())  # the reference is full of tables and indented code
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


def _plain(text: str) -> str:
    """Text with rich's markup switched off."""
    from rich.markup import escape

    return escape(text)
