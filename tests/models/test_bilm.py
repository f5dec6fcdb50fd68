"""The bidirectional language model: written out over its parts; what each way sees; what is shared and what is not."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from foresay import parts, start
from foresay.data.batch import Batch
from foresay.errors import UserError
from foresay.loading import load
from foresay.text.tokens import START, STOP
from foresay.train.progress import Watch

V, T = 13, 6
LOOKUP = {"kind": "lookup", "size": 5}
FED = {"kind": "recurrent", "size": 5, "layers": 2, "between": {"wiring": "fed"}}


def build(**settings: Any) -> Any:
    torch.manual_seed(1)
    model = parts.make("task", {"kind": "bilm", "embedding": LOOKUP, "encoder": FED} | settings)
    model.build(V)
    return model.double().eval()


def text() -> Tensor:
    torch.manual_seed(2)
    return torch.randint(5, V, (3, T))


def batch_of(words: Tensor, lengths: tuple[int, ...] = (T, 2, 4)) -> Batch:
    """<start> before each row, <stop> after it, rows of these lengths."""
    kept = torch.arange(T + 1) < torch.tensor(lengths)[:, None]
    ids = torch.cat([torch.full((len(words), 1), START), words], 1)
    targets = torch.cat([words, torch.zeros(len(words), 1, dtype=torch.long)], 1)
    targets[torch.arange(len(words)), torch.tensor(lengths)] = STOP
    mask = torch.cat([torch.ones_like(kept[:, :1]), kept[:, :-1]], 1)
    return Batch(ids=ids * mask, targets=targets * mask, mask=mask)


def one_way(model: Any, encoder: Any, read: list[int]) -> Tensor:
    """log P (T, V) after each symbol, row by row and layer by layer."""
    x = model.embedding.table[torch.tensor([read])]
    first, second = encoder.forwards
    h = first.run(x, first.begin(x))[0]
    passes = encoder.wiring.passes[0]
    y = second.run(h + passes(x), second.begin(x))[0]
    return (y[0] @ model.output.weight.T + model.output.bias).log_softmax(1)


def test_both_ways_written_out():
    model, words, lengths = build(), text(), (T, 2, 4)
    ways = model.measure_ways(batch_of(words, lengths))
    total = []
    for row, length in enumerate(lengths):
        own = words[row, :length].tolist()
        ahead = one_way(model, model.encoder, [START, *own])
        back = one_way(model, model.backwards, [STOP, *own[::-1]])
        f = [ahead[t, w] for t, w in enumerate([*own, STOP])]
        b = [back[t, w] for t, w in enumerate([*own[::-1], START])][::-1]
        torch.testing.assert_close(ways["forwards"][row, : length + 1], torch.stack(f))
        torch.testing.assert_close(ways["backwards"][row, : length + 1], torch.stack(b))
        assert (ways["forwards"][row, length + 1 :] == 0).all() and (ways["backwards"][row, length + 1 :] == 0).all()
        joint = model.measure(batch_of(words, lengths))[0][row, : length + 1]
        torch.testing.assert_close(joint, (torch.stack(f) + torch.stack([*b[1:], b[0]])) / 2)
        total += f + b
    torch.testing.assert_close(model.loss(batch_of(words, lengths))[0], -torch.stack(total).mean())


def test_neither_way_sees_the_answer():
    """Forwards, log P at t has a gradient from the words before t alone; backwards from those after it alone."""
    model, words = build(), text()[:1]
    batch = batch_of(words, (T,))
    for way, seen in (("forwards", lambda t: range(t)), ("backwards", lambda t: range(t, T))):
        for t in range(T + 1):
            read: list[Tensor] = []
            hook = model.embedding.register_forward_hook(lambda _, __, x, read=read: read.append(x))
            found = model.measure_ways(batch)[way][0, t]
            hook.remove()
            (every,) = torch.autograd.grad(found, read[0])
            own = 0 if way == "forwards" else 1
            grad = every[own].abs().sum(1)  # of <start> w.. or of w.. <stop>
            assert not every[1 - own].any()
            reached = {n - (way == "forwards") for n in grad.nonzero()[:, 0].tolist()}
            mark = -1 if way == "forwards" else T
            assert reached == {mark, *seen(t)}, (way, t)


def test_one_softmax_and_two_encoders():
    model = build()
    named = dict(model.named_parameters(remove_duplicate=False))
    places = {name: parameter.data_ptr() for name, parameter in named.items()}
    ahead = {places[name] for name in named if name.startswith("encoder.")}
    back = {places[name] for name in named if name.startswith("backwards.")}
    assert len(ahead) == len(back) > 0 and not ahead & back
    assert [name for name in named if name.startswith("output.")] == ["output.weight", "output.bias"]
    model.loss(batch_of(text()))[0].backward()
    both = model.output.weight.grad.clone()
    for way in ("forwards", "backwards"):  # the one weight learns from both: its gradient is the sum of theirs
        model.zero_grad()
        (-model.measure_ways(batch_of(text()))[way].sum() / (2 * batch_of(text()).mask.sum())).backward()
        both -= model.output.weight.grad
        assert model.output.weight.grad.abs().sum() > 0
    torch.testing.assert_close(both, torch.zeros_like(both))


def test_packed_documents_are_read_apart():
    """Two texts in one row, with `starts`, are worth what they are alone, both ways."""
    model, (one, other) = build(), text()[:2].tolist()
    ids, targets = [START, *one, START, *other], [*one, STOP, *other, STOP]
    starts = torch.tensor([[symbol == START for symbol in ids]])
    together = model.measure_ways(Batch(ids=torch.tensor([ids]), targets=torch.tensor([targets]), starts=starts))
    alone = model.measure_ways(batch_of(text()[:2], (T, T)))
    for way, found in together.items():
        torch.testing.assert_close(found.view(2, -1), alone[way])


def test_vectors_of_words():
    """h_0 = [x; x]; h_l has the states after the word, read from each side, marks before it; rows as if alone."""
    model, words = build(), text()
    mask = torch.arange(T) < torch.tensor([[T], [2], [4]])
    found = model.read(Batch(ids=words, mask=mask))
    assert [h.shape for h in found] == [(3, T, 10)] * 3
    for row, length in enumerate([T, 2, 4]):
        own = words[row, :length].tolist()
        x = model.embedding.table
        ahead = [h[0, 1:] for h in model.encoder.layers(x[torch.tensor([[START, *own]])])]
        back = [h[0, 1:].flip(0) for h in model.backwards.layers(x[torch.tensor([[STOP, *own[::-1]]])])]
        torch.testing.assert_close(found[0][row, :length], x[own].repeat(1, 2))
        for layer in range(2):
            torch.testing.assert_close(found[layer + 1][row, :length], torch.cat([ahead[layer], back[layer]], 1))
        assert all((h[row, length:] == 0).all() for h in found)


def test_an_encoder_that_sees_both_sides_is_refused():
    with pytest.raises(
        UserError, match=r"would see the answer; a bilm has one encoder for each way: set encoder\.bidi"
    ):
        build(encoder={"kind": "recurrent", "size": 6, "bidirectional": True})


def test_a_run_has_perplexities_both_ways(tiny, tmp_path, capsys, monkeypatch):
    """Trained on `a b c d` in a circle each way knows the next one, and figures of each are those of its loss."""
    (tmp_path / "abc.txt").write_text("a b c d " * 400)
    recipe = tiny | {
        "task": "bilm",
        "tokens": "blanks",
        "embedding": {"kind": "characters", "size": 8, "kernels": [[2, 8]]},
    }
    recipe |= {"encoder": FED | {"size": 8}, "data": {"train": str(tmp_path / "abc.txt")}}
    recipe |= {
        "train": {
            "steps": 60,
            "batches": {"kind": "packed", "rows": 8, "length": 20},
            "optimizer": {"kind": "adamw", "lr": 0.03},
        }
    }
    run = start.train(recipe, out=tmp_path / "run", device="cpu", watch=Watch())
    found = run.evaluate()
    assert set(found.ways) == {"forwards", "backwards"} and not found.pseudo
    assert found.loss == pytest.approx(sum(found.ways.values()) / 2) and found.perplexity < 1.6
    about = found.as_dict()
    assert about["perplexity_forwards"] == pytest.approx(math.exp(found.ways["forwards"]))
    again = load(tmp_path / "run", "cpu")
    assert again.score("a b c d a")[0].nats == run.score("a b c d a")[0].nats < 3
    place = run.expect("a b", "d a").argmax()
    assert run.tokens.pieces([place]) == ["c"]
    with pytest.raises(UserError, match="sees both sides and writes nothing from left to right"):
        run.generate("a")
    assert "| forwards | " in (tmp_path / "run" / "README.md").read_text()
