"""What the commands do with runs on recordings: `predict`, `score`, `eval` and `look --sound`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from foresay.cli.app import say, show, show_json, told
from foresay.cli.documents import blocks_of
from foresay.cli.lines import placed_lines
from foresay.errors import UserError

if TYPE_CHECKING:
    from foresay.train.heard import SpeechFigures

Beam = Annotated[int | None, typer.Option(help="Of recordings: texts kept at each step; none: the best path.")]
Model = Annotated[
    str | None,
    typer.Option("--lm", metavar="RUN[=WEIGHT]", help="Of recordings: a language model beside, by default 0.5 of it."),
]
Bonus = Annotated[float, typer.Option(help="Of recordings: added to the score for every symbol.")]


def searched(beam: int | None, lm: str | None, bonus: float, device: str | None, trust: bool) -> dict[str, Any]:
    """The options of a search as Python takes them; nothing where none is given."""
    given: dict[str, Any] = {} if beam is None else {"beam": beam}
    given |= {"bonus": bonus} if bonus else {}
    if lm is None:
        return given
    from foresay.loading import load

    place, sign, weight = (lm, "", "") if "=" not in lm or Path(lm).exists() else lm.rpartition("=")
    try:
        share = {"weight": float(weight)} if sign else {}
    except ValueError:
        share = {"weight": math.nan}
    if not all(0 <= value < math.inf for value in share.values()):
        raise UserError(f"--lm {lm}; allowed: a run, or a run and its weight, 0 or more, such as runs/lm=0.3")
    with told():
        return given | share | {"lm": load(place, device, trust=trust)}


def refuse_search(run: Any, how: dict[str, Any]) -> None:
    """Refuses the options of a search where no recording is written down."""
    if how and not hasattr(run, "recognise"):
        raise UserError(
            f"--{next(iter(how))} is for runs that write what is said in recordings; {run.folder} is of task "
            f"{run.recipe.task.part_name}: leave it out"
        )


def recognise_documents(run: Any, files: Sequence[str], how: dict[str, Any], *, as_json: bool) -> None:
    """What is said in each recording."""
    for some in blocks_of(run, files):
        found = run.recognise([frames for _, frames in some], **how)
        for (place, _), one in zip(some, found, strict=True):
            if as_json:
                show_json({"file": place, **one.as_dict()}, compact=True)
            else:
                show(f"{one.text}\t{place}")


def score_recordings(run: Any, texts: Sequence[str], *, as_json: bool) -> None:
    """-log P of each text given its recording."""
    none = True
    for place, line in placed_lines(texts):
        file, tab, text = line.partition("\t")
        if not tab or not file.strip() or "\t" in text:
            where = "" if place is None else f"{place}: "
            raise UserError(
                f"{where}{line[:60]!r} is no pair; this run scores a text given its recording: FILE, a tab, TEXT"
            )
        nats, none = 0.0 - run.log_prob(file, text), False
        if as_json:
            show_json({"file": file, "text": text, "nats": nats}, compact=True)
        else:
            show(f"{nats:.4f}\t{file}\t{text}")
    if none:
        raise UserError("no pair is given; give FILE, a tab, TEXT, a file of such lines, or - for a pipe")


def show_heard(found: SpeechFigures, *, as_json: bool) -> None:
    """The figures of a recogniser."""
    if as_json:
        show_json(found.as_dict())
        return
    show("\n".join(f"{name:<17}  {value}" for name, value in _lines(found)))


def _lines(found: SpeechFigures) -> Iterator[tuple[str, str]]:
    for name, rate, (low, high) in (
        ("symbol error rate", found.error_rate, found.error_interval),
        ("exact match", found.exact, found.exact_interval),
    ):
        yield name, f"{100 * rate:.2f} %  (95 % interval {100 * low:.2f} – {100 * high:.2f})"
    yield "loss", f"{found.loss:.4f} nats per symbol"
    yield "recordings", f"{found.recordings:,} of {found.of:,}, with {found.symbols:,} symbols"


def look_at_sound(run: Any, folder: Path, sound: str, path: Path | None, *, as_json: bool) -> None:
    """The spectrogram of a recording, and beneath it what is heard when."""
    from foresay.study import heard

    if not hasattr(run, "posteriors"):
        raise UserError(
            f"{folder} writes down no recordings; allowed: a run of task recogniser: foresay train speech-tones"
        )
    found = heard.hear(run, sound)
    if path is not None:
        heard.draw(found, path)
        say(f"{path} is written")
    if as_json:
        show_json(found.as_dict())
        return
    for symbol, begin, end, p in found.spans():
        show(f"{begin:.2f}\t{end:.2f}\t{symbol}\t{p:.3f}")
