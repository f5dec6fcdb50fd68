"""Parquet and Arrow files: which column, what it must hold, and files that are broken."""

import gzip
import json

import pyarrow
import pyarrow.parquet
import pytest

from foresay.data import tables
from foresay.data.compressed import Damaged, NotText
from foresay.errors import UserError


def parquet(tmp_path, columns, **settings):
    path = tmp_path / "a.parquet"
    pyarrow.parquet.write_table(pyarrow.table(columns), path, **settings)
    return path


def texts(path, column=None):
    return list(tables.parquet(path, column, lambda share: None))


def test_texts_of_every_kind_of_column(tmp_path):
    long = pyarrow.array(["a", None, "", " ", "b\nc"], pyarrow.large_string())
    coded = pyarrow.array(["x", "y", "x", "x", "z"]).dictionary_encode()
    path = parquet(tmp_path, {"text": long, "coded": coded, "number": [1, 2, 3, 4, 5]}, row_group_size=2)
    assert texts(path) == ["a", "b\nc"]
    assert texts(path, "coded") == ["x", "y", "x", "x", "z"]
    assert texts(parquet(tmp_path, {"only": ["a", "b"]})) == ["a", "b"]


def test_columns_that_cannot_be(tmp_path):
    path = parquet(tmp_path, {"text": [1, 2], "body": ["a", "b"], "list": [["a"], ["b"]]})
    with pytest.raises(NotText, match="column 'text' holds int64, not text; columns with text: body"):
        texts(path)
    with pytest.raises(NotText, match="column 'list' holds list"):
        texts(path, "list")
    with pytest.raises(NotText, match="has no column 'bodi'; allowed: text, body, list; did you mean 'body'"):
        texts(path, "bodi")
    with pytest.raises(NotText, match="has named columns; allowed: text, body, list"):
        texts(path, 2)
    with pytest.raises(Damaged, match="row 2 holds a zero byte"):
        texts(parquet(tmp_path, {"text": ["a", "b\0c"]}))


def test_lists_of_texts_and_packed_files(tmp_path):
    lists = pyarrow.array([["a", "b"], ["c", "d"]], pyarrow.list_(pyarrow.string(), 2))
    with pytest.raises(NotText, match="column 'text' holds fixed_size_list"):
        texts(parquet(tmp_path, {"text": lists}))
    path = parquet(tmp_path, {"text": ["a"]})
    path.write_bytes(gzip.compress(path.read_bytes()))
    with pytest.raises(NotText, match="is a packed Parquet file; unpack it"):
        texts(path)


@pytest.mark.parametrize("cut", [4, 100])
def test_a_parquet_file_cut_short(tmp_path, cut):
    path = parquet(tmp_path, {"text": ["a" * 100, "b"]})
    path.write_bytes(path.read_bytes()[:-cut])
    with pytest.raises(Damaged, match="is damaged or no Parquet"):
        texts(path)


def test_shares_grow_to_one(tmp_path):
    path, shares = parquet(tmp_path, {"text": ["a"] * 10_000}), []
    assert len(list(tables.parquet(path, None, shares.append))) == 10_000
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) > 2


def test_saved_data_sets_that_are_damaged(tmp_path):
    assert tables.saved_files(tmp_path) is None and tables.saved_splits(tmp_path) is None
    (tmp_path / "dataset_info.json").write_text("{}")
    (tmp_path / "state.json").write_text("{}")
    with pytest.raises(UserError, match=r"state\.json is damaged; save the data set again"):
        tables.saved_files(tmp_path)
    (tmp_path / "state.json").write_text(json.dumps({"_data_files": [{"filename": "a.arrow"}]}))
    (tmp_path / "a.arrow").write_bytes(b"no arrow")
    (path,) = tables.saved_files(tmp_path)
    with pytest.raises(Damaged, match="is damaged or no Arrow stream"):
        list(tables.arrow_file(path, None, lambda share: None))
    (tmp_path / "dataset_dict.json").write_text("[]")
    with pytest.raises(UserError, match=r"dataset_dict\.json is damaged"):
        tables.saved_splits(tmp_path)
