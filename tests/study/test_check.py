"""`foresay check`: a good cell keeps every clause, and each clause is broken by a cell made to break it."""

from __future__ import annotations

import json

import pytest
import torch

from foresay import Cell, UserError, stage
from foresay.encode.cells.lstm import LSTM
from foresay.study import check as study
from foresay.study import contract
from foresay.study.contract import CLAUSES, Subject
from tests.contracts.settings import described, label

LEAKY = """
from foresay import Cell

class Leaky(Cell):
    gates = ("leak", "new")

    def __init__(self, *, slope: float = 1.0):
        super().__init__()
        self.slope = slope

    def step(self, leak, new, h):
        leak = (self.slope * leak).sigmoid()
        return {"h": h + leak * (new.tanh() - h), "leak": leak}
"""


class Leaky(Cell):
    gates = ("leak", "new")

    def step(self, leak, new, h):
        leak = leak.sigmoid()
        return {"h": h + leak * (new.tanh() - h)}


class Wrong(Cell):
    gates = ("new",)

    def step(self, new, h):
        return {"h": torch.cat([new, h], 1)}


class Mixing(Leaky):
    """Rows see each other."""

    def step(self, leak, new, h):
        return {"h": super().step(leak, new, h)["h"] + h.sum(0, keepdim=True) * 0.1}


class Peeping(Leaky):
    """Every step sees the whole of x."""

    def run(self, x, memory, mask=None):
        return super().run(x + x.mean(1, keepdim=True), memory, mask)


class Deaf(Leaky):
    """h' hears of x only a step later."""

    states = ("h", "late")

    def step(self, leak, new, h, late):
        return {"h": late.tanh(), "late": leak.sigmoid() * new + h}


class Counting(Leaky):
    """Beginning at ones and losing what was carried."""

    def run(self, x, memory, mask=None):
        y, after = super().run(x, memory, mask)
        return y, {"h": after["h"] + 0.1}


class Single(Leaky):
    """A constant of its own dtype."""

    def run(self, x, memory, mask=None):
        y, after = super().run(x, memory, mask)
        return y.float(), after


class Wide(Leaky):
    def run(self, x, memory, mask=None):
        y, after = super().run(x, memory, mask)
        return y[:, :-1], after


class Silent(Leaky):
    """Its vector takes part in nothing."""

    vectors = ("unused",)

    def step(self, leak, new, h, unused):
        return {"h": h + leak.sigmoid() * new + 0 * unused}


class Cut(Leaky):
    """The gradient does not go through the gate."""

    def step(self, leak, new, h):
        return {"h": h + leak.sigmoid() * (new.tanh() - h.detach()), "leak": leak}


class Sorting(Leaky):
    """No fused loop sorts."""

    def step(self, leak, new, h):
        return {"h": h + leak.sigmoid() * new.tanh().sort(1).values}


class Branching(Leaky):
    """What it computes depends on a value: no fused loop can know which way."""

    def step(self, leak, new, h):
        return {"h": h + leak.sigmoid() * (new.tanh() if bool(h.sum() < 1e9) else new)}


class Forgetful(LSTM):
    """A setting that changes as it is kept."""

    def __init__(self, *, forget_bias: float = 1.0):
        super().__init__(forget_bias=forget_bias)
        self.settings["forget_bias"] = forget_bias + 1


def subject(cls: type[Cell]) -> Subject:
    class Given(Subject):
        def cell(self, dtype=torch.float64, width=contract.D, size=contract.H):
            torch.manual_seed(1)
            cell = cls(**{k: v for k, v in self.recipe.items() if k != "kind"})
            cell.build(width, size)
            with torch.no_grad():
                for parameter in cell.parameters():
                    parameter.add_(0.3 * (contract.H / size) ** 0.5 * torch.randn_like(parameter))
            return cell.to(dtype).eval()

    return Given({})


def asked(clause: str, cls: type[Cell]) -> study.Checked:
    return study.asked(getattr(contract, clause), subject(cls))


@pytest.mark.parametrize("clause", CLAUSES, ids=lambda clause: clause.__name__)
def test_a_good_cell_keeps_every_clause(clause):
    found = study.asked(clause, subject(Leaky))
    assert found.passed is True, found
    assert "\n" not in found.figure


@pytest.mark.parametrize(
    ("clause", "cls", "told"),
    [
        ("builds", Wrong, "returns h of shape (B, 14); allowed: (B, 7)"),
        ("shapes", Wide, "y is (2, 4, 7); allowed: (2, 5, 7)"),
        ("shapes", Single, "y is torch.float32 for x in torch.float64"),
        ("padding", Mixing, "rows with padding and alone differ by "),
        ("padding", Peeping, "rows with padding and alone differ by "),
        ("causality", Peeping, "y at step 0 depends on a later x"),
        ("causality", Deaf, "y at step 0 does not depend on x at that step"),
        ("chunks", Counting, "two chunks and one pass differ by 0.1"),
        ("starts", Mixing, "documents in a row and alone differ by "),
        ("gradients", Silent, "unused get no gradient; leave out what the step does not use"),
        ("finite_differences", Cut, "the gradient of x is not that of the step: Jacobian mismatch"),
        ("saved", Forgetful, "its settings come back as "),
    ],
)
def test_each_clause_is_broken_by_a_bad_cell(clause, cls, told):
    found = asked(clause, cls)
    assert found.passed is False and told in found.figure, found


def test_what_has_no_fused_form_is_told():
    assert asked("fused", Sorting) == study.Checked(
        "fused", None, "no fused form: sort.default; the plain loop runs it"
    )
    found = asked("fused", Branching)
    assert found.passed is None and found.figure == (
        "no fused form: sum over axes []; along a row with keepdim=True it is fused; the plain loop runs it"
    )


def test_a_fused_loop_that_differs_fails(monkeypatch):
    from foresay.kernels.recurrent import engine

    whole = engine.run_fused

    def off(*given):
        kept, after = whole(*given)
        return {key: value * 1.01 for key, value in kept.items()}, after

    monkeypatch.setattr(engine, "run_fused", off)
    found = asked("fused", Leaky)
    assert found.passed is False and "differs from the plain loop by 0.0" in found.figure


class Halving(Leaky):
    """In training it does something else."""

    def step(self, leak, new, h):
        return {"h": super().step(leak, new, h)["h"] * (0.5 if self.training else 1.0)}


class Fading(Leaky):
    """Every step changes what the next one does: no loop that was worked out once can know."""

    scale = 1.0

    def step(self, leak, new, h):
        self.scale *= 0.9
        return {"h": super().step(leak, new, h)["h"] * self.scale}


class Unfit(Leaky):
    """Once built it cannot train."""

    def step(self, leak, new, h):
        if self.training and hasattr(self, "maths"):
            raise ValueError("not trained")
        return super().step(leak, new, h)


class Choosy(Leaky):
    """It sorts in training alone."""

    def step(self, leak, new, h):
        return super().step(leak, new.sort(1).values if self.training else new, h)


def test_a_fused_form_that_is_of_another_mode_fails(monkeypatch):
    from foresay.kernels.recurrent import engine

    assert asked("fused", Halving).passed is True
    whole = engine.fuse
    monkeypatch.setattr(engine, "fuse", lambda maths, *, training: whole(maths, training=False))
    found = asked("fused", Halving)
    assert found.passed is False and found.figure.startswith("in training h differs from the plain loop by ")


def test_a_step_that_changes_as_it_goes_fails():
    found = asked("fused", Fading)
    assert found.passed is False and "differs from the plain loop by " in found.figure


def test_training_is_asked_too():
    assert asked("fused", Unfit) == study.Checked("fused", False, "ValueError: not trained")
    found = asked("fused", Choosy)
    assert found.passed is None and found.figure == (
        "no fused form in training: sort.default; the plain loop runs it there"
    )


def test_the_fused_loop_is_asked_for_whole_vectors_and_a_tail(monkeypatch):
    """Wrong numbers in its seventeenth column are found."""
    from foresay.kernels.recurrent import engine

    whole = engine.run_fused

    def off(*given):
        kept, after = whole(*given)
        return {key: torch.cat([v[..., :16], v[..., 16:] * 1.01], -1) for key, v in kept.items()}, after

    monkeypatch.setattr(engine, "run_fused", off)
    assert asked("fused", Leaky).passed is False


def test_what_cannot_be_built_is_asked_nothing_else(tmp_path):
    (tmp_path / "bad.py").write_text(LEAKY.replace('return {"h"', 'return {"c"'))
    (only,) = study.check("bad.py:Leaky")
    assert only.passed is False and only.check == "builds"
    assert only.figure.startswith("cell bad.py:Leaky: state h is not returned; return it from stage step")


def test_a_step_that_would_end_the_program_is_one_line(tmp_path, call):
    for way, told in (("raise SystemExit(3)", "SystemExit: 3"), ("raise SystemExit", "SystemExit")):
        (tmp_path / "ends.py").write_text(LEAKY.replace("leak = (self", f"{way}\n        leak = (self"))
        called = call("check", "ends.py:Leaky")
        assert called.code == 1 and called.error == ""
        assert called.out.startswith("builds              FAIL  ") and called.out.endswith(told + "\n")
    (tmp_path / "ends.py").write_text(LEAKY.replace("leak = (self", "raise SystemExit(143)\n        leak = (self"))
    assert call("check", "ends.py:Leaky").code == 143  # as a signal ends it


def test_a_wrong_setting_is_the_users_mistake(tmp_path):
    (tmp_path / "mycells.py").write_text(LEAKY)
    with pytest.raises(UserError, match=r"cell.slop is no setting of cell mycells.py:Leaky; allowed: slope"):
        study.check("mycells.py:Leaky", ["slop=1.0"])
    with pytest.raises(UserError, match="'lsmt' is no cell"):
        study.check("lsmt")


def test_random_numbers_go_on_as_they_were():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    study.check("elman", timed=False)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_command(tmp_path, call, monkeypatch):
    monkeypatch.setattr(study, "ROWS", 2)
    monkeypatch.setattr(study, "STEPS", 3)
    monkeypatch.setattr(study, "SIZE", 8)
    (tmp_path / "mycells.py").write_text(LEAKY)
    called = call("check", "mycells.py:Leaky", "slope=2.0")
    lines = called.out.splitlines()
    assert called.code == 0 and [line[:19].strip() for line in lines] == [
        *(clause.__name__.replace("_", " ") for clause in CLAUSES),
        "speed",
    ]
    assert all(line[20:24] in ("pass", "note") for line in lines)
    assert lines[-1].startswith("speed               note  ") and "× the time of torch.nn.LSTM" in lines[-1]
    found = json.loads(call("check", "mycells.py:Leaky", "--json").out)
    assert found["cell"] == "mycells.py:Leaky" and found["passed"] is True and len(found["checks"]) == len(lines)
    (tmp_path / "bad.py").write_text(LEAKY.replace('"leak": leak}', '"leak": leak.sum()}'))
    failed = call("check", "bad.py:Leaky")
    assert failed.code == 1 and failed.out.startswith("builds              FAIL  cell bad.py:Leaky, stage step returns")
    assert call.refused("check", "mycell.py:Leaky") == (
        "cell=mycell.py:Leaky: there is no file mycell.py; allowed: bad.py, mycells.py; did you mean 'mycells.py'?"
    )


@pytest.mark.parametrize("recipe", described("cell"), ids=label)
def test_every_built_in_cell_can_be_asked(recipe):
    for clause in (contract.builds, contract.shapes, contract.padding, contract.fused, contract.saved):
        found = study.asked(clause, Subject(recipe))
        assert found.passed is True, found


def test_stages_and_built_in_cells_hold():
    class Staged(Leaky):
        @stage(leak="h", new="")
        def step(self, leak, new, h):
            return Leaky.step(self, leak, new, h)

    assert asked("fused", Staged).passed is True
    assert all(found.passed for found in study.check("lstm", timed=False))
