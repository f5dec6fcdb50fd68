"""Tables of text: which column, and what is said of a line that is wrong."""

import io
import json

import pytest

from foresay.data.compressed import Damaged, NotText
from foresay.data.corpus import Corpus
from foresay.data.records import RETURN, ZERO, Broken, Joined, delimited, json_lines, sequences
from foresay.data.source import Reading
from foresay.errors import UserError


def csv_texts(content, column=None, comma=True):
    return list(delimited(io.BytesIO(content.encode()), column, comma))


def json_texts(content, column=None):
    return list(json_lines(io.BytesIO(content.encode()), column))


def test_fields_are_read_as_csv_means_them():
    content = 'id,text\r\n1,"a ""b"", c"\r\n2,"two\nlines"\r\n\r\n3,\r\n4, last \r\n'
    assert csv_texts(content) == ['a "b", c', "two\nlines", " last "]
    assert csv_texts("only\na\nb, c\n".replace(", ", ";")) == ["a", "b;c"]
    assert csv_texts("text,more\na,b", "more") == ["b"]


def test_tabs_divide_and_quotes_do_not():
    assert csv_texts('7\t"so", he said\n8\tx\n', 2, comma=False) == ['"so", he said', "x"]
    assert csv_texts("id\ttext\n7\tx\n", None, comma=False) == ["x"]


@pytest.mark.parametrize(
    ("content", "column", "error", "message"),
    [
        ("a,b\n1,2\n", None, NotText, "has the columns a, b and none called text; name one: data.column="),
        ("a,text\n1,2\n", "txt", NotText, "has no column 'txt'; allowed: a, text; did you mean 'text'?"),
        ("a,b\n1,2\n", 3, NotText, "has no column 3; allowed: 1 to 2"),
        ("a,text\n1,2\n1,2,3\n", None, Damaged, "line 3 has 3 fields, the first line has 2; mend the line (quote a"),
        ('a,text\n1,"2\n3"\n4\n', None, Damaged, "line 4 has 1 field, the first line has 2"),
        ("a,text\r1,2\r", None, Damaged, f"line 1 {RETURN}"),
        ("a,text\n1,2\r3,4\n", None, Damaged, f"line 2 {RETURN}"),
        ('a,text\n1,"2"x\n', None, Damaged, "line 2 is no CSV ("),
        ('a,text\n1,"open\n', None, Damaged, "line 2 is no CSV ("),
        ("a,text\n1,x\0y\n", None, Damaged, "line 2"),
    ],
)
def test_csv_that_is_wrong(content, column, error, message):
    with pytest.raises(error) as caught:
        csv_texts(content, column)
    assert str(caught.value).startswith(message)


def test_sequences_below_their_names():
    content = b"; made\n>sp|P1 one\r\nMKV\r\n LA \r\n\r\n>empty\n>two\nACD\n>last\n"
    assert list(sequences(io.BytesIO(content))) == ["MKVLA", "ACD"]
    assert list(sequences(io.BytesIO(b""))) == []


@pytest.mark.parametrize(
    ("content", "error", "message"),
    [
        (b"\nMKV\n>one\nLA\n", NotText, "line 2 stands below no name, and FASTA has one, >name, above each sequence"),
        (b">one\nMK\rVLA\n", Damaged, f"line 2 {RETURN}"),
        (b">one\nMK\0VLA\n", Damaged, f"line 2 {ZERO}"),
    ],
)
def test_sequences_that_are_wrong(content, error, message):
    with pytest.raises(error) as caught:
        list(sequences(io.BytesIO(content)))
    assert str(caught.value).startswith(message)


def test_objects_and_strings():
    lines = [{"id": 1, "text": "a\nb"}, {"text": None, "id": 2}, {"id": 3, "text": ""}, {"text": "中", "id": 4}]
    content = "\n".join(map(json.dumps, lines))
    assert json_texts(content) == ["a\nb", "中"]
    assert json_texts('{"body": "only"}') == ["only"]
    assert json_texts('{"body": "b", "text": "t"}', "body") == ["b"]
    assert json_texts('"x"\n\n"y"\n') == ["x", "y"]


@pytest.mark.parametrize(
    ("content", "column", "error", "message"),
    [
        (
            '{"text": "a"}\n{"text": "b"\n',
            None,
            Damaged,
            "line 2 is no JSON (Expecting ',' delimiter at col",
        ),
        ('{"text": "a"}\n[1]\n', None, Damaged, "line 2 holds a list; allowed: an object such as {'text': '...'}"),
        ('{"text": "a"}\n{"text": 7}', None, Damaged, "line 2: text is a number, not a text"),
        ('{"tekst": "a", "b": 1}', None, NotText, "line 1 has the columns tekst, b and none called text"),
        ('{"text": "a"}', "txt", NotText, "line 1 has no column 'txt'; allowed: text; did you mean 'text'?"),
        ('{"text": "a"}\n{"b": 1}', "text", Damaged, "line 2 has no column 'text'; allowed: b"),
        ('{"text": "a\\u0000b"}', None, Damaged, "line 1 holds a zero byte"),
        ('{"text": "a"}', 1, NotText, "holds JSON, which has no column 1; give a name"),
    ],
)
def test_json_that_is_wrong(content, column, error, message):
    with pytest.raises(error) as caught:
        json_texts(content, column)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"text": "a"}\nno\n', r"a\.jsonl: line 2 is no JSON"),
        ("a.csv", "text,b\n1,2\n1\n", r"a\.csv: line 3 has 1 field"),
        ("a.parquet", "no parquet", r"a\.parquet is damaged or no Parquet \("),
    ],
)
def test_what_is_wrong_is_told_with_the_file(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UserError, match=message):
        Corpus(str(path)).find()
    with pytest.raises(UserError, match=message):
        Corpus(str(tmp_path)).find()


def test_a_folder_leaves_out_tables_without_the_column(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,text\n1,hello\n")
    (tmp_path / "c.md").write_text("# plain")
    found = Corpus(str(tmp_path)).find()["train"]
    assert [source.path.name for source, _ in found.sources] == ["b.csv", "c.md"]
    assert found.skipped == [f"{tmp_path}/a.csv has the columns x, y and none called text; name one: data.column=..."]
    plain = Corpus(str(tmp_path), read=Reading(format="text")).find()["train"]
    assert len(plain.sources) == 3


@pytest.mark.parametrize("size", [1, 2, 7, 100])
def test_texts_as_one_stream(size):
    stream, found = Joined(iter(["ab", "中", "\ud800"]), replace=True), b""
    while block := stream.read(size):
        assert len(block) <= size
        found += block
    assert found == b"ab\0" + "中".encode() + b"\0?\0" and stream.replaced == 1


def test_half_a_character_is_a_mistake_unless_it_is_replaced(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "so \\ud83d far"}\n')
    with pytest.raises(UserError, match=r"a\.jsonl holds half a character \('\\ud83d' in .*data.errors=replace"):
        Corpus(str(path)).find()
    found = Corpus(str(path), read=Reading(errors="replace")).find()["train"]
    assert found.sources[0][1].replaced == 1


def test_the_column_is_the_same_in_every_line():
    with pytest.raises(Damaged, match="line 2 has no column 'text'; allowed: id"):
        json_texts('{"text": "a", "id": "x"}\n{"id": "SECRET"}\n')
    assert json_texts('{"body": "a"}\n{"body": "b", "id": 1}') == ["a", "b"]
    assert json_texts('{"text": "   "}\n{"text": "a"}') == ["a"]


def test_deep_json_is_no_fault_of_ours():
    with pytest.raises(Damaged, match="line 1 is no JSON we can read"):
        json_texts('{"text": "a", "x": ' + "[" * 100_000 + "]" * 100_000 + "}")


def test_where_a_row_begins():
    with pytest.raises(Damaged, match=r"line 3 is no CSV \("):
        csv_texts('a,text\n1,fine\n2,"open\n' + "3,x\n" * 100)
    with pytest.raises(NotText, match="is empty; give a table"):
        csv_texts("")
    assert csv_texts("\n\nid,text\n1,a\n") == ["a"]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_rows_that_cannot_be_read_are_left_out_and_counted(tmp_path, form):
    broken = Broken(drop=True)
    if form == "jsonl":
        content = '{"text": "a"}\nno\n{"text": 7}\n[1]\n{"b": 1}\n{"text": "x\\u0000"}\n\n{"text": "b"}\n'
        found, gone = list(json_lines(io.BytesIO(content.encode()), None, broken)), 5
    else:
        content = "id,text\n1,a\n2,x,y\n3\n4,x\0\n5,b\n"
        content = content.replace("3\n", '3,"x"y\n') if form == "csv" else content.replace(",", "\t")
        found, gone = list(delimited(io.BytesIO(content.encode()), None, form == "csv", broken)), 3
    assert (found, broken.count) == (["a", "b"], gone)
    (tmp_path / f"a.{form}").write_text(content.replace("\0", "\0" if form == "jsonl" else "\t,"))
    ((_, facts),) = Corpus(str(tmp_path / f"a.{form}"), read=Reading(broken="drop")).find()["train"].sources
    assert (facts.documents, facts.broken) == (2, gone)
    with pytest.raises(UserError, match=r"; data\.broken=drop leaves such rows out and counts them$"):
        Corpus(str(tmp_path / f"a.{form}")).find()


def test_an_open_quote_is_never_left_out():
    """It takes all lines to the end for its own."""
    with pytest.raises(Damaged, match="line 2 is no CSV"):
        list(delimited(io.BytesIO(b'text\n"open\na\nb\n'), None, True, Broken(drop=True)))


def test_a_broken_header_is_never_left_out():
    with pytest.raises(Damaged, match="line 1 is no CSV"):
        list(delimited(io.BytesIO(b'te"xt","a"b\na,b\nc,d\n'), 1, True, Broken(drop=True)))
