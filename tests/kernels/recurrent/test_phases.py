"""A step is cut exactly where a product must come between."""

import pytest

from foresay import parts
from foresay.kernels.recurrent.phases import cut


def phases_of(name, **settings):
    cell = parts.make("cell", {"kind": name, **settings})
    cell.build(3, 5)
    return cut(cell.maths)


@pytest.mark.parametrize("name", ["lstm", "elman", "gru-cudnn", "peephole-diagonal", "coupled", "additive", "slstm"])
def test_cells_of_one_product_are_one_phase(name):
    phases = phases_of(name)
    assert len(phases.phases) == 1
    assert phases.phases[0].sources == ("state:h",)
    assert phases.operands == ()


def test_the_lectures_gru_multiplies_what_it_has_reset():
    first, second = phases_of("gru").phases
    assert first.gates == ("z", "r") and second.gates == ("n",)
    assert "value:rh" in first.gives and second.sources == ("value:rh",)


def test_the_peephole_shows_by_the_new_memory():
    phases = phases_of("peephole")
    assert phases.seen == {"state:h": ("i", "f", "g", "o"), "state:c": ("i", "f"), "new:c": ("o",)}
    assert [phase.sources for phase in phases.phases] == [("state:h", "state:c"), ("new:c",)]
    assert phases.final == {"h": "new:h", "c": "new:c"}


def test_a_state_that_is_given_again_has_two_names():
    """Zoneout keeps some units of the new memory, after the output gate has seen all of it."""
    phases = phases_of("zoneout", cell="peephole")
    assert phases.final["c"] == "new:c#1"
    assert phases.operands == ("new:c",)


def test_the_mogrifiers_turns_are_phases():
    assert len(phases_of("mogrifier", rounds=3).phases) == 4
