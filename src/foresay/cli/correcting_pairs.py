"""`correct` with pairs of wrong and right texts: learns a noise model from them, and measures itself on them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from foresay.cli.app import say, show, show_json
from foresay.cli.lines import read_lines
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.decode.correct.corrector import Corrector
    from foresay.decode.correct.pairs import Pair

MADE = 500  # sentences that get a mistake
NAMED = 5  # pairs that cannot be corrected, by file and line


def learn(
    corrector: Corrector, tune: list[Path], held_out: list[Path], alarms: float, limit: int | None, noise: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """Writes a noise model of pairs."""
    import random

    from foresay.decode.correct.pairs import placed_pairs, read_pairs
    from foresay.decode.correct.saved import as_json as spelt
    from foresay.train.aside import write_file
    from foresay.train.progress import watch_for

    learnt, others = read_pairs(tune), placed_pairs(held_out)
    caution = corrector.noise.caution
    used = corrector.learn(learnt)
    corrector.noise = corrector.noise.using(caution=caution)
    tried: list[dict[str, Any]] = []
    if others:
        some = random.Random(1).sample(others, min(limit or len(others), len(others)))
        watch = watch_for()
        try:
            with watch.stage("choosing weight and caution") as tell:
                tried = corrector.choose([pair for _, pair in some], most_alarms=alarms, tell=tell)
        finally:
            watch.close()
        note_unfit(corrector, some)
    kept, unit = corrector.saved_noise()
    write_file(noise, (spelt(kept, unit) + "\n").encode())
    if used < len(learnt):
        say(f"{len(learnt) - used:,} of {len(learnt):,} pairs have more words on one side: they are not counted")
    found: dict[str, Any] = {
        "noise": str(noise),
        "pairs": len(learnt),
        "used": used,
        "unit": unit,
        "weight": kept.weight,
        "caution": kept.caution,
    }
    if as_json:
        show_json(found | {"rates": vars(kept.rates), "shares": kept.shares, "tried": tried})
        return
    show("  ".join(f"{name} {100 * share:.1f} %" for name, share in kept.shares.items()))
    for one in tried:
        f1, rate = one["correction"]["f1"], one["false_alarm_rate"]
        show(f"weight {one['weight']:g}  caution {one['caution']:g}  F1 {f1:.3f}  false alarms {rate:.3f}")
    say(f"{noise} is written: weight {kept.weight:g}, caution {kept.caution:g}, from {used:,} pairs")


def measure(
    corrector: Corrector, pairs: list[Path], garble: Path | None, limit: int | None, seed: int, as_json: bool
) -> None:
    """Shows how well pairs, or sentences with a made mistake, are corrected."""
    import time

    from foresay.decode.correct.garble import garble as made
    from foresay.decode.correct.garble import sentences
    from foresay.decode.correct.measure import measure as figures
    from foresay.decode.correct.pairs import placed_pairs
    from foresay.train.progress import watch_for

    if garble is not None:
        if not garble.is_file():
            raise UserError(f"--garble {garble} is no file; give a file of text")
        texts = sentences(read_lines([str(garble)]))
        given = [(str(garble), pair) for pair in made(texts, limit or MADE, seed)]
    else:
        given = placed_pairs(pairs)[:limit]
    judged, watch, began = [], watch_for(), time.perf_counter()
    try:
        with watch.stage("correcting") as tell:
            for done, (_, pair) in enumerate(given, 1):
                judged.append(corrector.judge(pair, seed))
                tell(done / len(given))
    finally:
        watch.close()
    found: dict[str, Any] = figures(judged) | {"seconds_a_sentence": (time.perf_counter() - began) / len(given)}
    note_unfit(corrector, given)
    if as_json:
        show_json(found)
        return
    show(f"sentences    {found['sentences']:,}, of them wrong {found['wrong']:,}, changed {found['changed']:,}")
    for name in ("detection", "correction", "changes"):
        own = found[name]
        numbers = f"precision {own['precision']:.4f}  recall {own['recall']:.4f}  F1 {own['f1']:.4f}"
        show(f"{name:<12} {numbers}  ({own['hits']:,} right)")
    if found["wrong"]:
        show(f"mended       {_percent(found['correction']['recall'], found['mended_interval'])} of the wrong sentences")
    if found["false_alarm_rate"] is not None:
        share = _percent(found["false_alarm_rate"], found["false_alarm_interval"])
        show(f"false alarms {found['false_alarms']:,}, {share} of the right sentences")
    show(f"time         {found['seconds_a_sentence']:.3f} s a sentence")
    show(f"counted      {found['rule']}")


def _percent(share: float, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{100 * share:.2f} % (95 % interval {100 * low:.2f} to {100 * high:.2f})"


def note_unfit(corrector: Corrector, given: Sequence[tuple[str, Pair]]) -> None:
    """Says which pairs could not be corrected."""
    unfit = [(place, why_not) for place, pair in given if (why_not := corrector.unfit(pair.wrong)) is not None]
    for place, why_not in unfit[:NAMED]:
        say(f"{place} counts as unchanged: {why_not}")
    if len(unfit) > NAMED:
        say(f"and {len(unfit) - NAMED:,} more pairs count as unchanged")
