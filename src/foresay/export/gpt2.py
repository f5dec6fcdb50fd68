"""A causal Transformer as Hugging Face's GPT-2: the same numbers, no code of ours.

What GPT-2 has and ours must have: learnt positions, pre-norm with LayerNorm, GELU, biases, every head an equal share,
one table for symbols in and out, no bias at the output. Texts begin with <start>, which is id 2 here, too.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from foresay.embed.lookup import Lookup
from foresay.embed.positions import Learnt
from foresay.encode.attention import Heads
from foresay.encode.block import Block
from foresay.encode.transformer import Transformer
from foresay.errors import UserError
from foresay.models.language_model import LanguageModel
from foresay.output.rows import Rows
from foresay.text.tokens import START, STOP

ACTIVATIONS = {"gelu": "gelu", "gelu-tanh": "gelu_new"}


def config(model: Any) -> dict[str, Any]:
    """The settings of GPT2Config; refuses a model that GPT-2 cannot be."""
    encoder = model.encoder if isinstance(model, LanguageModel) else None
    if not isinstance(model, LanguageModel) or not isinstance(encoder, Transformer):
        raise UserError("GPT-2 is a language model with a Transformer; train transformer")
    form, heads = encoder.form, encoder.how
    positions = encoder.positions
    other = [
        name
        for name, same in (
            ("encoder.positions=learnt", isinstance(positions, Learnt)),
            ("encoder.causal=true", encoder.causal),
            ("encoder.block.norm=layer", form.norm == "layer"),
            ("encoder.block.place=pre", form.place == "pre"),
            ("encoder.block.shortcuts=residual", form.shortcuts == "residual"),
            ("encoder.block.bias=true", form.bias),
            ("encoder.block.activation=gelu", form.activation in ACTIVATIONS),
            ("no setting of encoder.attention", heads == Heads()),
            ("embedding=lookup of the encoder's size", isinstance(model.embedding, Lookup) and _as_wide(model)),
            ("output.tied=true and output.bias=false", isinstance(model.output, Rows) and _tied(model.output)),
        )
        if not same
    ]
    if other:
        raise UserError(f"this is no GPT-2; it would need {other[0]}")
    assert isinstance(positions, Learnt)
    return {
        "vocab_size": model.vocabulary,
        "n_positions": positions.rows,
        "n_embd": encoder.width,
        "n_layer": len(encoder.blocks),
        "n_head": encoder.heads,
        "n_inner": encoder.blocks[0].dense.fall.in_features,
        "activation_function": ACTIVATIONS[form.activation],
        "layer_norm_epsilon": 1e-5,
        "bos_token_id": START,
        "eos_token_id": STOP,
        "resid_pdrop": 0.0,
        "embd_pdrop": 0.0,
        "attn_pdrop": 0.0,
    }


def _as_wide(model: LanguageModel) -> bool:
    return model.embedding.width == model.encoder.width


def _tied(output: Rows) -> bool:
    return output.tied and not output.has_bias


def tensors(model: LanguageModel) -> dict[str, Tensor]:
    """The weights by GPT-2's names; its products are turned over."""
    encoder: Any = model.encoder
    own = {"wte": model.embedding.weight(), "wpe": encoder.positions.table}
    found = {f"transformer.{name}.weight": tensor for name, tensor in own.items()}
    found |= _named("transformer.ln_f", encoder.norm)
    for layer, block in enumerate(encoder.blocks):
        found |= _of_block(f"transformer.h.{layer}", block)
    found["lm_head.weight"] = found["transformer.wte.weight"]
    return {name: tensor.detach() for name, tensor in found.items()}


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
