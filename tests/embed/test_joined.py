"""Embeddings side by side: each reads what it reads."""

from __future__ import annotations

import torch

from foresay.data.batch import Batch
from foresay.embed.characters import Characters
from foresay.embed.joined import Joined
from foresay.embed.lookup import Lookup
from foresay.text.tokens import UNK
from foresay.text.word_bytes import numbered


def build() -> Joined:
    torch.manual_seed(1)
    embedding = Joined([Lookup(size=3), Characters(size=4, kernels=[[2, 5]])])
    embedding.build(9)
    return embedding.eval()


def test_a_strange_word_is_unknown_to_the_table_and_read_by_its_letters():
    embedding = build()
    letters = torch.from_numpy(numbered(["new"], 50))
    batch = Batch(ids=torch.tensor([[7, UNK]]), spelt=torch.tensor([[7, 9]]), characters=letters)
    x = embedding(batch)
    table, spelt = embedding.of
    assert embedding.width == 7 and torch.equal(x[0, :, :3], table.table[[7, UNK]])
    torch.testing.assert_close(x[0, 0, 3:], spelt.vectors(["7"])[0])  # built without symbols: spelt by its number
    torch.testing.assert_close(x[0, 1, 3:], spelt.vectors(["new"])[0])
