"""Tagged words on disk: sentences as they were, what is too long, what is damaged."""

from __future__ import annotations

import pytest

from foresay.data.tag_shards import TagShards
from foresay.errors import UserError
from tests.data.tagged import TEXT, ready


def test_sentences_and_their_lines():
    shards = ready("\n" + TEXT).train
    assert isinstance(shards, TagShards) and shards.lines.tolist() == [2, 8] and shards.sizes.tolist() == [5, 2]
    words, tags = shards.sentence(1)
    assert len(set(words.tolist())) == 2 and tags.tolist() == [0, 0]
    assert shards.sentence(0)[1].tolist() == [1, 0, 0, 3, 4]  # O, B-person, I-person, B-place, I-place


def test_the_longest_sentence_is_named():
    shards = ready(TEXT).train
    assert isinstance(shards, TagShards)
    shards.check_lengths("data.test", 5, "positions")
    shards.check_lengths("data.test", None, "positions")
    with pytest.raises(UserError, match=r"^data.test: line 1 begins a sentence of 5 words; positions ends at 4: raise"):
        shards.check_lengths("data.test", 4, "positions")


@pytest.mark.parametrize("name", ["lines.bin", "tags/documents.bin"])
def test_damage_is_told(name):
    prepared = ready(TEXT)
    path = prepared.folder / "train" / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-8] + bytes(8) if "/" in name else b"")
    with pytest.raises(UserError, match="is damaged"):
        TagShards(prepared.folder / "train")
    path.write_bytes(whole)  # what is prepared is kept for other tests
