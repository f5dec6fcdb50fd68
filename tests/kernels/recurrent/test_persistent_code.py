"""The persistent kernel as text: it parses, spreads as it should, and every chunk of a product is covered once."""

import ast

import pytest

from foresay import parts
from foresay.kernels.recurrent.fuse import fuse
from foresay.kernels.recurrent.persistent_backwards import Backwards
from foresay.kernels.recurrent.persistent_forwards import Forwards
from foresay.kernels.recurrent.spread import SHARED, Shape, _held_backwards, _held_forwards, _spread, fits, pieces
from foresay.kernels.recurrent.triton_expressions import identifier

PROGRAMS = 132


def fused(name, size, **settings):
    cell = parts.make("cell", {"kind": name, **settings})
    cell.build(size, size)
    return fuse(cell.maths, training=cell.training)


@pytest.mark.parametrize("split", [False, True])
@pytest.mark.parametrize("units", [16, 37, 512, 650, 768, 1024, 2600])
def test_chunks_cover_all_units_once(units, split):
    shape = Shape(8, 8, 256)
    chunks = shape.chunks(units, split=split)
    ends = [begin + size for begin, size in chunks]
    assert [begin for begin, _ in chunks] == [0, *ends[:-1]]
    assert ends[-1] >= units > chunks[-1][0]
    assert all(size & (size - 1) == 0 and 16 <= size <= 256 for _, size in chunks)
    assert ends[-1] - units < (128 if split else 16)


def test_gates_go_by_fours():
    assert pieces(("i", "f", "g", "o")) == [("i", "f", "g", "o")]
    assert pieces(("f", "g", "o")) == [("f", "g", "o")]
    assert pieces(("z", "r")) == [("z",), ("r",)]
    assert pieces(tuple("abcde")) == [tuple("abcd"), ("e",)]


@pytest.mark.parametrize(("rows", "size"), [(32, 512), (64, 1024), (128, 650), (16, 768), (20, 650), (1, 64)])
@pytest.mark.parametrize("name", ["lstm", "gru", "elman", "slstm"])
def test_the_work_fits_on_the_chip(name, rows, size):
    step = fused(name, size)
    spread = _spread(step, rows, PROGRAMS)
    assert spread is not None
    forwards, backwards = spread
    assert -(-size // 16) * -(-rows // forwards.rows) <= PROGRAMS
    assert max(_held_forwards(step, forwards), _held_backwards(step, backwards)) <= SHARED
    for masked in (False, True):
        for writer, name in (
            (Forwards(step, forwards, masked=masked), "forwards"),
            (Backwards(step, backwards, masked=masked), "backwards"),
        ):
            (function,) = ast.parse("\n".join(writer.lines())).body
            assert isinstance(function, ast.FunctionDef) and function.name == name
            assert [a.arg for a in function.args.args][: len(writer.arguments())] == [
                identifier(a) for a in writer.arguments()
            ]


def test_what_does_not_fit_runs_as_a_loop():
    assert _spread(fused("lstm", 4096), 32, PROGRAMS) is None  # more units than programs
    assert _spread(fused("lstm", 1150), 80, PROGRAMS) is None  # more rows than fit beside the weights
    assert not fits(fused("normed", 64, cell="lstm"))  # sums along rows
    assert not fits(fused("lstm-projected", 64, projection=32))  # two widths
    assert not fits(fused("mogrifier", 64))  # reads x itself


def test_barriers():
    """One for each phase; a cell of one product meets once a step."""
    for name, phases in (("lstm", 1), ("gru", 2), ("peephole", 2)):
        for kind in (Forwards, Backwards):
            lines = kind(fused(name, 64), Shape(8, 4, 1024), masked=False).lines()
            assert sum("wait(counter, target)" in line for line in lines) == phases
