"""Pairs: how they are read, held out, prepared, and refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from foresay import parts
from foresay.data.pair_prepare import coverage
from foresay.data.pair_shards import PairShards
from foresay.data.pairs import PairReading, Pairs
from foresay.data.prepare import prepare
from foresay.errors import UserError
from foresay.text.tokens import STOP

LEFT, RIGHT = ["a b", "b b c", "c"], ["x", "y y", "z x"]


def wrote(name: str, text: str | bytes) -> str:
    Path(name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def two(left: list[str] = LEFT, right: list[str] = RIGHT) -> list[str]:
    return [wrote("a.en", "\n".join(left) + "\n"), wrote("a.de", "\n".join(right) + "\n")]


def refused(corpus: Pairs) -> str:
    with pytest.raises(UserError) as caught:
        prepare(corpus, parts.make("tokens", "characters"), 1)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_two_files_and_tables_give_the_same_pairs():
    rows = list(zip(LEFT, RIGHT, strict=True))
    wanted = [(n, *row) for n, row in enumerate(rows, 1)]
    tsv = "".join(f"{a}\t{b}\n" for a, b in rows)
    jsonl = "".join(json.dumps({"source": a, "target": b}) + "\n" for a, b in rows)
    places = [two(), wrote("p.tsv", tsv), wrote("p.jsonl", jsonl), wrote("p.tsv.gz", gzip.compress(tsv.encode()))]
    places += [wrote("p.csv", "".join(f'"{a}",{b}\r\n' for a, b in rows))]
    for place in places:
        assert list(Pairs(place).find(1)["train"]) == wanted
    header = Pairs(wrote("h.csv", "n,target,source\n" + "".join(f"1,{b},{a}\n" for a, b in rows)))
    assert [pair[1:] for pair in header.find(1)["train"]] == rows
    named = Pairs(wrote("n.csv", "en,n,de\n" + "".join(f"{a},1,{b}\n" for a, b in rows)))
    assert "has 3 columns and none called source and target" in refused(named)
    columns = PairReading(columns=["en", "de"])
    assert [pair[1:] for pair in Pairs("n.csv", read=columns).find(1)["train"]] == rows
    turned = Pairs("n.csv", read=PairReading(columns=["en", "de"], reverse=True))
    assert [pair[1:] for pair in turned.find(1)["train"]] == [(b, a) for a, b in rows]


def test_mistakes_name_the_line():
    assert refused(Pairs(two(LEFT, RIGHT[:2]))).startswith(
        "a.de has 2 lines and a.en has 3: line 3 has no target; give files of equal length"
    )
    assert refused(Pairs(two(LEFT[:1], RIGHT))).startswith("a.en has 1 lines and a.de has 3: line 2 has no source")
    assert "line 2 has an empty source; every line needs both" in refused(Pairs(two(["a", " ", "c"])))
    assert "line 3 has an empty target" in refused(Pairs(two(LEFT, ["x", "y", ""])))
    assert "p.tsv: line 2 has 3 fields, the first has 2" in refused(Pairs(wrote("p.tsv", "a\tb\nc\td\te\n")))
    assert "line 2 has no texts source and target" in refused(
        Pairs(wrote("p.jsonl", '{"source": "a", "target": "b"}\n{"source": "a"}\n'))
    )
    assert "line 1 is no JSON" in refused(Pairs(wrote("q.jsonl", "a\n")))
    assert "no column 'fr'; allowed: en, de" in refused(
        Pairs(wrote("h.tsv", "en\tde\na\tb\n"), read=PairReading(columns=["fr", "de"]))
    )
    assert "a.en is one file of lines" in refused(Pairs(two()[0]))
    assert "line 1 is not UTF-8: byte 0xE9" in refused(Pairs([wrote("l.en", b"caf\xe9\n"), two()[1]]))
    assert "allowed: two files" in refused(Pairs(["a", "b", "c"]))
    assert "is empty" in refused(Pairs(wrote("e.tsv", "")))
    assert "is no file" in refused(Pairs("nothing.tsv"))
    assert "ptb is a text" in refused(Pairs("ptb"))
    assert "allowed: builtin:dates" in refused(Pairs("builtin:date"))
    with pytest.raises(UserError, match="allowed: two"):
        Pairs("p.tsv", read=PairReading(columns=["a"]))


def test_prepared_sides_lie_beside_each_other():
    corpus = Pairs(two(LEFT * 20, RIGHT * 20), share=0.2)
    prepared = prepare(corpus, parts.make("tokens", "characters"), 3)
    train, valid = prepared.train, prepared.valid
    assert isinstance(train, PairShards) and isinstance(valid, PairShards) and prepared.test is None
    assert train.documents + valid.documents == 60 and 3 < valid.documents < 24
    assert sorted([*train.lines, *valid.lines]) == list(range(1, 61))
    for shards in (train, valid):
        for number, line in enumerate(shards.lines.tolist()):
            for side, texts in ((shards.source, LEFT), (shards, RIGHT)):
                begin = int(side.ends[number - 1]) if number else 0
                *ids, stop = side.slice(begin, int(side.ends[number])).tolist()
                assert stop == STOP and prepared.tokens.decode(ids) == texts[(line - 1) % 3]
    assert [pair[0] for pair in corpus.rows("valid", 3)] == valid.lines.tolist()
    assert prepare(corpus, parts.make("tokens", "characters"), 3).folder == prepared.folder
    assert prepare(corpus, parts.make("tokens", "characters"), 4).folder != prepared.folder
    assert prepare(Pairs(two(), valid=two()), parts.make("tokens", "characters"), 3).valid.documents == 3


def test_the_source_may_have_its_own_vocabulary():
    own = Pairs(two(), share=0.0, source_tokens=parts.make("tokens", "characters"))
    prepared = prepare(own, parts.make("tokens", "words"), 1)
    assert prepared.source_tokens is not None and prepared.valid is None
    assert set(prepared.source_tokens.pieces(range(5, len(prepared.source_tokens)))) == {"a", "b", "c", " "}
    assert set(prepared.tokens.pieces(range(5, len(prepared.tokens)))) == {"x", "y", "z"}
    assert prepared.train.source.meta.vocabulary == 9 and prepared.train.meta.vocabulary == 8
    again = Pairs(two(), share=0.0, source_tokens=prepared.source_tokens)
    used = prepare(again, prepared.tokens, 1, learnt=True)
    assert np.array_equal(used.train.source.slice(0, 99), prepared.train.source.slice(0, 99))


def test_a_source_longer_than_the_positions_names_its_line():
    prepared = prepare(Pairs(two(), share=0.0), parts.make("tokens", "characters"), 1)
    prepared.train.check_lengths("train", 6, "encoder.positions=learnt")
    prepared.train.check_lengths("train", None, "encoder.positions=learnt")
    with pytest.raises(UserError, match=r"train: line 2 has a source of 6 tokens, <stop> among them; .* ends at 5"):
        prepared.train.check_lengths("train", 5, "encoder.positions=learnt")


def test_dates_are_made_by_the_seed_and_held_out():
    found = Pairs("builtin:dates").find(5)
    sides = {name: list(text) for name, text in found.items()}
    assert sides == {name: list(text) for name, text in Pairs("builtin:dates").find(5).items()}
    assert sides["train"] != list(Pairs("builtin:dates").find(6)["train"])
    targets = {name: {pair[2] for pair in pairs} for name, pairs in sides.items()}
    assert not targets["train"] & (targets["valid"] | targets["test"]) and not targets["valid"] & targets["test"]


def test_coverage():
    known = [True, True, False, True]
    assert coverage([0, 2, 3, 3], known) == 0.75
    assert coverage([1, 1], known) == 0.0  # <unk>
    assert coverage([], known) == 0.0


@pytest.mark.parametrize("columns", [["en", "en"], [2, 2], ["en", 1]])
def test_one_column_is_no_pair(columns: list[str | int]):
    wrote("n.csv", "en,de\na,x\n")
    with pytest.raises(UserError, match=r"data.columns=\[.*\] are one column; .*the source's and the target's"):
        list(Pairs("n.csv", read=PairReading(columns=columns)).find(1)["train"])


def test_a_folder_is_told_from_nothing():
    Path("d").mkdir()
    for place in ("d", ["d", "d"]):
        said = refused(Pairs(place))
        assert said == "data.train='d' is a folder; pairs want files: two, data.train=[train.en,train.de], or one table"


def test_talk_that_nobody_answers_is_not_empty():
    lines, play = (PairReading(format=form) for form in ("lines", "play"))
    said = refused(Pairs(wrote("sep.txt", "one\n\ntwo\n"), read=lines))
    assert said.startswith("sep.txt has lines, but none answers another; data.format=lines wants two lines or more")
    said = refused(Pairs(wrote("play.txt", "ANN:\nYes.\n"), read=play))
    assert said.startswith("play.txt has lines, but none answers another; data.format=play wants two speeches")
    assert refused(Pairs(wrote("blank.txt", "\n\n"), read=lines)).startswith("blank.txt is empty")
