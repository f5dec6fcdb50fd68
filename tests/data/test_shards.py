"""Token shards: what is written is read, across files; damage is told."""

import json
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from foresay.data.shards import Shards, ShardWriter
from foresay.errors import UserError
from foresay.text.tokens import STOP
from tests.data.made import shards_of

DOCUMENTS = st.lists(st.lists(st.integers(5, 999), max_size=9), min_size=1, max_size=6)


@given(documents=DOCUMENTS, shard=st.integers(1, 8), data=st.data())
def test_slices_across_files(documents, shard, data):
    flat = [i for ids in documents for i in [*ids, STOP]]
    with tempfile.TemporaryDirectory() as folder:
        shards = shards_of(Path(folder) / "s", documents, shard)
        start = data.draw(st.integers(0, len(flat)))
        stop = data.draw(st.integers(start, len(flat)))
        found = shards.slice(start, stop)
        assert found.dtype == np.int64 and found.tolist() == flat[start:stop]
        assert len(shards) == len(flat)
        assert shards.ends.tolist() == np.cumsum([len(ids) + 1 for ids in documents]).tolist()
        files = sorted(Path(folder, "s").glob("0*.bin"))
        assert len(files) == -(-len(flat) // shard)


def test_a_document_in_pieces_has_one_stop(tmp_path):
    with ShardWriter(tmp_path / "s", 100, 4) as writer:
        writer.add([np.array([10, 11])], last=False)
        writer.add([np.array([12])], last=True)
        writer.add([np.array([13]), np.array([], dtype=np.uint32)])
        with pytest.raises(UserError, match=r"meta\.json is missing"):
            Shards(tmp_path / "s")
        writer.finish()
    shards = Shards(tmp_path / "s")
    assert shards.slice(0, 99).tolist() == [10, 11, 12, STOP, 13, STOP, STOP]
    assert shards.ends.tolist() == [4, 6, 7] and shards.documents == 3


@pytest.mark.parametrize(("vocabulary", "dtype", "size"), [(2**16, "uint16", 2), (2**16 + 1, "uint32", 4)])
def test_the_type_fits_the_vocabulary(tmp_path, vocabulary, dtype, size):
    shards = shards_of(tmp_path / "s", [[vocabulary - 1]], vocabulary=vocabulary)
    assert shards.meta.dtype == dtype
    assert (tmp_path / "s" / "00000.bin").read_bytes() == b"".join(
        i.to_bytes(size, "little") for i in (vocabulary - 1, STOP)
    )
    assert shards.slice(0, 1).tolist() == [vocabulary - 1]


@pytest.mark.parametrize("name", ["00001.bin", "documents.bin", "meta.json"])
@pytest.mark.parametrize("damage", ["missing", "short"])
def test_damage_is_told_with_the_file(tmp_path, name, damage):
    shards_of(tmp_path / "s", [[9] * 20])
    path = tmp_path / "s" / name
    content = path.read_bytes()
    path.unlink() if damage == "missing" else path.write_bytes(content[:-1])
    with pytest.raises(UserError, match=rf"{name} .*; delete .*s and prepare again"):
        Shards(tmp_path / "s")


@pytest.mark.parametrize("change", [{"dtype": "object"}, {"tokens": "9"}, {"more": 1}, {"shard": 0}])
def test_a_foreign_meta_is_refused(tmp_path, change):
    shards_of(tmp_path / "s", [[9]])
    path = tmp_path / "s" / "meta.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(UserError, match=r"meta\.json is damaged"):
        Shards(tmp_path / "s")
