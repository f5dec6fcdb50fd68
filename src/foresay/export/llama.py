"""A causal Transformer as Hugging Face's Llama: the same numbers, no code of ours.

What Llama has and ours must have: rotary positions, pre-norm with RMS, swiglu, no biases, no bias at the output; heads
may share keys and values (`attention.groups`). Its q, k, v and its gate and value lie apart, ours side by side. Texts
begin with <start>, whose id is the config's bos_token_id. `write` makes a folder of it:

    config.json          LlamaConfig, with model_type
    model.safetensors    the weights by Llama's names
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn

from foresay.embed.lookup import Lookup
from foresay.embed.positions import Rotary
from foresay.encode.attention import Heads
from foresay.encode.block import Block
from foresay.encode.transformer import Transformer
from foresay.errors import UserError
from foresay.export.gpt2 import write_pair
from foresay.models.language_model import LanguageModel
from foresay.output.rows import Rows
from foresay.run import Run
from foresay.text.tokens import START, STOP

LONGEST = 4096  # positions that the config speaks of; a turn is known for any


def write(run: Run, folder: Path) -> None:
    """config.json and model.safetensors, as LlamaForCausalLM.from_pretrained reads them; the config comes last."""
    about = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]} | config(run)
    tied = about["tie_word_embeddings"]
    named = {name: tensor for name, tensor in tensors(run).items() if not (tied and name == "lm_head.weight")}
    write_pair(folder, about, named, "llama")


def config(given: Run | nn.Module) -> dict[str, Any]:
    """The settings of LlamaConfig for a run or its model; refuses what Llama cannot be."""
    model, encoder, positions, output = _checked(given)
    attention = encoder.blocks[0].attention
    return {
        "vocab_size": model.vocabulary,
        "max_position_embeddings": LONGEST,
        "hidden_size": encoder.width,
        "intermediate_size": encoder.blocks[0].dense.fall.in_features,
        "num_hidden_layers": len(encoder.blocks),
        "num_attention_heads": encoder.heads,
        "num_key_value_heads": attention.groups,
        "head_dim": attention.width,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-5,
        "rope_theta": positions.base,
        "rope_parameters": {"rope_type": "default", "rope_theta": positions.base},
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": output.tied,
        "bos_token_id": START,
        "eos_token_id": STOP,
    }


def tensors(given: Run | nn.Module) -> dict[str, Tensor]:
    """The weights of a run or its model by Llama's names."""
    model, encoder, _, output = _checked(given)
    norm: Any = encoder.norm
    found: dict[str, Any] = {"model.embed_tokens.weight": model.embedding.weight(), "model.norm.weight": norm.weight}
    for layer, block in enumerate(encoder.blocks):
        found |= {f"model.layers.{layer}.{name}.weight": tensor for name, tensor in _of_block(block).items()}
    found["lm_head.weight"] = output.weight
    return {name: tensor.detach() for name, tensor in found.items()}


def _of_block(block: Block) -> dict[str, Any]:
    attention: Any = block.attention
    q, k, v = attention.qkv.weight.split(attention.shares)
    gate, value = block.dense.rise.weight.chunk(2)
    norms: Any = block
    return {
        "input_layernorm": norms.norm_attention.weight,
        "self_attn.q_proj": q,
        "self_attn.k_proj": k,
        "self_attn.v_proj": v,
        "self_attn.o_proj": attention.join.weight,
        "post_attention_layernorm": norms.norm_dense.weight,
        "mlp.gate_proj": gate,
        "mlp.up_proj": value,
        "mlp.down_proj": block.dense.fall.weight,
    }


def _checked(given: Run | nn.Module) -> tuple[LanguageModel, Transformer, Rotary, Rows]:
    """The model, its encoder, positions and output, if they are Llama's."""
    model, name = (given.model, str(given.folder)) if isinstance(given, Run) else (given, "this")
    encoder = model.encoder if isinstance(model, LanguageModel) else None
    if not isinstance(model, LanguageModel) or not isinstance(encoder, Transformer):
        kind = getattr(encoder or model, "part_name", type(model).__name__)
        raise UserError(f"{name} is a {kind}; Llama is a language model with a Transformer: train transformer")
    form, how, output, positions = encoder.form, encoder.how, model.output, encoder.positions
    wide = isinstance(model.embedding, Lookup) and model.embedding.width == encoder.width
    usual = how == Heads(groups=how.groups, width=how.width)
    checks = {
        "encoder.positions=rotary": isinstance(positions, Rotary),
        "encoder.block.norm=rms": form.norm == "rms",
        "encoder.block.place=pre": form.place == "pre",
        "encoder.block.shortcuts=residual": form.shortcuts == "residual",
        "encoder.block.activation=swiglu": form.activation == "swiglu",
        "encoder.block.bias=false": not form.bias,
        "encoder.attention with groups and width alone": usual,
        f"embedding lookup of size {encoder.width}": wide,
        "output softmax with bias=false": isinstance(output, Rows) and not output.has_bias,
        "no condition": model.condition is None,
    }
    needs = [setting for setting, same in checks.items() if not same]
    if needs:
        raise UserError(f"{name} is no Llama; it would need {', '.join(needs)}: train with that")
    assert isinstance(positions, Rotary) and isinstance(output, Rows)
    return model, encoder, positions, output
