"""What every registered tokeniser keeps, also with steps before it: the same ids when loaded, elsewhere, by parts."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from foresay import parts
from foresay.errors import UserError
from foresay.text.saved import open_tokens
from foresay.text.tokens import MASK, PAD, SPECIALS, START, STOP, UNK

NAMES = [name for name in parts.names("tokens") if name not in ("levels", "numbers")]  # these know numbers, and no text
CLEAN = {"kind": "steps", "unicode": "NFKC", "lowercase": True, "emoji": "strip", "blanks": "collapse"}
PHRASES = {"kind": "count", "min_count": 2, "threshold": 3.0, "passes": 2}
SPECS = {name: {"kind": name} for name in NAMES} | {
    f"clean {name}": {"kind": name, "normalise": CLEAN} for name in NAMES
}
SPECS |= {
    "phrases": {"kind": "words", "phrases": PHRASES},
    "joined blanks": {"kind": "blanks", "phrases": PHRASES, "stem": "lemmas"},
    "stems": {"kind": "words", "stem": "snowball"},
    "chinese": {"kind": "words", "segment": {"kind": "jieba", "dictionary": ["混在一起"]}},
    "whole chain": {"kind": "words", "normalise": CLEAN, "segment": "jieba", "stem": "lemmas", "phrases": PHRASES},
}
KINDS = list(SPECS)
CORPUS = (
    "A 11-year-old boy was eating; he isn't eating 3.14 apples.\n"
    "中文和 English 混在一起,ひらがなも。\n\n  two  blanks\tand a tab\r\nİstanbul ΣΑΣ <unk> <stop> <pad>\n"
) * 3
HARD = st.text(
    st.one_of(
        st.characters(exclude_categories=["Cs"]), st.sampled_from(" \n\t'’<>unkstopa1中ー\x1c\x85\u3000_😀\ufe0f")
    )
) | st.lists(st.sampled_from(["eating", "apples", "he", "isn't", "混在一起", "中文和", "11-year", "\n", " "])).map(
    " ".join
)


@pytest.fixture(scope="module")
def all_learnt(tmp_path_factory):
    found = {}
    for kind, spec in SPECS.items():
        tokens = parts.make("tokens", spec)
        tokens.learn([CORPUS])
        folder = tmp_path_factory.mktemp("tokens")
        tokens.save(folder)
        found[kind] = (tokens, Tokenizer.from_file(str(folder / "tokenizer.json")), folder)
    return found


@pytest.mark.parametrize("kind", NAMES)
@given(text=HARD)
def test_library_loads_the_file_and_gives_the_same_ids(all_learnt, kind, text):
    tokens, library, _ = all_learnt[kind]
    ids = tokens.encode(text)
    assert ids.dtype == np.uint32
    assert ids.tolist() == library.encode(text).ids


@pytest.mark.parametrize("kind", NAMES)
@given(text=HARD)
def test_with_a_normaliser_the_ids_are_those_of_the_cleaned_text(all_learnt, kind, text):
    tokens, library, _ = all_learnt[f"clean {kind}"]
    assert tokens.encode(text).tolist() == library.encode(tokens.normalise(text)).ids


@pytest.mark.parametrize("kind", ["bytes", "subwords", "unigram"])
@given(text=HARD)
def test_what_comes_back_is_the_text_or_the_cleaned_text(all_learnt, kind, text):
    plain, clean = all_learnt[kind][0], all_learnt[f"clean {kind}"][0]
    assert plain.decode(plain.encode(text)) == text
    assert clean.decode(clean.encode(text)) == clean.normalise(text)


@pytest.mark.parametrize("kind", KINDS)
@given(texts=st.lists(HARD, max_size=4))
def test_many_texts_give_what_each_gives(all_learnt, kind, texts):
    tokens = all_learnt[kind][0]
    assert [ids.tolist() for ids in tokens.encode_many(texts)] == [tokens.encode(text).tolist() for text in texts]


@pytest.mark.parametrize("kind", KINDS)
@given(lines=st.lists(HARD, max_size=4))
def test_cutting_after_a_newline_changes_no_id(all_learnt, kind, lines):
    tokens = all_learnt[kind][0]
    pieces = [line + "\n" for line in lines]
    apart = [i for piece in pieces for i in tokens.encode(piece).tolist()]
    assert tokens.encode("".join(pieces)).tolist() == apart


@pytest.mark.parametrize("kind", ["words", "blanks", "clean words", "clean blanks", "stems", "chinese"])
@given(pieces=st.lists(HARD, max_size=4))
def test_cutting_words_after_a_blank_changes_no_id(all_learnt, kind, pieces):
    tokens = all_learnt[kind][0]
    assert tokens.cuts == "at blanks"
    apart = [i for piece in pieces for i in tokens.encode(piece + " ").tolist()]
    assert tokens.encode("".join(piece + " " for piece in pieces)).tolist() == apart


def test_where_texts_may_be_cut(all_learnt):
    assert [kind for kind in KINDS if all_learnt[kind][0].cuts == "anywhere"] == ["bytes", "characters"]
    assert all(all_learnt[kind][0].cuts == "at lines" for kind in ("subwords", "phrases", "clean characters"))
    assert [kind for kind in KINDS if all_learnt[kind][0].quick] == ["bytes", "characters"]


@pytest.mark.parametrize("kind", ["bytes", "characters"])
@given(left=HARD, right=HARD)
def test_they_give_the_same_ids(all_learnt, kind, left, right):
    tokens = all_learnt[kind][0]
    assert tokens.encode(left + right).tolist() == tokens.encode(left).tolist() + tokens.encode(right).tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(text=HARD)
def test_no_text_gives_a_control_mark(all_learnt, kind, text):
    tokens = all_learnt[kind][0]
    ids = set(tokens.encode(text + "<stop><pad> <start> <mask>").tolist())
    assert not ids & {PAD, START, STOP, MASK}


@pytest.mark.parametrize("kind", KINDS)
def test_control_marks_are_left_out_of_the_text_and_shown_as_pieces(all_learnt, kind):
    tokens = all_learnt[kind][0]
    ids = tokens.encode("apples was eating").tolist()
    assert tokens.decode([START, *ids, STOP, PAD]) == tokens.decode(ids) != ""
    assert tokens.pieces([START, STOP, UNK]) == ["<start>", "<stop>", "<unk>"]
    assert len(tokens.pieces(range(len(tokens)))) == len(tokens)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_and_loaded_is_the_same(all_learnt, kind):
    tokens, _, folder = all_learnt[kind]
    again = open_tokens(folder)
    assert len(again) == len(tokens) and parts.describe(again) == parts.describe(tokens)
    assert again.encode(CORPUS).tolist() == tokens.encode(CORPUS).tolist()
    assert again.decode(again.encode(CORPUS)) == tokens.decode(tokens.encode(CORPUS))


def test_learning_in_another_process_gives_the_same_files(all_learnt, tmp_path):
    call = (
        "import sys, json, pathlib; from foresay import parts; specs, text = json.load(sys.stdin)\n"
        "for kind, spec in specs.items():\n"
        "    tokens = parts.make('tokens', spec); tokens.learn([text]); tokens.save(pathlib.Path(sys.argv[1]) / kind)"
    )
    subprocess.run([sys.executable, "-c", call, tmp_path], input=json.dumps([SPECS, CORPUS]), text=True, check=True)
    for kind in KINDS:
        for name in ("tokenizer.json", "text.json"):
            assert (tmp_path / kind / name).read_bytes() == (all_learnt[kind][2] / name).read_bytes(), kind


def test_loading_in_another_process_gives_the_same_ids(all_learnt):
    call = (
        "import sys, json, pathlib; from foresay.text.saved import open_tokens; folders, text = json.load(sys.stdin)\n"
        "print(json.dumps([open_tokens(pathlib.Path(folder)).encode(text).tolist() for folder in folders]))"
    )
    given = json.dumps([[str(all_learnt[kind][2]) for kind in KINDS], CORPUS])
    done = subprocess.run([sys.executable, "-c", call], input=given, text=True, check=True, capture_output=True)
    assert json.loads(done.stdout) == [all_learnt[kind][0].encode(CORPUS).tolist() for kind in KINDS]


@pytest.mark.parametrize("kind", [*NAMES, "phrases"])
@pytest.mark.parametrize("name", ["tokenizer.json", "text.json"])
@pytest.mark.parametrize("damage", ["missing", "truncated", "foreign", "bytes"])
def test_damaged_files_are_named(all_learnt, kind, name, damage, tmp_path):
    tokens = all_learnt[kind][0]
    tokens.save(tmp_path)
    path = tmp_path / name
    content = path.read_bytes()
    if damage == "missing":
        path.unlink()
    elif damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "foreign":
        path.write_text('{"model": "another"}')
    else:
        path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match=name):
        parts.make("tokens", SPECS[kind]).load(tmp_path)


def test_a_tokeniser_of_another_kind_is_refused(all_learnt):
    with pytest.raises(UserError, match=r"is of tokens words, not bytes; set tokens.kind to words"):
        parts.make("tokens", "bytes").load(all_learnt["words"][2])


def test_a_tokenizer_file_with_other_marks_is_refused(all_learnt, tmp_path: Path):
    all_learnt["words"][0].save(tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(path.read_text().replace('"<stop>": 3', '"</s>": 3'))
    with pytest.raises(UserError, match="ids 0-4 must be"):
        open_tokens(tmp_path)


def test_history_of_ai_table():
    """Input `<start> history of AI`, target `history of AI <stop>`."""
    tokens = parts.make("tokens", "words")
    tokens.learn(["history of AI"])
    ids = tokens.encode("history of AI").tolist()
    assert tokens.pieces([START, *ids]) == ["<start>", "history", "of", "AI"]
    assert tokens.pieces([*ids, STOP]) == ["history", "of", "AI", "<stop>"]
    assert [START, *ids][1:] == [*ids, STOP][:-1]
    assert sorted(ids) == [5, 6, 7] and len(tokens) == len(SPECIALS) + 3
