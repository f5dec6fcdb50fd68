"""A Transformer of ours as Hugging Face's GPT-2: the same logits, and the same tokens written."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from foresay import parts, start
from foresay.decode.beam import Beam
from foresay.decode.generate import generate
from foresay.decode.sample import Greedy
from foresay.decode.search import NEVER, Limits
from foresay.errors import UserError
from foresay.export import gpt2
from foresay.loading import load
from foresay.text.tokens import START, STOP
from foresay.train.progress import Watch
from tests.commands import Commands

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
    ("encoder", "says"),
    [
        ({"positions": "rotary"}, "encoder.positions is rotary; it would need encoder.positions=learnt: train"),
        ({"block": {"norm": "rms"}}, "encoder.block.norm is rms; it would need encoder.block.norm=layer"),
        ({"block": {"activation": "relu"}}, "activation is relu; it would need .*activation gelu or gelu-tanh"),
        ({"attention": {"groups": 2}}, "encoder.attention is of its own; it would need encoder.attention left out"),
        (
            {"positions": "none", "block": {"bias": False}},
            "positions is none, encoder.block.bias is false; it would need encoder.positions=learnt, .*bias=true",
        ),
        ({"size": 16}, "embedding is lookup of size 32; it would need embedding lookup of size 16"),
    ],
)
def test_others_are_refused(encoder, says):
    model = build(encoder)
    for part in (gpt2.config, gpt2.tensors):
        with pytest.raises(UserError, match=f"^this is no GPT-2: .*{says}"):
            part(model)


def test_an_output_of_its_own_is_refused():
    with pytest.raises(UserError, match="output is tied=false and bias=true; it would need output tied=true and bias="):
        gpt2.tensors(build(output="softmax"))


def test_others_than_transformers_are_refused():
    for part in (gpt2.config, gpt2.tensors):
        with pytest.raises(UserError, match="this is a Identity; GPT-2 is a language model with a Transformer: train"):
            part(torch.nn.Identity())
    with pytest.raises(UserError, match="this is a recurrent; GPT-2"):
        gpt2.tensors(parts.make("task", "language-model"))


@pytest.fixture(scope="module")
def folder(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("gpt2") / "run"
    recipe = {
        "task": "language-model",
        "data": {"train": str(corpus)},
        "tokens": "characters",
        "embedding": {"size": 16},
        "encoder": ENCODER | {"size": 16, "layers": 2, "positions": {"kind": "learnt", "longest": 24}},
        "output": {"kind": "softmax", "tied": True, "bias": False},
        "train": {"steps": 2, "batches": {"kind": "packed", "rows": 4, "length": 24}, "evaluate": {"tokens": 100}},
    }
    start.train(recipe, out=place, device="cpu", watch=Watch())
    return place


@torch.no_grad()
def test_the_command_writes_what_transformers_loads(folder: Path, call: Commands, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    transformers = pytest.importorskip("transformers")
    said = call("export", folder, "--to", "gpt2").error
    place = folder.with_name("run-gpt2")
    assert said == f"{place} is written\n" and {one.name for one in place.iterdir()} == {
        "config.json",
        "model.safetensors",
    }
    run = load(folder)
    text = "the cat sees"
    ids = run.tokens.encode(text).tolist()
    for family in (transformers.GPT2LMHeadModel, transformers.AutoModelForCausalLM):
        peer = family.from_pretrained(place).eval()
        assert (peer.config.bos_token_id, peer.config.eos_token_id) == (START, STOP)
        expected = peer(torch.tensor([[START, *ids]])).logits.log_softmax(-1)[0, -1]
        torch.testing.assert_close(run.step(text)[0], expected, rtol=0, atol=1e-4)
    assert gpt2.config(run) == gpt2.config(run.model)
    before = (place / "config.json").read_bytes()
    assert "run-gpt2 exists" in call.refused("export", folder, "--to", "gpt2")
    (place / "mine.txt").write_text("mine")
    (place / "config.json").write_text("")
    call("export", folder, "--to", "gpt2", "--force")
    assert (place / "config.json").read_bytes() == before and (place / "mine.txt").read_text() == "mine"


def test_the_command_refuses(folder: Path, trained: Path, call: Commands, tmp_path: Path):
    assert call.refused("export", trained, "--to", "gpt2", "--out", "x").startswith(
        f"{trained} is a recurrent; GPT-2 is"
    )
    assert not (tmp_path / "x").exists()
    assert "for word vectors: leave it out" in call.refused(
        "export", folder, "--to", "gpt2", "--which", "both", "--out", "x"
    )
    (tmp_path / "file").write_text("mine")
    said = call.refused("export", folder, "--to", "gpt2", "--out", "file", "--force")
    assert said == "file is no folder; gpt2 is a folder of two files: give another --out"
    assert call.refused("export", folder, "--to", "gpt2", "--out", "no/x").startswith("no is no folder")
