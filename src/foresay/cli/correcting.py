"""The command that corrects texts, learns how they go wrong, and measures itself: `correct`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import Device, Json, RunArgument, Trust, app, load_run, say, show, show_json
from foresay.cli.using import read_lines
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.decode.correct.corrector import Corrector

MADE = 500  # sentences that get a mistake


@app.command()
def correct(
    run: RunArgument,
    texts: Annotated[
        list[str] | None, typer.Argument(metavar="[TEXT|FILE|-]...", help="Text, a file of lines, or - for a pipe.")
    ] = None,
    also: Annotated[list[Path] | None, typer.Option("--with", metavar="RUN", help="A run to mix with; repeat.")] = None,
    mix: Annotated[str | None, typer.Option(help="Shares of RUN and the others, as 0.3,0.7; by default even.")] = None,
    noise: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A noise model; with --tune, to be written.")
    ] = None,
    tune: Annotated[list[Path] | None, typer.Option(metavar="TSV", help="Learn from wrong TAB right; repeat.")] = None,
    held_out: Annotated[
        list[Path] | None,
        typer.Option(metavar="TSV", help="With --tune: other pairs, to choose weight and caution on; repeat."),
    ] = None,
    confusions: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Confusion sets, lines such as 未,末; repeat.")
    ] = None,
    pairs: Annotated[list[Path] | None, typer.Option(metavar="TSV", help="Measure on wrong TAB right.")] = None,
    garble: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measure on sentences of a text with one made mistake each.")
    ] = None,
    number: Annotated[int, typer.Option(help="How many readings of each line to show.")] = 1,
    weight: Annotated[float | None, typer.Option(help="Of log P beside the noise; by default the noise's.")] = None,
    caution: Annotated[float | None, typer.Option(help="Nats that each change must win more.")] = None,
    alarms: Annotated[float, typer.Option(help="With --held-out: the most false alarms to allow.")] = 0.1,
    chain: Annotated[str, typer.Option(help="informed, gibbs or metropolis.")] = "informed",
    restarts: Annotated[int, typer.Option(help="Chains that are shaken first.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Of pairs or made mistakes, take so many.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed, the same result.")] = 1,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Correct texts: the likeliest that may have been meant, by a language model and a model of mistakes."""
    _check_options(texts, tune, held_out, noise, pairs, garble)
    _check_numbers(chain, restarts, number, limit, alarms)
    if tune and weight is not None and held_out:
        raise UserError("--weight and --held-out, which chooses it; leave out one of them")
    runs = [load_run(one, device, trust) for one in [run, *(also or [])]]
    corrector = _corrector(runs, mix, None if tune else noise, confusions, chain, restarts)
    if weight is not None or caution is not None:
        corrector.noise = corrector.noise.using(weight=_weight(weight), caution=caution)
    if tune:
        _tune(corrector, tune, held_out or [], alarms, limit, noise, as_json)
    elif pairs or garble:
        _measure(corrector, pairs or [], garble, limit, seed, as_json)
    else:
        _correct(corrector, texts or [], number, seed, as_json)


def _check_options(texts: Any, tune: Any, held_out: Any, noise: Any, pairs: Any, garble: Any) -> None:
    given = {"TEXT": texts, "--tune": tune, "--pairs": pairs, "--garble": garble}
    asked = [name for name, value in given.items() if value]
    if len(asked) != 1:
        what = " and ".join(asked) or "nothing to correct"
        raise UserError(f"{what}; allowed: one of a text, --tune, --pairs or --garble")
    if tune and noise is None:
        raise UserError("--tune without --noise; say where to write what is learnt: --noise noise.json")
    if held_out and not tune:
        raise UserError("--held-out without --tune; it is for choosing what --tune writes")


def _check_numbers(chain: str, restarts: int, number: int, limit: int | None, alarms: float) -> None:
    from foresay.decode.correct.chain import KINDS

    if chain not in KINDS:
        raise UserError(f"--chain {chain}; allowed: {', '.join(KINDS)}")
    if restarts < 0:
        raise UserError(f"--restarts {restarts}; allowed: 0 or more")
    if number < 1 or (limit is not None and limit < 1):
        name, value = ("--number", number) if number < 1 else ("--limit", limit)
        raise UserError(f"{name} {value}; allowed: 1 or more")
    if not 0 <= alarms <= 1:
        raise UserError(f"--alarms {alarms}; allowed: a share, 0 to 1")


def _weight(weight: float | None) -> float | None:
    if weight is not None and not 0 < weight < 100:
        raise UserError(f"--weight {weight}; allowed: above 0, and below 100")
    return weight


def _corrector(
    runs: list[Any], mix: str | None, noise: Path | None, confusions: list[Path] | None, chain: str, restarts: int
) -> Corrector:
    from foresay.decode.correct.chain import Annealing
    from foresay.decode.correct.corrector import Corrector
    from foresay.decode.correct.listed import Listed
    from foresay.decode.correct.noise import Noise
    from foresay.decode.correct.saved import read_noise
    from foresay.decode.correct.scorer import Scorer
    from foresay.decode.correct.usual import default_noise

    shares = None if mix is None else _shares(mix)
    own: Noise | None = None if noise is None else read_noise(noise)
    if confusions and own is not None:
        raise UserError("--confusions and a --noise that holds its sets; give --confusions where it is tuned")
    if confusions:
        usual = default_noise(Scorer(runs, shares))
        sets = [Listed(str(path)) for path in confusions]
        joined = sets[0] if len(sets) == 1 else Listed([line for one in sets for line in one.lines])
        own = Noise([*usual.confusions, joined], usual.rates)
    return Corrector(runs, own, weights=shares, annealing=Annealing(chain, restarts=restarts))


def _shares(mix: str) -> list[float]:
    try:
        return [float(share) for share in mix.split(",")]
    except ValueError:
        raise UserError(f"--mix {mix}; allowed: numbers that sum to 1, as 0.3,0.7") from None


def _tune(
    corrector: Corrector, tune: list[Path], held_out: list[Path], alarms: float, limit: int | None, noise: Path | None,
    as_json: bool,
) -> None:  # fmt: skip
    import random

    from foresay.decode.correct.pairs import read_pairs
    from foresay.decode.correct.saved import as_json as spelt
    from foresay.train.aside import write_file
    from foresay.train.progress import watch_for

    assert noise is not None
    learnt, others = read_pairs(tune), read_pairs(held_out)
    if not noise.absolute().parent.is_dir():
        raise UserError(f"--noise {noise}, but {noise.absolute().parent} is no folder; make it, or give another place")
    caution = corrector.noise.caution
    corrector.learn(learnt)
    corrector.noise = corrector.noise.using(caution=caution)
    tried: list[dict[str, Any]] = []
    if others:
        some = random.Random(1).sample(others, min(limit or len(others), len(others)))
        watch = watch_for()
        try:
            with watch.stage("choosing weight and caution") as tell:
                tried = corrector.choose(some, most_alarms=alarms, tell=tell)
        finally:
            watch.close()
    kept, unit = corrector.saved_noise()
    write_file(noise, (spelt(kept, unit) + "\n").encode())
    found = {"noise": str(noise), "pairs": len(learnt), "unit": unit, "weight": kept.weight, "caution": kept.caution}
    if as_json:
        show_json(found | {"rates": vars(kept.rates), "shares": kept.shares, "tried": tried})
        return
    show("  ".join(f"{name} {100 * share:.1f} %" for name, share in kept.shares.items()))
    for one in tried:
        f1, rate = one["correction"]["f1"], one["false_alarm_rate"]
        show(f"weight {one['weight']:g}  caution {one['caution']:g}  F1 {f1:.3f}  false alarms {rate:.3f}")
    say(f"{noise} is written: weight {kept.weight:g}, caution {kept.caution:g}, from {len(learnt):,} pairs")


def _measure(
    corrector: Corrector, pairs: list[Path], garble: Path | None, limit: int | None, seed: int, as_json: bool
) -> None:
    import time

    from foresay.decode.correct.garble import garble as made
    from foresay.decode.correct.garble import sentences
    from foresay.decode.correct.measure import measure
    from foresay.decode.correct.pairs import read_pairs
    from foresay.train.progress import watch_for

    if garble is not None:
        if not garble.is_file():
            raise UserError(f"--garble {garble} is no file; give a file of text")
        given = made(sentences(read_lines([str(garble)])), limit or MADE, seed)
    else:
        given = read_pairs(pairs)[:limit]
    judged, watch, began = [], watch_for(), time.perf_counter()
    try:
        with watch.stage("correcting") as tell:
            for done, pair in enumerate(given, 1):
                judged.append(corrector.judge(pair, seed))
                tell(done / len(given))
    finally:
        watch.close()
    found: dict[str, Any] = measure(judged) | {"seconds_a_sentence": (time.perf_counter() - began) / len(given)}
    if as_json:
        show_json(found)
        return
    show(f"sentences    {found['sentences']:,}, of them wrong {found['wrong']:,}, changed {found['changed']:,}")
    for name in ("detection", "correction", "changes"):
        own = found[name]
        numbers = f"precision {own['precision']:.4f}  recall {own['recall']:.4f}  F1 {own['f1']:.4f}"
        show(f"{name:<12} {numbers}  ({own['hits']:,} right)")
    if found["false_alarm_rate"] is not None:
        show(f"false alarms {found['false_alarms']:,}, {100 * found['false_alarm_rate']:.2f} % of the right sentences")
    show(f"time         {found['seconds_a_sentence']:.3f} s a sentence")
    show(f"counted      {found['rule']}")


def _correct(corrector: Corrector, texts: list[str], number: int, seed: int, as_json: bool) -> None:
    for line in read_lines(texts):
        found = corrector.correct(line, number=number, seed=seed)
        if as_json:
            show_json(found.as_dict(), compact=True)
            continue
        show(found.marked())
        show(f"  -log P {found.before:.2f} -> {found.after:.2f}")
        for one in found.best if number > 1 else ():
            show(f"  {one.nats:10.2f}  {one.posterior:10.2f}  {one.text}")
