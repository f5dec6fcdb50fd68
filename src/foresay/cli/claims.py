"""The lectures' claims as experiments: `claims`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from foresay.cli.app import Json, app, say, show, show_json
from foresay.errors import UserError


@app.command()
def claims(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="The claim to run; without it, a list.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small: a minute on two cores.")] = False,
    report: Annotated[bool, typer.Option("--report", help="One HTML page of what was run.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed, the same numbers on one machine.")] = 1,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="By default runs/claims.")] = None,
    as_json: Json = False,
) -> None:
    """Measure what the lectures claim: a number with its interval, a picture, and whether it holds."""
    from foresay.study.claims import claim, runner
    from foresay.study.claims import report as page

    if quick and name is None:
        first = claim.claims()[0].name
        raise UserError(f"--quick is of one claim, and none was named; name one: foresay claims {first} --quick")
    if report:
        if name is not None:
            raise UserError(f"--report is of all claims, and {name} was given; leave out one of them")
        show(str(page.write_report(out)))
    elif name is None:
        known = claim.claims()
        if as_json:
            show_json([{"name": c.name, "lecture": c.lecture, "sentence": c.sentence, "rule": c.rule} for c in known])
        else:
            show("\n".join(f"{c.name}: {c.sentence} (lecture {c.lecture})" for c in known))
    else:
        found = runner.run_claim(name, quick=quick, seed=seed, out=out)
        show_json(found) if as_json else show(runner.spelt(found))
        if "picture" in found:
            say(f"the picture: {found['picture']}")
