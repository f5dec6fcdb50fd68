"""A picture of a beam search as a tree (SVG): every step a column, what went on, what was dropped, what ended.

A box has the symbol and S, the sum of log P up to it. Boxes with a full line went on; those with a broken line were
the best of what was dropped; green ones ended and joined the finished list, yellow ones were cut at the greatest length
and joined it too: with alpha these have their score, S / L^alpha, as well. Groups have a stripe of their own colour.
The way of the best sequence is bold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

import torch

from foresay.decode.beam import Beam
from foresay.decode.beams import Trail
from foresay.decode.search import Found
from foresay.study.visible import visible
from foresay.text.tokens import STOP

WIDE, HIGH, GAP, ROW, TOP = 118, 24, 56, 32, 68  # pixels: a box, between columns, from row to row, above the first
LETTER = 8  # of the heading
DROPPED = 3  # of those that did not go on, so many are shown at every step
STEPS = 40
KEPT, LOST, ENDED, CUT, INK, PALE = "#ffffff", "#f4f4f4", "#d9efdc", "#fdf3cf", "#222222", "#9a9a9a"
STRIPES = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377")


@dataclass
class Box:
    """A candidate: its column, its symbol and S, its parent's place among those that went on before."""

    step: int
    parent: int
    id: int
    total: float
    kind: str  # kept, dropped, ended, cut
    slot: int = -1  # its place among those that went on
    row: int = 0
    score: float | None = None  # of one that is finished


def boxes_of(trail: Trail) -> list[Box]:
    """What is drawn of each step, best first."""
    found: list[Box] = []
    before: list[float] = [0.0]
    for step, (looked, kept, ends) in enumerate(trail.steps[:STEPS]):
        own: list[Box] = []
        for slot, total in enumerate(kept.totals[0].tolist()):
            if total > -torch.inf:
                own.append(Box(step, int(kept.parents[0, slot]), int(kept.ids[0, slot]), total, "kept", slot))
        taken = {(box.parent, box.id) for box in own}
        rest = zip(*(each[0].tolist() for each in (looked.parents, looked.ids, looked.totals)), strict=True)
        others = [Box(step, p, id, total, "dropped") for p, id, total in rest if total > -torch.inf]
        others = [box for box in others if (box.parent, box.id) not in taken]
        own += sorted(others, key=lambda box: -box.total)[:DROPPED]
        stops = ends.logs[0].tolist()
        for slot, score in enumerate(ends.scores[0].tolist()):
            if score > -torch.inf:
                total = (before[slot] if step else 0.0) + stops[slot]
                own.append(Box(step, slot, STOP, total, "ended", score=score))
        own.sort(key=lambda box: -box.total)
        for row, box in enumerate(own):
            box.row = row
        found += own
        before = kept.totals[0].tolist()
    return found


def best_way(boxes: Sequence[Box], best: Found) -> set[int]:
    """The boxes of the best sequence, followed back from its last symbol."""
    symbols = [*best.ids, *([STOP] if best.finished else [])][:STEPS]
    kept = {(box.step, box.slot): number for number, box in enumerate(boxes) if box.kind == "kept"}
    for number, box in enumerate(boxes):
        if box.step + 1 != len(symbols) or box.kind == "dropped":
            continue
        way = [number]
        while boxes[way[-1]].step:
            way.append(kept[boxes[way[-1]].step - 1, boxes[way[-1]].parent])
        if [boxes[one].id for one in reversed(way)] == symbols:
            return set(way)
    return set()


def mark_cut(boxes: list[Box], length: int, alpha: float) -> None:
    """Those that were live when the greatest length was reached are finished, too."""
    for box in boxes:
        if box.kind == "kept" and box.step + 1 == length:
            box.kind, box.score = "cut", box.total / length**alpha


def draw(
    trail: Trail, best: Found, pieces: Callable[[Sequence[int]], list[str]], prompt: str, how: Beam, length: int
) -> str:
    """The picture as SVG, of a search for at most `length` symbols."""
    boxes = boxes_of(trail)
    way = best_way(boxes, best)
    mark_cut(boxes, length, how.alpha)
    each = len(trail.steps[0][1].ids[0]) // how.groups if trail.steps else 1
    rows = max((box.row for box in boxes), default=0) + 1
    steps = max((box.step for box in boxes), default=0) + 1
    told = legend(trail, how)
    wide = 40 + LETTER * max(map(len, told))
    width, height = max(40 + (steps + 1) * (WIDE + GAP), wide), TOP + rows * ROW + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    parts += [
        f'<text x="20" y="{24 + 18 * n}" font-size="14" fill="{INK}">{line}</text>' for n, line in enumerate(told)
    ]
    parts += _box(20, TOP, prompt or "<start>", "", KEPT, INK, bold=True)
    places = {(box.step, box.slot): box for box in boxes if box.slot >= 0}
    for number, box in enumerate(boxes):
        above = places.get((box.step - 1, box.parent))
        parts.append(_edge(box, above, bold=number in way))
    for number, box in enumerate(boxes):
        fill = {"kept": KEPT, "dropped": LOST, "ended": ENDED, "cut": CUT}[box.kind]
        ink = PALE if box.kind == "dropped" else INK
        label = "end" if box.id == STOP else visible(pieces([box.id])[0])
        x, y = _place(box)
        figure = f"{box.total:.2f}" if box.score is None or not how.alpha else f"{box.total:.1f}→{box.score:.2f}"
        parts += _box(x, y, label, figure, fill, ink, bold=number in way, broken=box.kind == "dropped")
        slot = box.slot if box.slot >= 0 else box.parent if box.step else 0
        if how.groups > 1:
            colour = STRIPES[slot // max(each, 1) % len(STRIPES)]
            parts.append(f'<rect x="{x}" y="{y}" width="4" height="{HIGH}" fill="{colour}"/>')
    return "\n".join([*parts, "</svg>\n"])


def legend(trail: Trail, how: Beam) -> list[str]:
    """Lines that say what the picture has, and what it leaves out."""
    number = "the number is the sum of log P" + (f", then the score with alpha {how.alpha:g}" if how.alpha else "")
    left = f"; the first {STEPS} of {len(trail.steps)} steps" if len(trail.steps) > STEPS else ""
    return [
        f"Beam search: boxes went on, broken ones were dropped (the best {DROPPED} of a step),",
        f"green ones ended, yellow ones were cut; {number}{left}",
    ]


def _place(box: Box) -> tuple[int, int]:
    return 20 + (box.step + 1) * (WIDE + GAP), TOP + box.row * ROW


def _edge(box: Box, above: Box | None, *, bold: bool) -> str:
    x, y = _place(box)
    from_x, from_y = (20, TOP) if above is None else _place(above)
    begin, end, middle = from_x + WIDE, x, (from_x + WIDE + x) // 2
    a, b = from_y + HIGH // 2, y + HIGH // 2
    ink = PALE if box.kind == "dropped" else INK
    return (
        f'<path d="M{begin},{a} C{middle},{a} {middle},{b} {end},{b}" fill="none" stroke="{ink}" '
        f'stroke-width="{2.2 if bold else 0.8}"/>'
    )


def _box(
    x: int, y: int, label: str, figure: str, fill: str, ink: str, *, bold: bool = False, broken: bool = False
) -> list[str]:
    dash = ' stroke-dasharray="4 3"' if broken else ""
    weight = ' font-weight="bold"' if bold else ""
    short = label if len(label) <= 10 else label[:9] + "…"
    return [
        f'<rect x="{x}" y="{y}" width="{WIDE}" height="{HIGH}" rx="4" fill="{fill}" stroke="{ink}" '
        f'stroke-width="{1.8 if bold else 0.9}"{dash}><title>{escape(label)} {figure}</title></rect>',
        f'<text x="{x + 8}" y="{y + 16}" fill="{ink}"{weight}>{escape(short)}</text>',
        f'<text x="{x + WIDE - 6}" y="{y + 16}" fill="{ink}" text-anchor="end" font-size="11">{figure}</text>',
    ]
