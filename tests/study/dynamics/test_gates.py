"""Gates of a run against its trace, for every cell."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from matplotlib.patches import StepPatch

from foresay.data.series_form import SeriesForm
from foresay.errors import UserError
from foresay.parts import names
from foresay.study.dynamics.backwards import gradient_of
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


def test_of_another_task(fresh):
    run = fresh("lstm")
    run.model = SimpleNamespace(encoder=run.model.encoder, part_name="classifier")
    with pytest.raises(UserError, match="is of task classifier, whose gates are not traced; allowed: a run of task la"):
        gates_of(run, TEXT)


def test_of_pictures(fresh):
    run = fresh("lstm")
    run.form = SimpleNamespace(told=lambda: "images of 8 x 8")
    for looked in (gates_of, gradient_of):
        with pytest.raises(UserError, match="is of images of 8 x 8, and reads no text; allowed: a run of texts"):
            looked(run, TEXT)


def test_of_series(fresh):
    run = fresh("lstm")
    run.form = SeriesForm(("seasons",))
    for looked in (gates_of, gradient_of):
        with pytest.raises(UserError, match="is of series of numbers, and reads no text; allowed: a run of texts"):
            looked(run, TEXT)


def test_what_is_drawn_is_how_values_spread(fresh):
    """A row for each value, the first on top; heights are its shares, the greatest of each alike."""
    found = gates_of(fresh("lstm"), TEXT)
    right = draw(found).axes[1]
    drawn = [one.get_data() for one in right.patches if isinstance(one, StepPatch)]
    assert len(drawn) == len(found.ends) == 5
    for (heights, edges, base), name in zip(reversed(drawn), found.ends, strict=True):
        one = found.ends[name]
        shares = (heights - base) / (heights - base).sum()
        assert shares == pytest.approx(one.spread.numpy()) and (edges[0], edges[-1]) == (one.low, one.high)
        assert float(one.spread.sum()) == pytest.approx(1)
