"""The claim `cell-memory`: its rule, its sentences, probes and gates on made states, the cell's values."""

from __future__ import annotations

import functools
import random

import pytest
import torch

from foresay.study.claims import cell_memory, runner
from foresay.study.claims.cell_memory import (
    BEFORE,
    IDS,
    MANY,
    NEW,
    OTHERS,
    ROLES,
    SIZE,
    SUBJECTS,
    Size,
    agreement,
    gates,
    judge,
    place,
    probed,
    sentence,
)
from foresay.study.claims.claim import Figure
from foresay.study.claims.text_learning import padded
from foresay.study.probe import fit
from foresay.train.progress import Watch

KINDS = {word: pronoun for pronoun, words in SUBJECTS.items() for word in words}


def figure(low: float, high: float) -> Figure:
    return Figure("", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    ("kept", "dropped", "apart", "verdict"),
    [
        ((95, 99), (50, 60), (-0.5, -0.1), "holds"),
        ((85, 99), (50, 60), (-0.5, -0.1), "not decided at this size"),
        ((95, 99), (50, 80), (-0.5, -0.1), "not decided at this size"),
        ((95, 99), (50, 60), (-0.5, 0.1), "not decided at this size"),
        ((80, 85), (50, 60), (-0.5, -0.1), "does not hold"),
        ((95, 99), (80, 90), (-0.5, -0.1), "does not hold"),
        ((95, 99), (50, 60), (0.1, 0.2), "does not hold"),
    ],
)
def test_the_rule(kept, dropped, apart, verdict):
    for odd in ("gender", "number"):  # one of the two is enough to spoil it
        figures = {"kept gender": (95, 99), "kept number": (95, 99), "dropped gender": (50, 60)}
        figures |= {"dropped number": (50, 60), "forget apart": apart, f"kept {odd}": kept, f"dropped {odd}": dropped}
        assert judge({name: figure(*ends) for name, ends in figures.items()}) == verdict


@pytest.mark.parametrize("new", [True, False])
def test_sentences_agree(new):
    chance, seen = random.Random(1), set()
    for _ in range(200):
        one = sentence(chance, new=new)
        said = {role: word for word, role in zip(one.words, one.roles, strict=True)}
        assert KINDS[said["subject"]] == one.first == said["pronoun"] and said["pronoun 2"] == one.second
        assert (NEW in said) == new and (not new or KINDS[said[NEW]] == one.second) and (new or one.first == one.second)
        for verb, pronoun in (("verb", one.first), ("verb 2", one.first), ("verb 4", one.second)):
            assert (said[verb] in MANY) == (pronoun == "they")
        assert all(word in IDS for word in one.words) and one.words[place(one, BEFORE)] == "and"
        seen.add((one.first, one.second))
    assert len(seen) == (9 if new else 3)  # every pair of subjects


def states():
    """Sentences, and states that are made: until the new subject unit 0 says whether she, unit 1 whether they."""
    chance = random.Random(2)
    rows = [sentence(chance, new=True) for _ in range(240)]
    ids, mask = padded([row.ids for row in rows])
    c = torch.randn(*ids.shape, 3, generator=torch.Generator().manual_seed(1))
    for number, row in enumerate(rows):
        until = row.roles.index(NEW)
        c[number, :until, 0], c[number, :until, 1] = float(row.first == "she"), float(row.first == "they")
    return rows, ids, mask, c


def test_probes_read_what_is_there():
    rows, _, _, c = states()
    right, telling = probed(c, rows, (BEFORE, NEW))
    assert right["first gender"][BEFORE] == right["first number"][BEFORE] == 100
    for subject, role in (("first", NEW), ("second", BEFORE), ("second", NEW)):
        assert 25 < right[f"{subject} gender"][role] < 75 and 35 < right[f"{subject} number"][role] < 65
    assert telling[:2].min() > 5 * telling[2]


def test_gates_by_hand():
    """f is 1/4 at new subjects and 3/4 elsewhere, but 1 everywhere in unit 2; padding counts nowhere."""
    rows, _, mask, _ = states()
    f = torch.full((*mask.shape, 3), 0.75)
    f[~mask] = 9.0
    for number, row in enumerate(rows):
        f[number, row.roles.index(NEW)] = 0.25
    f[..., 2][mask] = 1.0
    found = gates(f, rows, mask)
    assert found[NEW] == pytest.approx(0.5) and found[OTHERS] == pytest.approx(2.5 / 3) == found["between"]
    only = gates(f, rows, mask, torch.tensor([2.0, 2.0, 0.0]))
    assert only[NEW] == pytest.approx(0.25) and only[OTHERS] == pytest.approx(0.75) and {*only} == {*ROLES, OTHERS}


def test_cells_and_gates_are_those_of_the_equations():
    """c_t = f c_{t-1} + i g, stepped by torch's own cell with the same weights."""
    model = cell_memory.build(4).eval()
    ids, _ = padded([sentence(random.Random(3), new=True).ids])
    peer, cell = torch.nn.LSTMCell(cell_memory.WIDTH, SIZE), model.encoder.forwards[0]
    with torch.no_grad():
        peer.weight_ih.copy_(cell.weight_ih)
        peer.weight_hh.copy_(cell.weight_hh)
        peer.bias_ih.copy_(cell.bias())
        peer.bias_hh.zero_()
        found = model.trace(ids)
        h = c = torch.zeros(1, SIZE)
        for step, x in enumerate(found["embedding"].unbind(1)):
            f = (x @ peer.weight_ih.T + h @ peer.weight_hh.T + peer.bias_ih)[:, SIZE : 2 * SIZE].sigmoid()
            h, c = peer(x, (h, c))
            torch.testing.assert_close(found["encoder.0.c"][:, step], c, atol=1e-6, rtol=1e-5)
            torch.testing.assert_close(found["encoder.0.f"][:, step], f, atol=1e-6, rtol=1e-5)


def test_agreement_by_a_model_that_always_says_he_sings():
    """It is right where the subject is single for verbs, where it is he for pronouns."""
    model = cell_memory.build(5).eval()
    rows = [sentence(random.Random(one), new=True) for one in range(40)]
    with torch.no_grad():
        for parameter in model.output.parameters():
            parameter.zero_()
        bias = next(one for one in model.output.parameters() if one.dim() == 1)
        bias[IDS["he"]] = bias[IDS["sings"]] = 1.0
        found = agreement(model, rows)
    right = [row.first == "he" for row in rows] + [row.first != "they" for row in rows]
    right += 2 * [row.second != "they" for row in rows]
    assert found == pytest.approx(100 * sum(right) / len(right))


def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(cell_memory, "QUICK", Size(2, rows=4, looked=80))
    monkeypatch.setattr(cell_memory, "fit", functools.partial(fit, iterations=3))
    found = runner.run_claim("cell-memory", quick=True, out=tmp_path, watch=Watch())
    assert [one["trained"] for one in found["details"]["runs"]] == [False, True] * 3
    before = [one["forget"][OTHERS] for one in found["details"]["runs"] if not one["trained"]]
    assert before == pytest.approx([0.731] * 3, abs=0.03)  # sigmoid of the bias 1 it begins with
    assert (tmp_path / "cell-memory.png").stat().st_size > 10_000
