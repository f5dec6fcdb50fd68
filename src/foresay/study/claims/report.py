"""One HTML page of all claims: a list of them with their verdicts, then of each sentence, rule, verdict, figures,
picture, and the command under it.

It shows what was run (OUT/NAME.json); of the others it says how. Pictures are inside, so that the page can be sent on.
"""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path
from typing import Any

from foresay.errors import UserError
from foresay.study.claims.claim import Claim, Figure, claims
from foresay.study.claims.runner import command, folder_of
from foresay.train.aside import write_file

STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; }
section { border-top: 1px solid #8884; margin-top: 2.5rem; padding-top: 1rem; }
h2 { margin: 0; } h2 small { font-weight: normal; opacity: .65; font-size: .6em; }
blockquote { margin: .6rem 0; font-size: 1.15em; border-left: 4px solid #1b6ca8; padding-left: .8rem; }
.verdict { display: inline-block; padding: .1rem .7rem; border-radius: 1rem; color: #fff; font-weight: 600; }
.holds { background: #2e8b57; }
.not { background: #d1495b; } .open { background: #8a6d1f; } .none { background: #6b6b6b; }
table { border-collapse: collapse; margin: .8rem 0; } td, th { padding: .2rem 1rem .2rem 0; text-align: left; }
td.number { font-variant-numeric: tabular-nums; } p.rule { opacity: .75; }
img { max-width: 100%; background: #fff; border-radius: 6px; }
pre { padding: .5rem .8rem; background: #8881; overflow-x: auto; }
"""
COLOURS = {"holds": "holds", "does not hold": "not", "not decided at this size": "open"}


def write_report(out: str | Path | None = None) -> Path:
    """Writes OUT/index.html and returns its path."""
    folder = folder_of(out)
    folder.mkdir(parents=True, exist_ok=True)
    known = claims()
    found = {claim.name: _read(folder / f"{claim.name}.json") for claim in known}
    body = "".join(_section(claim, found[claim.name], folder) for claim in known)
    done = sum(one is not None for one in found.values())
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>Claims of the lectures</title>'
        f"<style>{STYLE}</style><h1>Claims of the lectures</h1>"
        f"<p>{done} of {len(known)} measured. A verdict is what was measured, by the rule beside it.</p>"
        f"{_contents(known, found)}{body}</html>\n"
    )
    write_file(folder / "index.html", page.encode())
    return folder / "index.html"


def _read(path: Path) -> dict[str, Any] | None:
    if not path.exists():
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
        whole = all(key in found for key in ("verdict", "figures", "command", "seconds", "device", "date"))
    except (ValueError, TypeError):
        whole, found = False, None
    if not whole:
        raise UserError(f"{path} holds no result of a claim; remove it, or run the claim again")
    return found


def _contents(known: list[Claim], found: dict[str, dict[str, Any] | None]) -> str:
    """Every claim with its verdict, which leads to its section."""
    say, rows = html.escape, []
    for claim in known:
        measured = found[claim.name]
        verdict = _badge("not run" if measured is None else measured["verdict"])
        link = f'<a href="#{say(claim.name)}">{say(claim.name)}</a>'
        rows.append(f"<tr><td>{link}</td><td>{say(claim.lecture)}</td><td>{verdict}</td></tr>")
    head = "<tr><th>claim</th><th>lecture</th><th>verdict</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _badge(verdict: str) -> str:
    return f'<span class="verdict {COLOURS.get(verdict, "none")}">{html.escape(verdict)}</span>'


def _section(claim: Claim, found: dict[str, Any] | None, folder: Path) -> str:
    say = html.escape
    verdict = "not run" if found is None else found["verdict"]
    lines = [
        f'<section id="{say(claim.name)}"><h2>{say(claim.name)} <small>lecture {say(claim.lecture)}</small></h2>',
        f"<blockquote>{say(claim.sentence)}</blockquote>",
        f"<p>{_badge(verdict)}</p>",
        f'<p class="rule">Rule: {say(claim.rule)}</p>',
    ]
    if found is not None:
        lines += [_figures(found["figures"]), _picture(folder / f"{claim.name}.png", claim.name)]
        lines += [f"<p>{say(found['note'])}</p>"] if found.get("note") else []
        lines += [f"<p><small>{found['seconds']} s on {say(found['device'])}, {say(found['date'])}</small></p>"]
    again = command(claim.name, quick=True, seed=1) if found is None else found["command"]
    return "".join([*lines, f"<pre>{say(again)}</pre></section>"])


def _figures(figures: list[dict[str, Any]]) -> str:
    rows = [
        f'<tr><td>{html.escape(one["name"])}</td><td class="number">{html.escape(Figure(**one).spelt())}</td></tr>'
        for one in figures
    ]
    return f"<table>{''.join(rows)}</table>"


def _picture(path: Path, name: str) -> str:
    if not path.exists():
        return ""
    data = base64.b64encode(path.read_bytes()).decode()
    return f'<p><img alt="{html.escape(name)}: what was measured" src="data:image/png;base64,{data}"></p>'
