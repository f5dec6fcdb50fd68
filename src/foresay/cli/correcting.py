"""The command that corrects texts, learns how they go wrong, and measures itself: `correct`."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from foresay.cli.app import Device, Force, Json, RunArgument, Trust, app, check_free, load_run, say, show, show_json
from foresay.cli.correcting_pairs import learn, measure
from foresay.cli.lines import placed_lines
from foresay.cli.writing import refuse
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.decode.correct.corrector import Corrector
    from foresay.run import Run

ALARMS = 0.1
HeldOut = Annotated[
    list[Path] | None,
    typer.Option(metavar="TSV", help="With --tune: other pairs, to choose weight and caution on; repeat."),
]
Garble = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Measure on sentences of a text with one made mistake each.")
]


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
    held_out: HeldOut = None,
    confusions: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Confusion sets, lines such as 未,末; repeat.")
    ] = None,
    pairs: Annotated[list[Path] | None, typer.Option(metavar="TSV", help="Measure on wrong TAB right.")] = None,
    garble: Garble = None,
    number: Annotated[int, typer.Option(help="How many readings of each line to show.")] = 1,
    weight: Annotated[float | None, typer.Option(help="Of log P beside the noise; by default the noise's.")] = None,
    caution: Annotated[float | None, typer.Option(help="Nats that each change must win more.")] = None,
    alarms: Annotated[float, typer.Option(help="With --held-out: the most false alarms to allow.")] = ALARMS,
    chain: Annotated[str, typer.Option(help="informed, gibbs or metropolis.")] = "informed",
    restarts: Annotated[int, typer.Option(help="Chains that are shaken first.")] = 1,
    limit: Annotated[int | None, typer.Option(help="Of pairs or made mistakes, take so many.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed, the same result.")] = 1,
    force: Force = False,
    as_json: Json = False,
    device: Device = None,
    trust: Trust = False,
) -> None:
    """Correct texts: the likeliest that may have been meant, by a language model and a model of mistakes."""
    given = {"TEXT": texts, "--tune": tune, "--pairs": pairs, "--garble": garble}
    _check_numbers(chain, restarts, number, limit, alarms, weight, caution)
    what = _what([name for name, value in given.items() if value])
    others: dict[str, object] = {
        "number": number != 1,
        "limit": limit,
        "chain": chain != "informed",
        "restarts": restarts != 1,
    }
    _check_options(what, others | {"alarms": alarms != ALARMS}, held_out)
    if tune:
        _check_place(noise, [*tune, *(held_out or []), *(confusions or [])], force)
        chosen: dict[str, object] = {"weight": weight is not None, "caution": caution is not None}
        refuse(chosen if held_out else {}, "--held-out, which chooses it", "tuning without: leave out one of them")
    runs = [load_run(one, device, trust) for one in [run, *(also or [])]]
    corrector = _corrector(runs, mix, None if tune else noise, confusions, chain, restarts)
    if weight is not None or caution is not None:
        corrector.noise = corrector.noise.using(weight=weight, caution=caution)
    if tune:
        assert noise is not None
        learn(corrector, tune, held_out or [], alarms, limit, noise, as_json)
    elif pairs or garble:
        measure(corrector, pairs or [], garble, limit, seed, as_json)
    else:
        _correct(corrector, texts or [], number, seed, as_json)


def _what(asked: list[str]) -> str:
    """The one thing to do."""
    if len(asked) != 1:
        found = " and ".join(asked) or "nothing to correct"
        raise UserError(f"{found}; allowed: one of a text, --tune, --pairs or --garble")
    return asked[0]


def _check_options(what: str, given: dict[str, object], held_out: list[Path] | None) -> None:
    """Refuses options that mean nothing for what is to be done."""
    if held_out and what != "--tune":
        raise UserError("--held-out without --tune; it is for choosing what --tune writes")
    meant = {
        "TEXT": {"number", "chain", "restarts"},
        "--tune": {"limit", "chain", "restarts", "alarms"} if held_out else set(),
    }.get(what, {"limit", "chain", "restarts"})
    purpose = {"number": "a text", "limit": "--pairs, --garble and --held-out", "alarms": "--held-out"}
    for name in (name for name in given if name not in meant):
        refuse({name: given[name]}, what, purpose.get(name, "correcting: a text, --pairs, --garble or --held-out"))


def _check_place(noise: Path | None, read: list[Path], force: bool) -> None:
    """Refuses, before the work, a place that cannot be written to, or where something else would be lost."""
    if noise is None:
        raise UserError("--tune without --noise; say where to write what is learnt: --noise noise.json")
    folder = noise.absolute().parent
    if noise.is_dir():
        raise UserError(f"--noise {noise} is a folder; give a file, such as {noise / 'noise.json'}")
    if not folder.is_dir():
        raise UserError(f"--noise {noise}, but {folder} is no folder; make it, or give another place")
    if not os.access(folder, os.W_OK):
        raise UserError(f"--noise {noise}, but nothing can be written to {folder}; give another place")
    if noise.resolve() in [path.resolve() for path in read]:
        raise UserError(
            f"--noise {noise} is a file that is learnt from; give another place to write to: --noise noise.json"
        )
    check_free(noise, force, "--noise")


def _check_numbers(
    chain: str, restarts: int, number: int, limit: int | None, alarms: float, weight: float | None,
    caution: float | None,
) -> None:  # fmt: skip
    from foresay.decode.correct.chain import KINDS
    from foresay.decode.correct.noise import BOLDEST, HEAVIEST

    if chain not in KINDS:
        raise UserError(f"--chain {chain}; allowed: {', '.join(KINDS)}")
    if restarts < 0:
        raise UserError(f"--restarts {restarts}; allowed: 0 or more")
    if number < 1 or (limit is not None and limit < 1):
        name, value = ("--number", number) if number < 1 else ("--limit", limit)
        raise UserError(f"{name} {value}; allowed: 1 or more")
    if not 0 <= alarms <= 1:
        raise UserError(f"--alarms {alarms}; allowed: a share, 0 to 1")
    if weight is not None and not 0 < weight < HEAVIEST:
        raise UserError(f"--weight {weight}; allowed: above 0, and below {HEAVIEST:g}")
    if caution is not None and not -BOLDEST <= caution <= BOLDEST:
        raise UserError(f"--caution {caution}; allowed: {-BOLDEST:g} to {BOLDEST:g} nats")


def _corrector(
    runs: list[Run], mix: str | None, noise: Path | None, confusions: list[Path] | None, chain: str, restarts: int
) -> Corrector:
    from foresay.decode.correct.chain import Annealing
    from foresay.decode.correct.corrector import Corrector
    from foresay.decode.correct.listed import Listed
    from foresay.decode.correct.noise import Noise
    from foresay.decode.correct.saved import read_noise
    from foresay.decode.correct.scorer import Scorer

    for one in runs:
        if one.model.conditional or hasattr(one, "of_no_text"):
            one.correct([])  # says why not
    from foresay.decode.correct.usual import default_noise

    shares = None if mix is None else _shares(mix, len(runs))
    own: Noise | None = None if noise is None else read_noise(noise)
    if confusions and own is not None:
        raise UserError("--confusions and a --noise that holds its sets; give --confusions where it is tuned")
    if confusions:
        usual = default_noise(Scorer(runs, shares))
        sets = [Listed(str(path)) for path in confusions]
        joined = sets[0] if len(sets) == 1 else Listed([line for one in sets for line in one.lines])
        own = Noise([*usual.confusions, joined], usual.rates)
    return Corrector(runs, own, weights=shares, annealing=Annealing(chain, restarts=restarts))


def _shares(mix: str, runs: int) -> list[float]:
    try:
        shares = [float(share) for share in mix.split(",")]
    except ValueError:
        shares = [math.nan]
    if not all(map(math.isfinite, shares)):
        raise UserError(f"--mix {mix}; allowed: numbers that sum to 1, as 0.3,0.7") from None
    if len(shares) != runs:
        what = "is for several runs: give --with RUN" if runs == 1 else f"with {runs} runs; allowed: a share for each"
        raise UserError(f"--mix {mix} {what}, or leave it out")
    return shares


def _correct(corrector: Corrector, texts: list[str], number: int, seed: int, as_json: bool) -> None:
    """Line by line; a line of a file or a pipe that cannot be corrected stays as it is, so that none is lost."""
    for place, line in placed_lines(texts):
        why_not = None if place is None else corrector.unfit(line)
        if why_not is not None:
            if line.strip():
                say(f"{place} stays as it is: {why_not}")
            unchanged = {"given": line, "text": line, "before": None, "after": None, "changes": [], "best": []}
            show_json(unchanged | {"note": why_not}, compact=True) if as_json else show(line)
            continue
        found = corrector.correct(line, number=number, seed=seed)
        if as_json:
            show_json(found.as_dict(), compact=True)
            continue
        show(found.marked())
        show(f"  -log P {found.before:.2f} -> {found.after:.2f}")
        for one in found.best if number > 1 else ():
            show(f"  {one.nats:10.2f}  {one.posterior:10.2f}  {one.text}")
