"""A run, a prepared folder, a recipe or a text: each gives its prepared corpus."""

import pytest

from foresay import start
from foresay.errors import UserError
from foresay.ready import prepare, ready, summary
from foresay.train.progress import Watch

SMALL = ["tokens=characters", "train.steps=2", "encoder.size=8", "embedding.size=8", "output.tied=false"]


def test_every_way_gives_the_same_corpus(tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("one two three four\n" * 40)
    words = ["tokens=characters", f"data.train={text}"]
    made = ready(str(text), ["tokens=characters"])
    assert ready("lstm", words).folder == made.folder
    assert ready({"task": "language-model"}, words).folder == made.folder
    assert ready(made.folder).folder == made.folder
    run = start.train("lstm", [*SMALL, f"data.train={text}"], out=tmp_path / "run", watch=Watch())
    assert ready(run.folder).folder == made.folder
    with pytest.raises(UserError, match="settings cannot change it"):
        ready(run.folder, ["tokens=words"])


def test_a_run_whose_text_is_not_in_the_cache(tmp_path, monkeypatch):
    text = tmp_path / "a.txt"
    text.write_text("one two three four\n" * 40)
    run = start.train("lstm", [*SMALL, f"data.train={text}"], out=tmp_path / "run", watch=Watch())
    monkeypatch.setenv("FORESAY_CACHE", str(tmp_path / "other"))
    assert ready(run.folder).folder.parent == tmp_path / "other"
    text.write_text("other\n" * 40)
    monkeypatch.setenv("FORESAY_CACHE", str(tmp_path / "third"))
    with pytest.raises(UserError, match="has changed since it was trained"):
        ready(run.folder)


def test_lists_and_settings_of_reading(tmp_path):
    (tmp_path / "a.csv").write_text("id,body\n" + "".join(f"{i},some words here {i}\n" for i in range(50)))
    (tmp_path / "b.txt").write_text("plain text at the end\n" * 20)
    made = prepare([str(tmp_path / "a.csv"), str(tmp_path / "b.txt")], ["data.column=body"], watch=Watch())
    assert made.train.documents == 51 and made.valid.documents == 1
    found = summary(made)
    assert found["tokens"]["kind"] == "characters" and found["symbols"] == len(made.tokens)
    assert found["parts"]["train"]["bytes"] == made.train.bytes and found["folder"] == str(made.folder)
