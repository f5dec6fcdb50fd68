"""A Transformer of ours as Hugging Face's Llama: the same logits, heads that share keys and a tied table among them."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from foresay import parts, start
from foresay.errors import UserError
from foresay.export import llama
from foresay.loading import load
from foresay.text.tokens import START, STOP
from foresay.train.progress import Watch
from tests.commands import Commands

V = 60
BLOCK = {"norm": "rms", "activation": "swiglu", "bias": False}
ENCODER = {"kind": "transformer", "size": 32, "layers": 2, "heads": 4, "positions": "rotary", "block": BLOCK}
OUTPUT = {"kind": "softmax", "bias": False}


def build(encoder=None, **settings):
    torch.manual_seed(1)
    recipe = {
        "kind": "language-model",
        "embedding": {"kind": "lookup", "size": 32},
        "encoder": {**ENCODER, **(encoder or {})},
        "output": OUTPUT,
        **settings,
    }
    model = parts.make("task", recipe)
    model.build(V)
    with torch.no_grad():
        for parameter in model.parameters():  # nothing at zero or one
            parameter.add_(0.2 * torch.randn_like(parameter))
    return model.eval()


@pytest.mark.parametrize(
    ("encoder", "output"),
    [
        ({}, OUTPUT),
        (
            {"attention": {"groups": 2, "width": 6}, "positions": {"kind": "rotary", "base": 500.0}},
            OUTPUT | {"tied": True},
        ),
    ],
    ids=["usual", "shared"],
)
@torch.no_grad()
def test_logits(encoder, output):
    transformers = pytest.importorskip("transformers")
    model = build(encoder, output=output)
    peer = transformers.LlamaForCausalLM(transformers.LlamaConfig(**llama.config(model)))
    left = peer.load_state_dict(llama.tensors(model), strict=False)
    assert not left.unexpected_keys and not left.missing_keys
    ids = torch.randint(5, V, (2, 9))
    expected = peer.eval()(torch.cat([torch.full((2, 1), START), ids], 1)).logits.log_softmax(-1)
    state = model.begin(2)
    for step in range(9):
        found, state = model.step(ids[:, step : step + 1], state)
        torch.testing.assert_close(found, expected[:, step + 1], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    ("encoder", "says"),
    [
        ({"positions": "learnt"}, "encoder.positions=rotary"),
        ({"block": BLOCK | {"norm": "layer", "bias": True}}, "encoder.block.norm=rms, encoder.block.bias=false"),
        ({"attention": {"window": 3}}, "encoder.attention with groups and width alone"),
        ({"size": 16}, "embedding lookup of size 16"),
    ],
)
def test_others_are_refused(encoder, says):
    with pytest.raises(UserError) as error:
        llama.config(build(encoder))
    assert str(error.value) == f"this is no Llama; it would need {says}: train with that"


def test_other_models_are_refused():
    with pytest.raises(UserError, match="this is a recurrent; Llama is a language model with a Transformer"):
        llama.tensors(parts.make("task", "language-model"))
    with pytest.raises(UserError, match="output softmax with bias=false: train with that"):
        llama.config(build(output="softmax"))


def test_the_command_writes_what_transformers_loads(corpus: Path, call: Commands, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    recipe = {
        "task": "language-model",
        "data": {"train": str(corpus)},
        "tokens": "characters",
        "embedding": {"size": 16},
        "encoder": ENCODER | {"size": 16, "layers": 1},
        "output": OUTPUT | {"tied": True},
        "train": {"steps": 2, "batches": {"kind": "packed", "rows": 4, "length": 24}, "evaluate": {"tokens": 100}},
    }
    start.train(recipe, out="run", device="cpu", watch=Watch())
    assert call("export", "run", "--to", "llama").error == "run-llama is written\n"
    assert {one.name for one in Path("run-llama").iterdir()} == {"config.json", "model.safetensors"}
    run, text = load("run"), "the cat sees"
    peer = transformers.AutoModelForCausalLM.from_pretrained("run-llama").eval()
    assert isinstance(peer, transformers.LlamaForCausalLM)
    assert (peer.config.bos_token_id, peer.config.eos_token_id) == (START, STOP)
    with torch.no_grad():
        expected = peer(torch.tensor([[START, *run.tokens.encode(text).tolist()]])).logits.log_softmax(-1)[0, -1]
    torch.testing.assert_close(run.step(text)[0], expected, rtol=0, atol=1e-5)
    Path("file").write_text("mine")
    said = call.refused("export", "run", "--to", "llama", "--out", "file", "--force")
    assert said == "file is no folder; llama is a folder of two files: give another --out"
