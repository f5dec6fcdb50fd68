"""A chart in characters: every dot where its point is."""

from __future__ import annotations

from foresay.study.chart import BEST, DOTS, LABELS, MARK, Box, box_of, braille, chart


def dots(cells: list[list[int]]) -> set[tuple[int, int]]:
    """(column, row) of every dot."""
    return {
        (2 * column + x, 4 * row + y)
        for row, line in enumerate(cells)
        for column, bits in enumerate(line)
        for y in range(4)
        for x in range(2)
        if bits & DOTS[y][x]
    }


def test_the_bits_are_unicodes() -> None:
    """The names of the characters say which dots are raised: 1 to 3 and 7 on the left, 4 to 6 and 8 on the right."""
    import unicodedata

    numbers = (("1", "4"), ("2", "5"), ("3", "6"), ("7", "8"))
    for row, pair in zip(DOTS, numbers, strict=True):
        for bit, number in zip(row, pair, strict=True):
            assert unicodedata.name(chr(0x2800 + bit)) == f"BRAILLE PATTERN DOTS-{number}"


def test_a_straight_line_is_the_diagonal() -> None:
    box = Box(0, 8, 0.0, 8.0, columns=4, rows=2)
    line = [(step + 0.5, 8.0 - step - 0.5) for step in range(8)]
    assert dots(braille(line, box)) == {(i, i) for i in range(8)}


def test_neighbours_are_joined_and_columns_averaged() -> None:
    box = Box(0, 4, 0.0, 8.0, columns=2, rows=2)
    assert dots(braille([(0.1, 7.5), (2.1, 3.5)], box)) == {(0, 0), (0, 1), (1, 2), (2, 3), (2, 4)}
    assert dots(braille([(1.1, 2.0), (1.2, 4.0), (1.3, 6.0)], box)) == {(1, 4)}  # their mean
    assert dots(braille([(0.0, 99.0), (0.1, 99.0)], box)) == {(0, 0)}  # beyond the edge: on it
    assert braille([], box) == [[0, 0], [0, 0]]


def test_the_first_losses_of_a_long_line_do_not_flatten_the_rest() -> None:
    line = [(step, 9.0 if step < 4 else 2.0 - step / 1000) for step in range(100)]
    box = box_of(line, [(50, 2.2)], 20, 5)
    assert box.high < 2.3 and box.low < 1.902 and (box.left, box.right) == (0, 99)
    short = box_of(line[:10], [], 20, 5)
    assert short.high > 9.0


def test_a_level_line_and_a_single_point_can_be_drawn() -> None:
    for line in ([(1, 2.0)], [(1, 2.0), (9, 2.0)], [(1, 0.0)]):
        drawn = chart(line, [], 30, 4)
        assert any(text.strip(" ") and kind == "line" for row in drawn for text, kind in row)


def test_marks_labels_and_the_axis() -> None:
    line = [(step, 4.0 - step / 100) for step in range(0, 201)]
    drawn = chart(line, [(100, 3.5), (150, 2.5), (200, 3.0)], 60, 8)
    assert len(drawn) == 10 and all(len("".join(text for text, _ in row)) == 60 for row in drawn)
    plain = ["".join(text for text, _ in row) for row in drawn]
    found = {(y, x): text for y, row in enumerate(plain) for x, text in enumerate(row) if text in (MARK, BEST)}
    assert sorted(found.values()) == sorted([MARK, MARK, BEST])
    assert {text for row in drawn for text, kind in row if kind == "mark"} == {MARK, BEST}
    box = box_of(line, [(100, 3.5), (150, 2.5), (200, 3.0)], 60 - LABELS, 8)
    assert found[box.down(2.5, 1), LABELS + box.across(150, 1)] == BEST
    assert found[box.down(3.0, 1), LABELS + box.across(200, 1)] == MARK
    labels = [float(row[0][0].strip(" ┤│")) for row in drawn[:8] if "┤" in row[0][0]]
    assert (
        labels == sorted(labels, reverse=True)
        and len(labels) == 2
        and abs(labels[1] - (box.low + (box.high - box.low) / 16)) < 1e-3
    )
    assert drawn[-1][0][0].split() == ["0", "200"]
