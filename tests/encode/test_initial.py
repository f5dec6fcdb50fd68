"""How a recurrent encoder begins: states zero, learnt or from a condition; recurrent weights and their radius."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from foresay.encode.initial import Initial, spectral_radius
from foresay.encode.recurrent import Recurrent
from foresay.errors import UserError
from foresay.models.language_model import LanguageModel

B, T, D, H, C = 2, 5, 3, 6, 4


def build(**settings) -> Recurrent:
    torch.manual_seed(1)
    encoder = Recurrent(**({"size": H} | settings))
    encoder.build(D)
    return encoder.double().eval()


def inputs() -> Tensor:
    torch.manual_seed(2)
    return torch.randn(B, T, D, dtype=torch.float64)


def test_learnt_states_begin_at_zero_and_are_where_a_row_begins():
    encoder, x = build(initial={"state": "learnt"}), inputs()
    plain = build()
    torch.testing.assert_close(encoder(x)[0], plain(x)[0])
    with torch.no_grad():
        encoder.first.learnt[0]["h"].normal_()
        encoder.first.learnt[0]["c"].normal_()
    state = {name: value.detach().expand(B, H) for name, value in encoder.first.learnt[0].items()}
    expected = plain(x, None, plain.begin(B) | {"0": state})[0]
    torch.testing.assert_close(encoder(x)[0], expected)
    assert not torch.allclose(expected, plain(x)[0])


def test_documents_begin_from_the_learnt_state():
    encoder, x = build(initial={"state": "learnt"}), inputs()
    with torch.no_grad():
        encoder.first.learnt[0]["h"].normal_()
    starts = torch.zeros(B, T, dtype=torch.bool)
    starts[:, 2] = True
    torch.testing.assert_close(encoder(x, starts=starts)[0][:, 2:], encoder(x[:, 2:])[0])


def test_each_direction_and_the_past_have_their_own():
    encoder = build(
        cell={"kind": "shortcut", "cell": "elman", "steps": 3}, bidirectional=True, initial={"state": "learnt"}
    )
    shapes = {name: tuple(p.shape) for name, p in encoder.first.named_parameters()}
    assert shapes == {f"learnt.{n}.{name}": s for n in (0, 1) for name, s in (("h", (3,)), ("past", (2, 3)))}


def test_a_condition_is_what_the_first_state_is_computed_from():
    """One linear map of c (B, C) to h and c, side by side."""
    encoder, x = build(initial={"state": "condition", "condition": C}), inputs()
    condition = torch.randn(B, C, dtype=torch.float64)
    dense = encoder.first.computed[0]
    h, c = (condition @ dense.weight.T + dense.bias).split(H, 1)
    plain = build()
    expected = plain(x, None, plain.begin(B) | {"0": {"h": h, "c": c}})[0]
    torch.testing.assert_close(encoder(x, condition=condition)[0], expected)
    starts = torch.zeros(B, T, dtype=torch.bool)
    starts[:, 3] = True
    again = encoder(x, starts=starts, condition=condition)[0][:, 3:]
    torch.testing.assert_close(again, encoder(x[:, 3:], condition=condition)[0])


def test_chunks_need_the_condition_once():
    encoder, x = build(layers=2, initial={"state": "condition", "condition": C}), inputs()
    condition = torch.randn(B, C, dtype=torch.float64)
    whole = encoder(x, condition=condition)[0]
    one, state = encoder(x[:, :2], condition=condition)
    torch.testing.assert_close(torch.cat([one, encoder(x[:, 2:], None, state)[0]], 1), whole)


def test_a_given_state_takes_the_place_of_the_condition():
    encoder, x = build(initial={"state": "condition", "condition": C}), inputs()
    condition = torch.randn(B, C, dtype=torch.float64)
    state = encoder(x, condition=condition)[1]
    torch.testing.assert_close(encoder(x, None, state)[0], encoder(x, None, state, condition=condition)[0])


def test_a_language_model_begins_from_its_condition():
    torch.manual_seed(1)
    encoder = {"kind": "recurrent", "size": H, "initial": {"state": "condition", "condition": C}}
    model = LanguageModel({"kind": "lookup", "size": 5}, encoder)
    model.build(13)
    ids, condition = torch.tensor([[5, 6, 7], [8, 9, 5]]), torch.randn(2, C)
    one, other = model.score(ids, condition=condition)[0], model.score(ids, condition=-condition)[0]
    assert not torch.allclose(one, other)
    state = model.begin(2, condition)
    torch.testing.assert_close(model.score(ids, state=state)[0], one)
    with pytest.raises(UserError, match=r"begins from a condition; pass condition \(B, 4\)"):
        model.begin(2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, r"encoder recurrent begins from a condition; pass condition \(B, 4\)"),
        (torch.zeros(B, 5), r"condition is \(2, 5\); allowed: \(B, 4\), as initial\.condition says"),
        (torch.zeros(B, T, C), r"condition is \(2, 5, 4\); allowed: \(B, 4\)"),
        (torch.zeros(3, C), r"condition has 3 rows and x has 2; pass condition \(2, 4\)"),
    ],
)
def test_conditions_that_do_not_fit(given, message):
    with pytest.raises(UserError, match=message):
        build(initial={"state": "condition", "condition": C})(inputs(), condition=given)


@pytest.mark.parametrize("initial", [{"state": "condition"}, {"state": "zero", "condition": 4}])
def test_a_condition_needs_its_width(initial):
    with pytest.raises(UserError, match="allowed: state=condition and the width of the condition, or neither"):
        build(initial=initial)


def blocks(encoder: Recurrent) -> list[Tensor]:
    cell = encoder.forwards[0]
    return [block.detach() for weight in cell.products().values() for block in weight.split(H)]


def test_orthogonal():
    for cell in ("lstm", "gru", {"kind": "normed", "cell": "peephole"}):
        encoder = build(cell=cell, initial={"weights": "orthogonal"})
        core = getattr(encoder.forwards[0], "core", encoder.forwards[0])
        matrices = [block.detach() for weight in core.products().values() for block in weight.split(H)]
        assert len(matrices) == {"lstm": 4, "gru": 3}.get(str(cell), 7)
        for matrix in matrices:
            torch.testing.assert_close(matrix @ matrix.T, torch.eye(H, dtype=torch.float64), atol=1e-6, rtol=0)


def test_identity_with_a_radius():
    for matrix in blocks(build(cell="elman", initial={"weights": "identity", "radius": 0.5})):
        torch.testing.assert_close(matrix, 0.5 * torch.eye(H, dtype=torch.float64))


@pytest.mark.parametrize("weights", ["uniform", "orthogonal"])
def test_radius_is_the_greatest_eigenvalue(weights):
    found = blocks(build(initial={"weights": weights, "radius": 1.25}))
    for matrix in found:
        assert abs(torch.linalg.eigvals(matrix)).max().item() == pytest.approx(1.25, rel=1e-5)
    assert not torch.allclose(found[0], found[1])


def test_spectral_radius_by_hand():
    """A turn by 90 degrees times 3 has the eigenvalues 3i and -3i; a triangle those on its diagonal."""
    assert spectral_radius(torch.tensor([[0.0, -3.0], [3.0, 0.0]])) == pytest.approx(3.0)
    assert spectral_radius(torch.tensor([[0.5, 9.0], [0.0, -2.0]])) == pytest.approx(2.0)


def test_a_shortcuts_matrix_begins_so_too():
    encoder = build(cell={"kind": "shortcut", "cell": "elman", "steps": 2}, initial={"weights": "identity"})
    assert torch.equal(encoder.forwards[0].get_parameter("weight_h_2"), torch.eye(H, dtype=torch.float64))


@pytest.mark.parametrize("initial", [{"weights": "identity"}, {"radius": 1.0}])
def test_matrices_that_are_not_square_are_refused(initial):
    with pytest.raises(UserError, match="needs square recurrent matrices and cell lstm-projected has one of 6 x 4"):
        build(cell={"kind": "lstm-projected", "projection": 4}, initial=initial)


def test_a_bound_holds_for_every_matrix():
    torch.manual_seed(1)
    encoder = Recurrent(size=64, layers=2, initial=Initial(bound=0.05))
    encoder.build(32)
    for name, weight in encoder.named_parameters():
        if weight.dim() == 2:
            assert weight.abs().max() <= 0.05 and weight.std().item() == pytest.approx(0.05 / 3**0.5, rel=0.05), name


def test_a_bound_is_for_uniform_weights():
    with pytest.raises(UserError, match=r"initial.bound=0.1 with initial.weights=identity; allowed"):
        Recurrent(initial=Initial(bound=0.1, weights="identity"))
