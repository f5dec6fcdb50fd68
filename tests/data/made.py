"""Shards and texts made by hand for the tests of this folder."""

from pathlib import Path

import numpy as np

from foresay.data.shards import Shards, ShardWriter

TEXT = "".join(f"Line {i}: the cat's {'é' * (i % 5)} 中文 {i * 37 % 101}.\n{'  ' * (i % 3)}\n" for i in range(60))


def shards_of(folder: Path, documents: list[list[int]], shard: int = 7, vocabulary: int = 1000) -> Shards:
    """Shards of the given documents, in files of `shard` tokens."""
    with ShardWriter(folder, vocabulary, shard) as writer:
        for ids in documents:
            writer.add([np.array(ids, dtype=np.uint32)])
        writer.finish()
    return Shards(folder)
