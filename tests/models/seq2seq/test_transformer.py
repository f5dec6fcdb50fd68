"""The Transformer's writer against torch's decoder layer, and cache against no cache."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from foresay.encode.attention import Heads
from foresay.errors import UserError
from foresay.models.seq2seq.transformer import TransformerWriter
from foresay.models.seq2seq.writer import Source

B, T, S, H = 2, 5, 4, 12


def made() -> tuple[TransformerWriter, Source, torch.Tensor]:
    torch.manual_seed(1)
    writer = TransformerWriter(size=H, layers=2, heads=3, positions="none", block={"activation": "relu"})
    writer.build(H, H)
    with torch.no_grad():
        for parameter in writer.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    annotations = torch.randn(B, S, H, dtype=torch.float64).masked_fill(~mask[:, :, None], 0)
    x = torch.randn(B, T, H, dtype=torch.float64)
    return writer.double().eval(), Source(annotations, mask, annotations[:, 0]), x


def test_equals_torchs_decoder_layers():
    writer, source, x = made()
    y = x
    for block in writer.inner.blocks:
        layer = nn.TransformerDecoderLayer(H, 3, 4 * H, 0.0, batch_first=True, norm_first=True, dtype=torch.float64)
        cross = block.source
        pairs = [
            (layer.self_attn.in_proj_weight, block.attention.qkv.weight),
            (layer.self_attn.in_proj_bias, block.attention.qkv.bias),
            (layer.multihead_attn.in_proj_weight, torch.cat([cross.query.weight, cross.kv.weight])),
            (layer.multihead_attn.in_proj_bias, torch.cat([cross.query.bias, cross.kv.bias])),
        ]
        for ours, theirs in (
            (block.attention.join, layer.self_attn.out_proj),
            (cross.join, layer.multihead_attn.out_proj),
            (block.dense.rise, layer.linear1),
            (block.dense.fall, layer.linear2),
            (block.norm_attention, layer.norm1),
            (block.norm_memory, layer.norm2),
            (block.norm_dense, layer.norm3),
        ):
            pairs += [(theirs.weight, ours.weight), (theirs.bias, ours.bias)]
        with torch.no_grad():
            for theirs, ours in pairs:
                theirs.copy_(ours)
        causal = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)
        layer.eval()
        y = layer(y, source.annotations, tgt_mask=causal, memory_key_padding_mask=~source.mask, tgt_is_causal=False)
    wanted = writer.inner.norm(y)
    wrote, _ = writer(x, writer.begin(source))
    torch.testing.assert_close(wrote.features, wanted)


@torch.no_grad()
def test_a_cache_with_room_changes_nothing():
    writer, source, x = made()
    whole, _ = writer(x, writer.begin(source))
    state, found = writer.begin(source, capacity=T), []
    for piece in x.split([2, 1, 1, 1], 1):
        wrote, state = writer(piece, state)
        found.append(wrote.features)
    torch.testing.assert_close(torch.cat(found, 1), whole.features)


def test_looks_sum_to_one_over_what_is_there():
    writer, source, x = made()
    maps = writer.looks(x, writer.begin(source))
    assert len(maps) == 2 and maps[0].shape == (B, 3, T, S)
    for one in maps:
        torch.testing.assert_close(one.sum(-1), torch.ones(B, 3, T, dtype=torch.float64))
        assert (one[1, :, :, 2:] == 0).all()


def test_heads_must_divide_the_size():
    with pytest.raises(UserError, match=r"^writer.heads=5 does not divide size=12: .* such as 4 or 6"):
        TransformerWriter(size=12, heads=5)
    with pytest.raises(UserError, match=r"^writer.attention.join=false puts .* allowed: writer.attention.values=3, or"):
        TransformerWriter(size=12, heads=4, attention=Heads(values=2, join=False))
    TransformerWriter(size=12, heads=5, attention={"width": 3})
