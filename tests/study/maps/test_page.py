"""The interactive map: one file, nothing to fetch, every word in it, safe whatever the words are."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.study.cooccurrence import CountedVectors
from foresay.study.maps import draw_map
from foresay.study.maps.map import COLOURS, MARKS, Map
from foresay.study.maps.page import layout, traces
from tests.study.maps.made import made, needs_plotly


def map_of(groups: dict[str, str] | None = None, **given) -> Map:
    points = np.arange(6.0).reshape(3, 2)
    return Map(["a", "<b>", "c"], points, np.array([5.0, 1000, 1]), groups, "T<i>", "how", [], **given)


def test_points_and_what_is_told_of_them():
    (trace,) = traces(map_of())
    assert (trace["x"], trace["y"], trace["type"]) == ([0, 2, 4], [1, 3, 5], "scatter")
    assert trace["customdata"] == [
        ["a", "<br>5 times", 1], ["&lt;b&gt;", "<br>1,000 times", 0], ["c", "<br>1 times", 2],
    ]  # fmt: skip
    assert layout(map_of())["title"]["text"] == "T&lt;i&gt;" and not layout(map_of())["showlegend"]


def test_a_trace_for_each_group():
    groups = map_of({"c": "x", "a": "x", "gone": "y"})
    found = traces(groups)
    assert [trace["name"] for trace in found] == ["x (2)", "other (1)"] and layout(groups)["showlegend"]
    assert found[0]["x"] == [0, 4] and found[0]["customdata"][0] == ["a", "<br>x<br>5 times", 0]
    assert found[1]["customdata"] == [["&lt;b&gt;", "<br>other<br>1,000 times", 2]]  # its label comes last
    assert found[0]["marker"]["color"] == COLOURS[0] and found[0]["marker"]["symbol"] == MARKS[0]


def test_frequencies_have_a_bar_in_counts():
    (trace,) = traces(map_of(by_frequency=True))
    assert trace["marker"]["color"] == pytest.approx([np.log10(5), 3, 0])
    assert trace["marker"]["colorbar"]["ticktext"] == ["1", "10", "100", "1,000"]


def test_many_points_are_drawn_by_the_graphics_card():
    vectors = made(2001)
    points = np.zeros((2001, 2))
    (trace,) = traces(Map(vectors.words, points, None, None, "", "", []))
    assert trace["type"] == "scattergl" and trace["customdata"][5][1:] == ["", 5]


@needs_plotly
def test_one_file_that_fetches_nothing(tmp_path: Path):
    vectors = CountedVectors(["</script>", "<unk>", "猫"], np.array([3, 2, 1]), np.eye(3))
    for name in ("one", "other"):
        draw_map(vectors, tmp_path / f"{name}.html", method="pca", colour="frequency", title="a & b")
    page = (tmp_path / "one.html").read_text("utf-8")
    assert page == (tmp_path / "other.html").read_text("utf-8")
    assert "<title>a &amp; b</title>" in page and len(page) > 1_000_000  # plotly's script is in it
    assert not re.search(r"<script[^>]*\ssrc=|<link[^>]*\shref=", page)
    assert "function place_labels()" in page and "{plot_id}" not in page
    data = page[page.rindex("Plotly.newPlot(") : page.rindex("const map =")]
    assert "</script>" not in data and ("猫" in data or "\\u732b" in data)
    assert "&lt;unk&gt;" in data.replace("\\u0026", "&")


def test_a_library_that_is_not_there(monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.io", None)
    with pytest.raises(UserError, match=r"an interactive map \(m.html\) needs the library plotly .*'foresay\[maps\]'"):
        draw_map(made(5), "m.html", method="pca")
