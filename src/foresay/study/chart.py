"""A chart of loss over steps in characters: a line in braille, two dots wide and four high a cell, and marks on it.

The dots of a cell are bits of its character, U+2800 + bits:

    1 8
    2 10
    4 20
    40 80     (hexadecimal)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

Point = tuple[float, float]  # step, loss
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
LABELS = 9  # columns for the numbers on the left
MARK, BEST = "●", "★"


@dataclass(frozen=True)
class Box:
    """What the chart shows: from step `left` to `right`, from loss `low` to `high`, in cells."""

    left: float
    right: float
    low: float
    high: float
    columns: int
    rows: int

    def across(self, step: float, dots: int) -> int:
        """The column of a step, `dots` to a cell."""
        share = (step - self.left) / (self.right - self.left) if self.right > self.left else 0.0
        return min(int(share * self.columns * dots), self.columns * dots - 1)

    def down(self, loss: float, dots: int) -> int:
        """The row of a loss from the top; what is beyond the edge lies on it."""
        share = (self.high - loss) / (self.high - self.low)
        return min(max(int(share * self.rows * dots), 0), self.rows * dots - 1)


def box_of(line: Sequence[Point], marks: Sequence[Point], columns: int, rows: int) -> Box:
    """Holds all points but the first of a long line: they lie so high that nothing else could be seen."""
    points = [*line, *marks]
    seen = [loss for _, loss in [*line[len(line) // 20 :], *marks]]
    low, high = min(seen), max(seen)
    edge = 0.02 * (high - low) or max(abs(high), 1.0) * 0.05
    steps = [step for step, _ in points]
    return Box(min(steps), max(steps), low - edge, high + edge, columns, rows)


def braille(line: Sequence[Point], box: Box) -> list[list[int]]:
    """The cells of a line, rows of bits: the mean of each column of dots, joined to its neighbours."""
    sums: dict[int, list[float]] = {}
    for step, loss in line:
        sums.setdefault(box.across(step, 2), []).append(loss)
    cells = [[0] * box.columns for _ in range(box.rows)]
    before: tuple[int, int] | None = None
    for x, losses in sorted(sums.items()):
        y = box.down(sum(losses) / len(losses), 4)
        for column, row in _joined(before or (x, y), (x, y)):
            cells[row // 4][column // 2] |= DOTS[row % 4][column % 2]
        before = x, y
    return cells


def _joined(one: tuple[int, int], other: tuple[int, int]) -> list[tuple[int, int]]:
    """The dots from one to the other, both included."""
    (x0, y0), (x1, y1) = one, other
    length = max(abs(x1 - x0), abs(y1 - y0), 1)
    return [(round(x0 + (x1 - x0) * i / length), round(y0 + (y1 - y0) * i / length)) for i in range(length + 1)]


def chart(line: Sequence[Point], marks: Sequence[Point], width: int, rows: int) -> list[list[tuple[str, str]]]:
    """Lines of (text, what it is): `axis`, `line`, `mark`; the lowest mark is a star."""
    box = box_of(line, marks, max(width - LABELS, 10), rows)
    cells = braille(line, box)
    marked = {(box.down(loss, 1), box.across(step, 1)): MARK for step, loss in marks}
    if marks:
        step, loss = min(marks, key=lambda mark: mark[1])
        marked[box.down(loss, 1), box.across(step, 1)] = BEST
    drawn = []
    for row in range(rows):
        loss = box.high - (row + 0.5) * (box.high - box.low) / rows
        label = f"{loss:{LABELS - 2}.3f} ┤" if (rows - 1 - row) % 4 == 0 else f"{'│':>{LABELS}}"
        pieces = [(label, "axis")]
        for column, bits in enumerate(cells[row]):
            mark = marked.get((row, column))
            pieces.append((mark, "mark") if mark else (chr(0x2800 + bits) if bits else " ", "line"))
        runs = groupby(pieces, key=lambda piece: piece[1])
        drawn.append([("".join(text for text, _ in run), kind) for kind, run in runs])  # few colours to send
    left, right = f"{box.left:,.0f}", f"{box.right:,.0f}"
    drawn.append([(" " * (LABELS - 1) + "└" + "─" * box.columns, "axis")])
    drawn.append([(" " * LABELS + left + right.rjust(box.columns - len(left)), "axis")])
    return drawn
