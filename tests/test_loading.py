"""What a run is loaded from: an ARPA file is used as one."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import torch

import foresay
from foresay import start
from foresay.counts.words import WordModel
from foresay.errors import UserError
from foresay.study.mix import mix
from foresay.train.progress import Watch
from tests.commands import Commands

LINES = ["the small dog sees a red house.", "zebra it the the", ""]


@pytest.fixture(scope="module")
def files(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of n-grams, and its ARPA file."""
    folder = tmp_path_factory.mktemp("arpa")
    raw = {"task": "ngram", "order": 3, "data": {"train": str(corpus), "unit": "line"}, "tokens": "blanks"}
    start.train(raw, out=folder / "run", device="cpu", watch=Watch())
    WordModel.load(folder / "run").write(folder / "m.arpa.gz")
    return folder / "run", folder / "m.arpa.gz"


def test_an_arpa_file_scores_as_the_run_it_came_from(files: tuple[Path, Path]) -> None:
    run, other = (foresay.load(file) for file in files)
    expected = [one.nats for one in run.score(LINES)]
    assert [one.nats for one in other.score(LINES)] == pytest.approx(expected, abs=1e-4)
    assert expected == pytest.approx(-WordModel.read(files[1]).score(LINES), abs=1e-4)
    assert other.generate("the", length=5) == run.generate("the", length=5)
    Path("other.txt").write_text("\n".join(LINES))
    assert other.evaluate("other.txt").loss == pytest.approx(run.evaluate("other.txt").loss, abs=1e-4)


def test_a_file_without_an_unknown_word_is_told_of(call: Commands) -> None:
    Path("m.arpa").write_text(r"""
\data\
ngram 1=3
\1-grams:
-99 <s>
-0.3 </s>
-0.3 yes
\end\
""")
    said = "m.arpa has no <unk>: a text with any other word has probability 0"
    with pytest.warns(UserWarning, match=said):
        foresay.load("m.arpa")
    called = call("score", "m.arpa", "yes", "no")
    assert called.error == f"warning: {said}\n" and called.out == "1.3816\tyes\ninf\tno\n"  # 0.6 ln 10


def test_commands_take_an_arpa_file(files: tuple[Path, Path], call: Commands) -> None:
    scored = call("score", files[1], "the small dog")
    assert scored.code == 0 and float(scored.out.split("\t")[0]) > 0
    assert "m.arpa.gz is a file and has no text of its own; give one" in call.refused("eval", files[1])
    Path("m.lm").write_bytes(gzip.decompress(files[1].read_bytes()))
    Path("m.txt").write_bytes(Path("m.lm").read_bytes())
    assert call("score", "m.lm", "the small dog").out == call("score", "m.txt", "the small dog").out == scored.out
    Path("my.txt").write_text("a text")
    assert call.refused("score", "my.txt", "a") == (
        "my.txt is a file, no run and no ARPA file; give a folder that foresay train has written"
    )
    Path("bad.arpa").write_text("no table")
    assert "bad.arpa" in call.refused("score", "bad.arpa", "a")
    with pytest.raises(UserError, match="is a file without a validation text to fit weights on; name a run first"):
        mix([foresay.load(files[1]), foresay.load(files[0])])


def test_a_run_is_loaded_where_nothing_is_learnt(trained: Path) -> None:
    with torch.inference_mode():
        run = foresay.load(trained, "cpu")
        assert run.perplexity("the cat sees it") == foresay.load(trained, "cpu").perplexity("the cat sees it")
