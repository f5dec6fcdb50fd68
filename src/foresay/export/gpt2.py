"""A causal Transformer as Hugging Face's GPT-2: the same numbers, no code of ours.

What GPT-2 has and ours must have: learnt positions, pre-norm with LayerNorm, GELU, biases, every head an equal share,
one table for symbols in and out, no bias at the output. Texts begin with <start>, whose id is the config's
bos_token_id. `write` makes a folder of it:

    config.json          GPT2Config, with model_type
    model.safetensors    the weights by GPT-2's names; the table of symbols stands there once
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from foresay.embed.lookup import Lookup
from foresay.embed.positions import Learnt
from foresay.encode.attention import Heads
from foresay.encode.block import Block
from foresay.encode.transformer import Transformer
from foresay.errors import UserError
from foresay.models.language_model import LanguageModel
from foresay.output.output import Output
from foresay.output.rows import Rows
from foresay.run import Run
from foresay.text.tokens import START, STOP
from foresay.train.aside import aside, write_file, write_tensors_flushed

ACTIVATIONS = {"gelu": "gelu", "gelu-tanh": "gelu_new"}


def write(run: Run, folder: Path) -> None:
    """config.json and model.safetensors, as GPT2LMHeadModel.from_pretrained reads them; the config comes last."""
    about = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "tie_word_embeddings": True} | config(run)
    named = {name: tensor for name, tensor in tensors(run).items() if name != "lm_head.weight"}  # the table, once
    write_pair(folder, about, named, "gpt2")


def write_pair(folder: Path, about: dict[str, Any], named: dict[str, Tensor], form: str) -> None:
    """A folder of the weights and then the config, whole or not at all; into one that is there, file by file."""
    if folder.is_dir():
        _fill(folder, about, named)
        return
    if folder.exists() or not folder.parent.is_dir():
        what = folder if folder.exists() else folder.parent
        raise UserError(f"{what} is no folder; {form} is a folder of two files: give another --out")
    with aside(folder) as place:
        place.mkdir()
        _fill(place, about, named)


def _fill(folder: Path, about: dict[str, Any], named: dict[str, Tensor]) -> None:
    with aside(folder / "model.safetensors") as place:
        write_tensors_flushed(place, named, {"format": "pt"})
    write_file(folder / "config.json", json.dumps(about, indent=1).encode() + b"\n")


def config(given: Run | nn.Module) -> dict[str, Any]:
    """The settings of GPT2Config for a run or its model; refuses what GPT-2 cannot be."""
    model, encoder, positions = _checked(given)
    return {
        "vocab_size": model.vocabulary,
        "n_positions": positions.rows,
        "n_embd": encoder.width,
        "n_layer": len(encoder.blocks),
        "n_head": encoder.heads,
        "n_inner": encoder.blocks[0].dense.fall.in_features,
        "activation_function": ACTIVATIONS[encoder.form.activation],
        "layer_norm_epsilon": 1e-5,
        "bos_token_id": START,
        "eos_token_id": STOP,
        "resid_pdrop": 0.0,
        "embd_pdrop": 0.0,
        "attn_pdrop": 0.0,
    }


def tensors(given: Run | nn.Module) -> dict[str, Tensor]:
    """The weights of a run or its model by GPT-2's names; its products are turned over."""
    model, encoder, positions = _checked(given)
    own: dict[str, Any] = {"wte": model.embedding.weight(), "wpe": positions.table}
    found = {f"transformer.{name}.weight": tensor for name, tensor in own.items()}
    found |= _named("transformer.ln_f", encoder.norm)
    for layer, block in enumerate(encoder.blocks):
        found |= _of_block(f"transformer.h.{layer}", block)
    found["lm_head.weight"] = found["transformer.wte.weight"]
    return {name: tensor.detach() for name, tensor in found.items()}


def _checked(given: Run | nn.Module) -> tuple[LanguageModel, Transformer, Learnt]:
    """The model, its encoder and its positions, if they are GPT-2's."""
    model, name = (given.model, str(given.folder)) if isinstance(given, Run) else (given, "this")
    encoder = model.encoder if isinstance(model, LanguageModel) else None
    if not isinstance(model, LanguageModel) or not isinstance(encoder, Transformer):
        kind = getattr(encoder or model, "part_name", type(model).__name__)
        raise UserError(f"{name} is a {kind}; GPT-2 is a language model with a Transformer: train transformer")
    form, positions, output = encoder.form, encoder.positions, model.output
    tied = isinstance(output, Rows) and output.tied and not output.has_bias
    wide = isinstance(model.embedding, Lookup) and model.embedding.width == encoder.width
    checks = (
        ("encoder.positions", positions.part_name, "learnt", isinstance(positions, Learnt)),
        ("encoder.block.norm", form.norm, "layer", form.norm == "layer"),
        ("encoder.block.place", form.place, "pre", form.place == "pre"),
        ("encoder.block.shortcuts", form.shortcuts, "residual", form.shortcuts == "residual"),
        ("encoder.block.bias", "false", "true", form.bias),
        ("encoder.block.activation", form.activation, "gelu or gelu-tanh", form.activation in ACTIVATIONS),
        ("encoder.attention", "of its own", "left out", encoder.how == Heads()),
        ("embedding", _embedding(model), f"lookup of size {encoder.width}", wide),
        ("output", _output(output), "tied=true and bias=false", tied),
    )
    other = [(setting, has, needs) for setting, has, needs, same in checks if not same]
    if other:
        has = ", ".join(f"{setting} is {has}" for setting, has, _ in other)
        needs = ", ".join(
            f"{setting}={needs}" if " " not in needs else f"{setting} {needs}" for setting, _, needs in other
        )
        raise UserError(f"{name} is no GPT-2: {has}; it would need {needs}: train with that")
    assert isinstance(positions, Learnt)
    return model, encoder, positions


def _embedding(model: LanguageModel) -> str:
    return f"{model.embedding.part_name} of size {model.embedding.width}"


def _output(output: Output) -> str:
    if not isinstance(output, Rows):
        return output.part_name
    return f"tied={str(output.tied).lower()} and bias={str(output.has_bias).lower()}"


def _of_block(name: str, block: Block) -> dict[str, Any]:
    turned = {
        "attn.c_attn": block.attention.qkv,
        "attn.c_proj": block.attention.join,
        "mlp.c_fc": block.dense.rise,
        "mlp.c_proj": block.dense.fall,
    }
    found = _named(f"{name}.ln_1", block.norm_attention) | _named(f"{name}.ln_2", block.norm_dense)
    for inner, dense in turned.items():
        assert dense is not None
        found |= {f"{name}.{inner}.weight": dense.weight.T, f"{name}.{inner}.bias": dense.bias}
    return found


def _named(name: str, norm: Any) -> dict[str, Tensor]:
    return {f"{name}.weight": norm.weight, f"{name}.bias": norm.bias}
