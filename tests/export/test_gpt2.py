"""A Transformer of ours as Hugging Face's GPT-2: the same logits, and the same tokens written."""

from __future__ import annotations

import pytest
import torch

from foresay import parts
from foresay.decode.beam import Beam
from foresay.decode.generate import generate
from foresay.decode.sample import Greedy
from foresay.decode.search import NEVER, Limits
from foresay.errors import UserError
from foresay.export import gpt2
from foresay.text.tokens import START, STOP

V = 60
BLOCK = {"activation": "gelu-tanh"}
ENCODER = {"kind": "transformer", "size": 32, "layers": 3, "heads": 4, "positions": "learnt", "block": BLOCK}


def build(encoder=None, **settings):
    torch.manual_seed(1)
    recipe = {
        "kind": "language-model",
        "embedding": {"kind": "lookup", "size": 32},
        "encoder": {**ENCODER, **(encoder or {})},
        "output": {"kind": "softmax", "tied": True, "bias": False},
        **settings,
    }
    model = parts.make("task", recipe)
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():  # nothing at zero, and no two tokens alike
            parameter.add_(0.2 * torch.randn_like(parameter))
        model.embedding.table[STOP] = 0.0  # no text ends
    return model.eval()


@pytest.fixture(scope="module")
def pair():
    transformers = pytest.importorskip("transformers")
    model = build()
    peer = transformers.GPT2LMHeadModel(transformers.GPT2Config(**gpt2.config(model)))
    left = peer.load_state_dict(gpt2.tensors(model), strict=False)
    assert not left.unexpected_keys and not left.missing_keys
    return model, peer.eval()


@torch.no_grad()
def test_logits(pair):
    model, peer = pair
    ids = torch.randint(5, V, (2, 9))
    expected = peer(torch.cat([torch.full((2, 1), START), ids], 1)).logits.log_softmax(-1)
    torch.testing.assert_close(
        model.score(ids)[0], expected[:, :-1].gather(2, ids[..., None])[..., 0], rtol=0, atol=1e-4
    )
    torch.testing.assert_close(model.step(ids, model.begin(2))[0], expected[:, -1], rtol=0, atol=1e-4)
    state = model.begin(2, capacity=4)
    for step in range(9):
        found, state = model.step(ids[:, step : step + 1], state)
        torch.testing.assert_close(found, expected[:, step + 1], rtol=0, atol=1e-4)


@pytest.mark.parametrize("cached", [True, False])
def test_tokens(pair, cached):
    model, peer = pair
    prompt = [7, 9, 30]
    settings = {"max_new_tokens": 12, "min_new_tokens": 12, "do_sample": False, "pad_token_id": 0, "use_cache": cached}
    given = torch.tensor([[START, *prompt]])
    written = peer.generate(given, suppress_tokens=[*NEVER], attention_mask=torch.ones_like(given), **settings)[0, 4:]
    found = generate(model, [prompt], Greedy(), length=12)[0]
    assert found == written.tolist()
    written = peer.generate(
        given, suppress_tokens=[*NEVER], attention_mask=torch.ones_like(given), num_beams=3, **settings
    )[0, 4:]  # fmt: skip
    assert Beam(width=3).find(model, [prompt], Limits(12, least=12))[0][0].ids == written.tolist()


@pytest.mark.parametrize(
    ("encoder", "needs"),
    [
        ({"positions": "rotary"}, "encoder.positions=learnt"),
        ({"block": {"norm": "rms"}}, "encoder.block.norm=layer"),
        ({"attention": {"groups": 2}}, "no setting of encoder.attention"),
    ],
)
def test_others_are_refused(encoder, needs):
    with pytest.raises(UserError, match=needs):
        gpt2.config(build(encoder))


def test_others_than_transformers_are_refused():
    with pytest.raises(UserError, match="train transformer"):
        gpt2.config(torch.nn.Identity())
