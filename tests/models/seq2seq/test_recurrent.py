"""The recurrent forms against loops written plainly from the equations."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from foresay.errors import UserError
from foresay.models.seq2seq.recurrent import RecurrentWriter
from foresay.models.seq2seq.writer import Source

B, T, S, D, A, H = 3, 4, 5, 2, 6, 7


def made(**settings: Any) -> RecurrentWriter:
    torch.manual_seed(1)
    writer = RecurrentWriter(size=H, cell="gru-cudnn", **settings)
    writer.build(D, A)
    with torch.no_grad():
        for parameter in writer.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    return writer.double().eval()


def given() -> tuple[Tensor, Source]:
    torch.manual_seed(2)
    mask = torch.arange(S) < torch.tensor([5, 3, 1])[:, None]
    annotations = torch.randn(B, S, A, dtype=torch.float64).masked_fill(~mask[:, :, None], 0)
    return torch.randn(B, T, D, dtype=torch.float64), Source(annotations, mask, torch.randn(B, A, dtype=torch.float64))


def gru(writer: RecurrentWriter, x: Tensor, h: Tensor) -> Tensor:
    """torch's own cell with the same weights."""
    cell = writer.cells.forwards[0]
    bias_hh = getattr(cell, "bias_hh", None)
    own = torch.nn.GRUCell(x.shape[1], H, dtype=torch.float64)
    with torch.no_grad():
        own.weight_ih.copy_(cell.weight_ih)
        own.weight_hh.copy_(cell.weight_hh)
        own.bias_ih.copy_(cell.bias_ih)
        own.bias_hh.copy_(bias_hh if bias_hh is not None else torch.zeros(3 * H))
    return own(x, h)


def first(writer: RecurrentWriter, source: Source) -> Tensor:
    computed = writer.cells.first.computed[0]
    return source.summary @ computed.weight.T + computed.bias


def test_last():
    writer, (x, source) = made(form="last"), given()
    wrote, _ = writer(x, writer.begin(source))
    h = first(writer, source)
    for t in range(T):
        h = gru(writer, x[:, t], h)
        torch.testing.assert_close(wrote.features[:, t], h)
    assert wrote.weights is None and wrote.gate is None


def test_context_reaches_every_hidden_and_every_output_step():
    writer, (x, source) = made(form="context"), given()
    wrote, _ = writer(x, writer.begin(source))
    h, c = first(writer, source), source.summary
    for t in range(T):
        h = gru(writer, torch.cat([x[:, t], c], 1), h)
        out = torch.tanh(torch.cat([h, c, x[:, t]], 1) @ writer.readout.weight.T + writer.readout.bias)
        torch.testing.assert_close(wrote.features[:, t], out)


@pytest.mark.parametrize("kind", ["additive", "bilinear"])
def test_attention_asks_with_the_state_before(kind: str):
    writer, (x, source) = made(scorer=kind, copy=True), given()
    wrote, _ = writer(x, writer.begin(source))
    scorer, h = writer.scorer, first(writer, source)
    for t in range(T):
        contexts, weights = [], torch.zeros(B, S, dtype=torch.float64)
        for b in range(B):
            length = int(source.mask[b].sum())
            scores = []
            for place in range(length):
                a = source.annotations[b, place]
                if kind == "additive":
                    inner = scorer.state.weight @ h[b] + scorer.source.weight @ a + scorer.source.bias
                    scores.append(scorer.weigh.weight[0] @ inner.tanh())
                else:
                    scores.append(h[b] @ (scorer.source.weight @ a))
            alpha = torch.stack(scores).exp() / torch.stack(scores).exp().sum()
            weights[b, :length] = alpha
            contexts.append(sum(alpha[place] * source.annotations[b, place] for place in range(length)))
        c = torch.stack(contexts)
        h = gru(writer, torch.cat([x[:, t], c], 1), h)
        every = torch.cat([h, c, x[:, t]], 1)
        torch.testing.assert_close(wrote.weights[:, t], weights)
        torch.testing.assert_close(wrote.features[:, t], (every @ writer.readout.weight.T + writer.readout.bias).tanh())
        torch.testing.assert_close(wrote.gate[:, t, 0], every @ writer.gate.weight[0] + writer.gate.bias)


def test_dot_is_bilinear_with_the_identity():
    torch.manual_seed(3)
    one, other = (RecurrentWriter(size=A, scorer=kind) for kind in ("dot", "bilinear"))
    for writer in (one, other):
        writer.build(D, A)
    with torch.no_grad():
        kept = other.state_dict() | one.state_dict() | {"scorer.source.weight": torch.eye(A)}
        other.load_state_dict(kept)
    x, source = given()
    (found, _), (wanted, _) = (writer.double()(x, writer.begin(source)) for writer in (one, other))
    torch.testing.assert_close(found.features, wanted.features)


def test_no_steps():
    writer, (x, source) = made(copy=True), given()
    wrote, state = writer(x[:, :0], writer.begin(source))
    assert wrote.features.shape == (B, 0, H) and wrote.weights.shape == (B, 0, S) and wrote.gate.shape == (B, 0, 1)
    torch.testing.assert_close(writer(x, state)[0].features, writer(x, writer.begin(source))[0].features)


@pytest.mark.parametrize(
    ("settings", "word"), [({"copy": True}, "writer.copy=true"), ({"coverage": 0.5}, "writer.coverage=0.5")]
)
def test_copying_needs_attention(settings, word):
    with pytest.raises(UserError, match=f"{word} with form=last; it weighs places of the source"):
        RecurrentWriter(form="last", **settings)


def test_only_attention_has_looks():
    writer, (x, source) = made(form="context"), given()
    with pytest.raises(UserError, match="looks at no single place of the source; allowed: form=attention"):
        writer.looks(x, writer.begin(source))
