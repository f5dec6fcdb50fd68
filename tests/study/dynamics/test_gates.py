"""Gates of a run against its trace, for every cell."""

from __future__ import annotations

import pytest

from foresay.errors import UserError
from foresay.parts import names
from foresay.study.dynamics.gates import draw, gates_of, lines

TEXT = "the cat sees"


def test_numbers_are_those_of_the_trace(fresh):
    run = fresh("lstm", layers=2)
    found, trace = gates_of(run, TEXT), run.trace(TEXT)
    assert found.tokens == trace["tokens"] and len(found.tokens) == 13
    assert list(found.ends) == [f"{layer}.{name}" for layer in "01" for name in ("i", "f", "g", "o", "h")]
    f, g = trace["encoder.1.f"], trace["encoder.0.g"]
    assert found.means["1.f"].tolist() == pytest.approx(f.mean(1).tolist())
    assert found.means["0.g"].tolist() == pytest.approx(g.abs().mean(1).tolist())
    shares = [float(sum(one > 0.9 for one in unit)) / 13 for unit in f.T.tolist()]
    assert found.ends["1.f"].upper.tolist() == pytest.approx(shares)


def test_a_forget_gate_that_is_open(fresh):
    """Bias 20: open at every token, whatever is read."""
    found = gates_of(fresh({"kind": "lstm", "forget_bias": 20.0}), TEXT)
    assert found.ends["0.f"].upper.tolist() == [1.0] * 6 and found.means["0.f"].tolist() == pytest.approx([1.0] * 13)
    assert "0.f\tclosed 0.0 %\topen 100.0 %" in lines(found)


@pytest.mark.parametrize("cell", [*names("cell"), {"kind": "elman", "activation": "relu"}])
def test_every_cell_is_drawn_or_refused(cell, fresh):
    run = fresh(cell)
    if cell == "lru":
        with pytest.raises(UserError, match="has no gate and no activation with an end"):
            gates_of(run, TEXT)
        return
    found = gates_of(run, TEXT)
    assert len(draw(found).axes) >= 2 and len(lines(found)) == len(found.as_dict()["values"])


def test_without_recurrence(fresh):
    with pytest.raises(UserError, match="has no recurrence to look at: it is transformer"):
        gates_of(fresh({"kind": "transformer", "size": 4, "heads": 2}, whole=True), TEXT)
