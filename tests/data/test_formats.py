"""The same text from every format: the same shards, byte for byte."""

import json

import pytest

from foresay.data.corpus import Corpus
from foresay.data.prepare import prepare
from foresay.data.source import Reading
from foresay.errors import UserError
from foresay.text.subwords import Subwords
from foresay.text.tokens import STOP
from tests.data.formats import LINES, shards, write

NO_TAB = [line.replace("\t", " ") for line in LINES]  # a table with tabs cannot hold one
PLAIN = ["a.txt.gz", "a.txt.bz2", "a.txt.xz", "a.txt.zst"]
TABLES = ["a.jsonl", "a.jsonl.gz", "a.csv", "a.csv.xz", "a.tsv", "a.tsv.zst", "a.parquet"]


def prepared(where, cache, **settings):
    name = str(where)
    column = 2 if ".tsv" in name else None
    corpus = Corpus(name, read=Reading(column=column), **settings)
    return prepare(corpus, Subwords(size=300), 1, cache=cache, block=200, shard=256)


@pytest.mark.parametrize("holdout", ["tail", "seed"])
@pytest.mark.parametrize("name", PLAIN + TABLES)
def test_every_format_gives_the_same_shards_by_lines(tmp_path, name, holdout):
    plain = prepared(write(tmp_path, "plain.txt", NO_TAB), tmp_path / "one", unit="line", holdout=holdout)
    found = prepared(write(tmp_path, name, NO_TAB), tmp_path / "two", unit="line", holdout=holdout)
    assert plain.valid is not None and len(plain.valid) > 30
    assert shards(found.folder) == shards(plain.folder)


@pytest.mark.parametrize("name", PLAIN)
def test_a_packed_document_is_the_document(tmp_path, name):
    plain = prepared(write(tmp_path, "plain.txt", LINES), tmp_path / "one")
    assert shards(prepared(write(tmp_path, name, LINES), tmp_path / "two").folder) == shards(plain.folder)
    assert plain.train.documents == plain.valid.documents == 1


@pytest.mark.parametrize("name", ["a.fasta", "a.fa.gz"])
@pytest.mark.parametrize("unit", ["line", "document"])
def test_sequences_of_fasta_are_rows(tmp_path, name, unit):
    texts = [line.strip() for line in LINES]
    table = prepared(write(tmp_path, "a.jsonl", texts), tmp_path / "one", unit=unit)
    assert shards(prepared(write(tmp_path, name, texts), tmp_path / "two", unit=unit).folder) == shards(table.folder)


@pytest.mark.parametrize("name", TABLES)
def test_the_rows_of_a_table_are_documents(tmp_path, name):
    texts = [line.strip() for line in NO_TAB]
    texts = texts if "tsv" in name else ["two\nlines", *texts]
    folder = tmp_path / "files"
    folder.mkdir()
    for i, text in enumerate(texts):
        (folder / f"{i:03}.txt").write_text(text)
    files = prepared(folder, tmp_path / "one", share=0.0)
    table = prepared(write(tmp_path, name, texts), tmp_path / "two", share=0.0)
    assert shards(table.folder) == shards(files.folder)
    assert table.train.documents == len(texts)


def test_a_table_is_never_cut_inside_a_row(tmp_path):
    for holdout in ("tail", "seed"):
        found = prepared(write(tmp_path, "a.jsonl", LINES), tmp_path / holdout, holdout=holdout)
        texts = []
        for part in (found.train, found.valid):
            ids = part.slice(0, len(part)).tolist()
            ends = [i for i, one in enumerate(ids) if one == STOP]
            texts += [found.tokens.decode(ids[a + 1 : b]) for a, b in zip([-1, *ends], ends, strict=False)]
        assert sorted(texts) == sorted(LINES) and (holdout == "seed" or texts == LINES)
        assert 2 <= found.valid.documents < 20


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.parquet"])
def test_a_column_by_name(tmp_path, name):
    path = write(tmp_path, name, LINES)
    with pytest.raises(UserError, match=r"has no column 'txt'; allowed: id, text.*did you mean 'text'\?"):
        Corpus(str(path), read=Reading(column="txt")).find()


def test_saved_data_sets(tmp_path):
    datasets = pytest.importorskip("datasets")
    table = datasets.Dataset.from_dict({"id": list(range(len(LINES))), "text": LINES})
    table.save_to_disk(tmp_path / "one", num_shards=3)
    datasets.DatasetDict({"train": table, "validation": table.select(range(9))}).save_to_disk(tmp_path / "both")
    plain = prepared(write(tmp_path, "plain.jsonl", LINES), tmp_path / "c", share=0.0)
    assert shards(prepared(tmp_path / "one", tmp_path / "d", share=0.0).folder) == shards(plain.folder)
    both = prepared(tmp_path / "both", tmp_path / "e")
    assert both.train.slice(0, 10**6).tolist() == plain.train.slice(0, 10**6).tolist()
    assert both.valid.documents == 9 and both.test is None


def test_data_sets_of_the_hub(tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "hf")
    folder = tmp_path / "set"
    folder.mkdir()
    write(folder, "train.jsonl", LINES)
    write(folder, "validation.jsonl", LINES[:9])
    plain = prepared(folder / "train.jsonl", tmp_path / "c", share=0.0)
    found = prepared(f"hub:{folder}", tmp_path / "d")
    assert found.train.slice(0, 10**6).tolist() == plain.train.slice(0, 10**6).tolist()
    assert found.valid.documents == 9 and found.test is None
    assert prepared(f"hub:{folder}@validation", tmp_path / "d", share=0.0).train.documents == 9
    with pytest.raises(UserError, match=r"has no split 'validatoin'; allowed: .*did you mean 'validation'"):
        prepared(f"hub:{folder}@validatoin", tmp_path / "d")
    with pytest.raises(UserError, match=r"hub:/no/where cannot be had: "):
        prepared("hub:/no/where", tmp_path / "d")


def test_json_lines_may_be_plain_strings(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(line) + "\n\n" for line in LINES))
    strings = prepared(path, tmp_path / "one", share=0.0)
    assert strings.train.documents == len(LINES)
