"""A map as an interactive page: zoom with the wheel, move by dragging, hover for the word; one file, works offline.

Labels are chosen in the browser (labels.js), anew after each zoom: the closer one looks, the more words are named.
"""

from __future__ import annotations

import html
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from foresay.errors import UserError
from foresay.extras import need
from foresay.study.maps.map import COLOURS, GREY, INK, MARKS, Look, Map, darker, shown
from foresay.train.aside import write_file

SIZE = 8  # of a point, in pixels
MANY = 2000  # words from which the points are drawn by the graphics card
CONFIG = {
    "displaylogo": False,
    "responsive": True,
    "scrollZoom": True,
    "modeBarButtonsToRemove": ["select2d", "lasso2d"],
}
NONE = "\u200b"  # as in labels.js: an empty label for now
# Viridis from its dark end for frequent words to green for rare ones; yellow cannot be seen on white
SCALE = ("#7AD151", "#35B779", "#1F9E89", "#26828E", "#31688E", "#3E4989", "#482878", "#440154")


def write_page(found: Map, path: Path) -> None:
    """Writes the page with plotly's script in it; it appears whole or not at all."""
    library = need("plotly.io", "maps", f"an interactive map ({path.name})")
    body = library.to_html(
        {"data": traces(found), "layout": layout(found)},
        config=CONFIG, include_plotlyjs=True, div_id="map", default_height="96vh", validate=False,
        post_script=resources.files("foresay.study.maps").joinpath("labels.js").read_text("utf-8"),
    )  # fmt: skip
    title = f"<head><title>{escaped(found.title)}</title>"
    try:
        write_file(path, body.replace("<head>", title, 1).encode())
    except OSError as error:
        raise UserError(f"{path} cannot be written ({error.strerror}); give another place") from None


def escaped(text: str) -> str:
    """Text that plotly and the browser show as it is; plotly does not know &quot;."""
    return html.escape(text, quote=False)


def traces(found: Map) -> list[dict[str, Any]]:
    """The points as plotly takes them, one trace for each group."""
    rank = np.empty(len(found.words), np.int64)
    rank[found.by_importance()] = np.arange(len(rank))
    if found.groups is not None:
        groups = found.looks()
        return [_trace(found, rank, places, look, group) for group, (look, places) in groups.items()]
    trace = _trace(found, rank, list(range(len(found.words))), Look(COLOURS[0], MARKS[0]), "")
    if found.by_frequency:
        trace["marker"] |= _frequencies(found)
    return [trace]


def _trace(found: Map, rank: np.ndarray, places: list[int], look: Look, group: str) -> dict[str, Any]:
    names = [escaped(shown(found.words[place])) for place in places]
    return {
        "type": "scattergl" if len(found.words) > MANY else "scatter",
        "mode": "markers+text",
        "name": f"{escaped(shown(group))} ({len(places):,})",
        "x": found.points[places, 0].tolist(),
        "y": found.points[places, 1].tolist(),
        "marker": {"color": look.colour, "symbol": look.mark, "size": SIZE, "line": {"color": "white", "width": 0.7}},
        "text": [NONE] * len(places),
        "textfont": {"color": darker(look.colour) if group else INK, "size": 12},
        "customdata": [
            [name, _told(found, place, group), int(rank[place])] for name, place in zip(names, places, strict=True)
        ],
        "hovertemplate": "<b>%{customdata[0]}</b>%{customdata[1]}<extra></extra>",
    }


def _told(found: Map, place: int, group: str) -> str:
    """What stands under the word when one hovers over its point."""
    times = f"<br>{found.counts[place]:,.0f} times" if found.counts is not None else ""
    return (f"<br>{escaped(shown(group))}" if group else "") + times


def _frequencies(found: Map) -> dict[str, Any]:
    """Colours by the logarithm of the count, with a bar in counts."""
    assert found.counts is not None
    logs = np.log10(np.maximum(found.counts, 1))
    powers = range(int(np.ceil(logs.min())), int(np.floor(logs.max())) + 1)
    ticks = sorted({*powers} if len(powers) > 1 else {float(logs.min()), float(logs.max())})
    return {
        "color": logs.tolist(),
        "colorscale": [[i / (len(SCALE) - 1), colour] for i, colour in enumerate(SCALE)],
        "showscale": True,
        "colorbar": {
            "title": {"text": "times in the text", "font": {"size": 12}},
            "tickvals": ticks,
            "ticktext": [f"{10**tick:,.0f}" for tick in ticks],
            "len": 0.6,
            "thickness": 14,
            "outlinewidth": 0,
        },
    }


def layout(found: Map) -> dict[str, Any]:
    """No axes: on such maps only nearness means something."""
    hidden = {"visible": False, "showgrid": False, "zeroline": False}
    return {
        "title": {"text": escaped(found.title), "x": 0.01, "font": {"size": 20}},
        "font": {"family": "sans-serif", "color": INK},
        "xaxis": hidden,
        "yaxis": hidden | {"scaleanchor": "x"},
        "plot_bgcolor": "white",
        "paper_bgcolor": "white",
        "dragmode": "pan",
        "hovermode": "closest",
        "hoverlabel": {"bgcolor": "white", "bordercolor": GREY, "font": {"size": 13, "color": INK}},
        "showlegend": found.groups is not None,
        "legend": {"itemsizing": "constant"},
        "margin": {"l": 10, "r": 10, "t": 60, "b": 30},
        "annotations": [
            {
                "text": escaped(found.note) + "; wheel: zoom, drag: move, double click: all",
                "showarrow": False, "xref": "paper", "yref": "paper", "x": 0, "y": 0, "xanchor": "left",
                "yanchor": "top", "font": {"size": 11, "color": GREY},
            }
        ],
    }  # fmt: skip
