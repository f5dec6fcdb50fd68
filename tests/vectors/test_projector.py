"""The projector's folder: its files by hand, and TensorBoard's own reader where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from foresay.errors import UserError
from foresay.vectors.word_vectors import WordVectors


def test_the_files() -> None:
    WordVectors(["the", "été"], [[0.5, -1], [2, 0.25]]).save("folder")
    assert sorted(path.name for path in Path("folder").iterdir()) == [
        "metadata.tsv",
        "projector_config.json",
        "projector_config.pbtxt",
        "vectors.tsv",
    ]
    assert Path("folder/vectors.tsv").read_text() == "0.5\t-1\n2\t0.25\n"
    assert Path("folder/metadata.tsv").read_text("utf-8") == "the\nété\n"
    (about,) = json.loads(Path("folder/projector_config.json").read_text())["embeddings"]
    assert about["tensorShape"] == [2, 2]
    assert (about["tensorPath"], about["metadataPath"]) == ("vectors.tsv", "metadata.tsv")


def test_counts_are_a_second_column() -> None:
    WordVectors(["the", "of"], [[1], [2]], counts=[7, 5]).save("a.folder", "projector")
    assert Path("a.folder/metadata.tsv").read_text() == "word\tcount\nthe\t7\nof\t5\n"


def test_tensorboard_reads_it() -> None:
    plugin = pytest.importorskip(
        "tensorboard.plugins.projector.projector_plugin", reason="tensorboard is not installed"
    )
    from google.protobuf import text_format
    from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

    WordVectors(["the", "of"], [[0.5, -1], [2, 0.25]]).save("folder")
    config = text_format.Parse(Path("folder/projector_config.pbtxt").read_text(), ProjectorConfig())
    (about,) = config.embeddings
    assert plugin._read_tensor_tsv_file(f"folder/{about.tensor_path}").tolist() == [[0.5, -1], [2, 0.25]]
    assert Path(f"folder/{about.metadata_path}").is_file()


def test_words_that_it_cannot_hold() -> None:
    WordVectors(["new york"], [[1]]).save("folder")
    with pytest.raises(UserError, match=r"cannot hold the word 'a\\tb', which has a tab or a line's end; leave it out"):
        WordVectors(["a\tb"], [[1]]).save("other")
    assert not Path("other").exists()


def test_a_place_that_is_taken() -> None:
    Path("folder").write_text("x")
    with pytest.raises(UserError, match="folder is a file; the projector needs a folder"):
        WordVectors(["the"], [[1]]).save("folder", "projector")


def test_a_folder_of_other_files() -> None:
    vectors = WordVectors(["the"], [[1]])
    Path("run").mkdir()
    vectors.save("run")  # it is empty
    vectors.save("run")  # it is the projector's
    Path("run/events.out").write_text("TensorBoard's")
    vectors.save("run")
    Path("other").mkdir()
    Path("other/.lock").write_text("")
    Path("other/model.safetensors").write_text("x")
    line = r"^other is a folder with other files \(model.safetensors\); allowed: a new folder, or a file \*.glove.txt, "
    for form in (None, "projector"):
        with pytest.raises(UserError, match=line):
            vectors.save("other", form)
    assert sorted(path.name for path in Path("other").iterdir()) == [".lock", "model.safetensors"]


@pytest.mark.parametrize("form", ["word2vec", "word2vec-binary", "glove", "safetensors"])
def test_a_file_where_a_folder_is(form: str) -> None:
    Path("other").mkdir()
    with pytest.raises(UserError, match=r"^other is a folder; give the name of a file$"):
        WordVectors(["the"], [[1]]).save("other", form)
    assert not list(Path().glob(".other*"))
