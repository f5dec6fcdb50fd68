"""What a run keeps of its text side: the layout, older ones, what does not fit together."""

import json

import pytest

from foresay import parts
from foresay.errors import UserError
from foresay.text.normalise import Normalise
from foresay.text.saved import open_tokens
from foresay.text.words import Words


def saved(folder, change=None, **settings):
    tokens = Words(**settings)
    tokens.learn(["new york new york is\n" * 9])
    tokens.save(folder)
    path = folder / "text.json"
    about = json.loads(path.read_text("utf-8"))
    if change:
        change(about)
        path.write_text(json.dumps(about), "utf-8")
    return tokens, about


def test_all_that_is_needed_stands_in_the_two_files(tmp_path):
    settings = {"normalise": {"kind": "steps", "lowercase": True}, "phrases": {"kind": "count", "threshold": 1.5}}
    tokens, about = saved(tmp_path, **settings)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text.json", "tokenizer.json"]
    assert list(about) == ["format", "tokens", "versions", "learnt"] and about["format"] == 2
    assert about["tokens"] == parts.describe(tokens) and about["versions"] == {}
    assert about["learnt"] == {"phrases": [[["new", "york"]]]}


def test_an_older_layout_is_read(tmp_path):
    def older(about):
        about["format"] = 1
        del about["versions"], about["learnt"]
        about["tokens"] = {"kind": "words", "size": 10000, "min_count": 1, "lowercase": False}

    tokens, _ = saved(tmp_path, older)
    assert open_tokens(tmp_path).encode("new york").tolist() == tokens.encode("new york").tolist()


def wrong_format(about):
    about["format"] = 3


def older_lowercase(about):
    about |= {"format": 1, "tokens": {"kind": "words", "size": 10000, "min_count": 1, "lowercase": True}}


def no_such_kind(about):
    about["tokens"]["kind"] = "word"


def no_phrases(about):
    about["learnt"] = {"phrases": [["new"]]}


def nothing_learnt(about):
    about["learnt"] = {}


def set_to(name, value):
    return lambda about: about.update({name: value})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (wrong_format, r"text.json has format 3; this version reads 2: prepare or train anew"),
        (older_lowercase, r"text.json has format 1; this version reads 2: prepare or train anew"),
        (no_such_kind, r"text.json: 'word' is no tokeniser; allowed: .*did you mean 'words'"),
        (no_phrases, r"text.json holds no phrases; prepare or train anew"),
        (set_to("versions", None), r"text.json is damaged: versions is None; prepare or train anew"),
        (set_to("versions", []), r"text.json is damaged: versions is \[\]; prepare or train anew"),
        (set_to("learnt", []), r"text.json is damaged: learnt is \[\]; prepare or train anew"),
        (set_to("tokens", []), r"text.json is damaged or of another program; prepare or train anew"),
        (nothing_learnt, r"text.json holds no phrases; prepare or train anew"),
    ],
)
def test_what_cannot_be_read_is_one_line(tmp_path, change, message):
    saved(tmp_path, change, phrases="count")
    with pytest.raises(UserError, match=message) as caught:
        open_tokens(tmp_path)
    assert "\n" not in str(caught.value)


def test_other_steps_than_those_of_the_recipe_are_refused(tmp_path):
    saved(tmp_path)
    with pytest.raises(
        UserError, match=r"text.json has normalise=None, not {'kind': 'steps'.*; set tokens.normalise to it"
    ):
        Words(normalise=Normalise(lowercase=True)).load(tmp_path)


@pytest.mark.parametrize("part", ["words", "blanks", "characters", "bytes", "subwords"])
def test_a_vocabulary_with_a_hole_is_one_line(tmp_path, part):
    tokens = parts.make("tokens", part, "tokens")
    tokens.learn(["new york"])
    tokens.save(tmp_path)
    path = tmp_path / "tokenizer.json"
    library = json.loads(path.read_text("utf-8"))
    vocabulary = library["model"]["vocab"]
    vocabulary[max(vocabulary, key=vocabulary.get)] = 99999
    path.write_text(json.dumps(library), "utf-8")
    with pytest.raises(UserError, match=r"tokenizer.json is damaged.*; prepare or train anew"):
        open_tokens(tmp_path)
