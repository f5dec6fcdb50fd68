""".safetensors: the library reads ours and we read its; mapped, not read; every lie in a header is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from foresay.errors import UserError
from foresay.vectors.spelling import Spelling
from foresay.vectors.tensors_file import Tensors
from foresay.vectors.word_vectors import WordVectors

WORDS, MATRIX = ["the", "été"], np.array([[0.5, -1, 3], [2, 0.25, 7]], np.float32)


def written(header: dict | bytes, data: bytes = b"\0" * 24, length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    size = len(text) if length is None else length
    Path("v.safetensors").write_bytes(size.to_bytes(8, "little") + text + data)
    return Path("v.safetensors")


def test_the_library_reads_ours() -> None:
    spelling = Spelling(3, 6, np.ones((4, 3), np.float32))
    WordVectors(WORDS, MATRIX, [9, 8], spelling).save("v.safetensors")
    with safe_open("v.safetensors", framework="np") as file:
        assert sorted(file.keys()) == ["counts", "pieces", "vectors"]
        assert np.array_equal(file.get_tensor("vectors"), MATRIX)
        assert file.get_tensor("counts").tolist() == [9, 8]
        assert json.loads(file.metadata()["words"]) == WORDS
        assert json.loads(file.metadata()["spelling"]) == {"shortest": 3, "longest": 6}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_we_read_its(kind: type) -> None:
    save_file({"vectors": MATRIX.astype(kind)}, "v.safetensors", {"words": json.dumps(WORDS)})
    found = WordVectors.load("v.safetensors")
    assert found.words == WORDS and np.array_equal(found.matrix, MATRIX) and found.matrix.dtype == np.float32


def test_the_numbers_stay_on_the_disk() -> None:
    WordVectors(WORDS, MATRIX).save("v.safetensors")
    matrix = WordVectors.load("v.safetensors").matrix
    base = matrix
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap) and not matrix.flags.writeable


def tensor(kind: str = "F32", shape: object = (2, 3), offsets: object = (0, 24)) -> dict:
    return {"dtype": kind, "shape": shape, "data_offsets": offsets}


def named(about: dict, **metadata: str) -> dict:
    return {"vectors": about, "__metadata__": {"words": json.dumps(WORDS)} | metadata}


LIES = {
    "no JSON": (b"{nonsense", "byte 8: the header is no table of tensors"),
    "a list": (b"[1, 2, 3]", "byte 8: the header is no table"),
    "deep": (b"[" * 100_000, "byte 8: the header is no table"),
    "no table": ({"vectors": 3}, "byte 8: the header is no table"),
    "no UTF-8": (b'{"\xff": {}}', "byte 8: the header is no table"),
    "other tensors": ({"weights": tensor()}, "holds weights; it needs a tensor named vectors"),
    "a type": (named(tensor("BF16")), "tensor vectors: its type BF16 is none of F64 F32"),
    "no type": (named(tensor(kind=["F32"])), "tensor vectors: its type"),  # pyright: ignore[reportArgumentType]
    "whole numbers": (named(tensor("I32")), r"tensor vectors: int32 of shape \(2, 3\) is no matrix"),
    "a shape": (named(tensor(shape=[2, 4])), r"tensor vectors: shape \[2, 4\] needs 32 bytes, and 0 to 24 of 24"),
    "a huge shape": (named(tensor(shape=[2**40, 3], offsets=[0, 2**40 * 12])), "needs 13194139533312 bytes"),
    "a huger shape": (named(tensor(shape=[10**30, 3])), "is no place in a file"),
    "no rows": (named(tensor(shape=[0, 3], offsets=[0, 0])), r"shape \[0, 3\] at \[0, 0\] is no place"),
    "a negative shape": (named(tensor(shape=[-2, -3])), "is no place in a file"),
    "three dimensions": (named(tensor(shape=[2, 3, 1])), "are declared"),
    "one dimension": (named(tensor(shape=[6])), r"float32 of shape \(6,\) is no matrix"),
    "behind the end": (named(tensor(offsets=[4, 28])), "4 to 28 of 24 are declared"),
    "words": ({"vectors": tensor(), "__metadata__": {"words": '["a"]'}}, "has 1 words and 2 vectors"),
    "no words": ({"vectors": tensor()}, "has no words in its metadata"),
    "words that are none": ({"vectors": tensor(), "__metadata__": {"words": "[1, 2]"}}, "words is no list of words"),
    "words that are no JSON": ({"vectors": tensor(), "__metadata__": {"words": "[1,"}}, "words is no JSON"),
    "metadata": ({"vectors": tensor(), "__metadata__": []}, "byte 8"),
    "a spelling": (named(tensor(), spelling='{"shortest": 3}'), "spelling has no shortest and longest"),
    "a spelling's table": (named(tensor(), spelling='{"shortest": 3, "longest": 6}'), "it needs a tensor named pieces"),
}


@pytest.mark.parametrize(("header", "said"), LIES.values(), ids=LIES)
def test_lies(header: dict | bytes, said: str) -> None:
    with pytest.raises(UserError, match=said) as raised:
        WordVectors.load(written(header))
    assert str(raised.value).startswith("v.safetensors") and "\n" not in str(raised.value)


@pytest.mark.parametrize("length", [0, 1, 10**6, 2**63])
def test_a_header_that_is_longer_than_the_file(length: int) -> None:
    with pytest.raises(UserError, match=f"byte 0: a header of {length} bytes is declared in a file of"):
        WordVectors.load(written(named(tensor()), length=length))
    Path("v.safetensors").write_bytes(b"\x01")
    with pytest.raises(UserError, match="byte 0: a header of 1 bytes"):
        Tensors(Path("v.safetensors"))


def test_words_twice_and_numbers_that_are_none() -> None:
    save_file({"vectors": MATRIX}, "v.safetensors", {"words": '["a", "a"]'})
    with pytest.raises(UserError, match=r"v.safetensors: the word 'a' is given twice"):
        WordVectors.load("v.safetensors")
    save_file({"vectors": MATRIX * np.float32(np.nan)}, "v.safetensors", {"words": '["a", "b"]'})
    with pytest.raises(UserError, match=r"v.safetensors: the matrix holds a number that is not finite"):
        WordVectors.load("v.safetensors")


def test_too_many_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("foresay.vectors.tensors_file.LONGEST", 100)
    with pytest.raises(UserError, match=r"the words take .* bytes, and a .safetensors file holds 100; save as .bin"):
        WordVectors(["x" * 90], [[1]]).save("v.safetensors")
    assert not list(tmp_path.iterdir())
