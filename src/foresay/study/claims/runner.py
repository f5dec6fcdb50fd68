"""Runs a claim and keeps what it found: OUT/NAME.json and OUT/NAME.png."""

from __future__ import annotations

import datetime
import json
import os
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from foresay import __version__
from foresay.errors import UserError
from foresay.study.claims.claim import Figure, find
from foresay.train.aside import write_file
from foresay.train.progress import Watch, watch_for, without_nan
from foresay.train.report import write_picture

OUT = Path("runs") / "claims"


def run_claim(
    name: str, *, quick: bool = False, seed: int = 1, out: str | Path | None = None, watch: Watch | None = None
) -> dict[str, Any]:
    """Runs one claim; what was found, as it stands in OUT/NAME.json."""
    claim, folder = find(name), folder_of(out)
    watch, began = watch if watch is not None else watch_for(), time.monotonic()
    try:
        with watch.stage(name) as tell:
            result = claim.run(quick, seed, tell)
    finally:
        watch.close()
    found = {
        "claim": name,
        "lecture": claim.lecture,
        "sentence": claim.sentence,
        "rule": claim.rule,
        "verdict": result.verdict,
        "note": result.note,
        "figures": [asdict(figure) for figure in result.figures],
        "command": command(name, quick, seed),
        "seconds": round(time.monotonic() - began, 1),
        "date": datetime.date.today().isoformat(),
        "device": result.details.get("device", "cpu"),
        "foresay": __version__,
        "details": result.details,
    }
    folder.mkdir(parents=True, exist_ok=True)
    if result.picture is not None:
        sign(result.picture, found["command"])
        write_picture(folder / f"{name}.png", result.picture)
        found["picture"] = str(folder / f"{name}.png")
    write_file(folder / f"{name}.json", (json.dumps(without_nan(found), indent=1, ensure_ascii=False) + "\n").encode())
    return found


def folder_of(out: str | Path | None) -> Path:
    """Where results go; a place that cannot be a folder is refused before the work."""
    folder = OUT if out is None else Path(out)
    there = next(place for place in (folder, *folder.absolute().parents) if os.path.lexists(place))
    if not there.is_dir():
        raise UserError(f"--out {folder}, but {there} is no folder; give another --out")
    return folder


def command(name: str, quick: bool, seed: int) -> str:
    """What repeats the run."""
    return f"foresay claims {name}" + (" --quick" if quick else "") + (f" --seed {seed}" if seed != 1 else "")


def sign(picture: Any, text: str) -> None:
    """The command, small, under the picture."""
    picture.text(0.995, 0.005, text, ha="right", va="bottom", fontsize=7.5, family="monospace", color="#777777")


def spelt(found: dict[str, Any]) -> str:
    """A result for people."""
    wide = max((len(figure["name"]) for figure in found["figures"]), default=0)
    lines = [f"lecture {found['lecture']}: {found['sentence']}", f"rule: {found['rule']}", ""]
    lines += [f"  {figure['name']:<{wide}}  {Figure(**figure).spelt()}" for figure in found["figures"]]
    lines += ["", f"verdict: {found['verdict']}" + (f"; {found['note']}" if found["note"] else "")]
    return "\n".join(lines)
