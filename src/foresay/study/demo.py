"""The demo: six small models on one text, compared; each writes; surprise is shown; two read reviews; one rewrites.

What reads denials and what rewrites is trained for as long as its recipe says, however much time the six have.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from foresay import recipe, start
from foresay.loading import load
from foresay.study import alignment
from foresay.study.compare import compare, table
from foresay.study.surprise import surprise
from foresay.train.folder import next_free
from foresay.train.overlap import exact_match
from foresay.train.progress import watch_for
from foresay.train.resume import own_text

MODELS = ("ngram", "mlp", "rnn", "lstm", "gru", "transformer")
PROMPT = "The value of the expression"
SENTENCE = "The return statement leaves the current banana with a list of values."
REWRITES = "dates"
DENIES = "negation"
READERS = {"averaged vectors": ["encoder=null", "pool=mean"], "biLSTM": []}  # the recipe without order, and as it is
REVIEWS = ("lacking a good script , there is a fine cast", "there is a fine cast , lacking a good script")
HELD_OUT, EXAMPLES = 1000, 5  # pairs that are measured, and shown


def demo(out: Path | None, minutes: float, show: Callable[[Any], None]) -> None:
    """Trains, compares, writes a passage with each model, shows the most surprising words of a sentence, rewrites."""
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
    deny(folder, show)
    aligned = rewrite(folder, show)
    pictures = " and ".join(_plain(str(one)) for one in (folder / "compare.png", aligned))
    card = _plain(str(folder / rows[0]["model"] / "README.md"))
    show(f"\nThe pictures: {pictures}; each run has a card: {card}")


def deny(folder: Path, show: Callable[[Any], None]) -> None:
    """Trains two readers of reviews that only order tells apart; measures both on others; asks them of two."""
    watch = watch_for(brief=True)
    watch.note(f"{Path(DENIES).stem}: good or bad by what is denied, without order and with it")
    told = []
    for name, settings in READERS.items():
        place = folder / f"{Path(DENIES).stem}-{name.replace(' ', '-')}"
        start.train(recipe.read(DENIES), settings, out=place, watch=watch)
        run: Any = load(place)
        told.append((name, run.evaluate(split="test"), [answer for answer, _ in run.predict(REVIEWS)]))
    title = f"[bold]{_plain(Path(DENIES).stem)}[/bold]"
    show(f"\n{title}: is a review good? What comes last counts, and denial turns it round")
    for number, review in enumerate(REVIEWS):
        show(_plain(f"  {review}: " + ", ".join(f"{answers[number]} ({name})" for name, _, answers in told)))
    rights = ", ".join(f"{name} {100 * found.accuracy:.1f} %" for name, found, _ in told)
    show(f"Right on {told[0][1].texts:,} held-out reviews: {_plain(rights)}")


def rewrite(folder: Path, show: Callable[[Any], None]) -> Path:
    """Trains a model with attention to rewrite dates, measures it on pairs held out, and draws where it looked."""
    watch = watch_for(brief=True)
    watch.note(f"{Path(REWRITES).stem}: rewriting, with attention")
    place = folder / Path(REWRITES).stem
    start.train(recipe.read(REWRITES), out=place, watch=watch)
    run: Any = load(place)
    pairs = [(source, target) for _, source, target in own_text(place, run.recipe).rows("test", run.recipe.seed)]
    sources, targets = zip(*pairs[:HELD_OUT], strict=True)
    written = run.translate(sources)
    show(f"\n[bold]{_plain(place.name)}[/bold] rewrites what it has not seen:")
    wide = max(map(len, sources[:EXAMPLES]))
    for source, found in list(zip(sources, written, strict=True))[:EXAMPLES]:
        show(_plain(f"  {source:<{wide}}  {found}"))
    show(f"Exact match: {100 * exact_match(written, targets):.1f} % of {len(written):,} held-out pairs")
    aligned = folder / "alignment.png"
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # of a text that has not ended
        alignment.draw(run.align(max(sources[:EXAMPLES], key=len)), aligned)
    return aligned


def _cut(text: str, most: int = 240) -> str:
    text = " ".join(text.split())  # the reference is full of tables and indented code
    return text if len(text) <= most else text[:most].rsplit(" ", 1)[0] + " …"


def _plain(text: str) -> str:
    """Text with rich's markup switched off."""
    from rich.markup import escape

    return escape(text)
