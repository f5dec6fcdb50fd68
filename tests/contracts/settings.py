"""Small settings for the contract suites: every registered part has its defaults, shrunk; some have more variants.

A part without an entry here is tested with its defaults, `size` shrunk to 14. B=2, T=5, D=3 are distinct primes.
"""

from __future__ import annotations

from typing import Any

from foresay import parts

B, T, D, V = 2, 5, 3, 11

VARIANTS: dict[tuple[str, str], list[dict[str, Any]]] = {
    ("embedding", "characters"): [{"size": 14, "letters": 3, "kernels": [[1, 4], [3, 5]], "longest": 6}],
    ("encoder", "convolution"): [{"kernels": [[2, 4], [3, 6]]}, {"kernels": [[1, 3], [4, 5]], "dropout": 0.1}],
    ("embedding", "elmo"): [],  # needs a run: tests/embed/test_elmo.py
    ("embedding", "frames"): [],  # reads numbers, not symbols: tests/embed/test_frames.py, contracts/test_series.py
    ("embedding", "joined"): [
        {"of": [{"kind": "lookup", "size": 5}, {"kind": "characters", "size": 4, "kernels": [[2, 3]], "longest": 6}]}
    ],
    ("encoder", "dilated"): [
        {"size": 7, "dilations": [1, 2]},
        {"size": 7, "kernel": 3, "dilations": [1, 2], "repeat": 2, "skip": 5, "dropout": 0.1},
        {"size": 3, "kernel": 3, "dilations": [2], "block": "residual"},
        {"size": 7, "dilations": [1, 4], "block": "residual", "dropout": 0.1},
        {"size": 7, "kernel": 3, "dilations": [1, 2], "causal": False},
        {"size": 6, "dilations": [3, 1], "block": "residual", "causal": False},
    ],
    ("encoder", "masked"): [  # two columns, so that a pixel sees the end of the row above
        {"size": 7, "layers": 2, "first": 3, "columns": 2},
        {"size": 6, "layers": 3, "kernel": 5, "first": 5, "columns": 3, "dropout": 0.1},
        {"size": 8, "layers": 2, "first": 3, "columns": 1, "channels": 2},
        {"size": 7, "layers": 1, "first": 5, "columns": 2},
        {"size": 7, "layers": 2, "first": 3, "columns": 2, "block": "residual", "dropout": 0.1},
        {"size": 9, "layers": 1, "first": 5, "columns": 1, "channels": 3, "block": "residual"},
    ],
    ("encoder", "recurrent"): [
        {"size": 7},
        {"size": 7, "cell": "gru", "layers": 2},
        {"size": 7, "cell": "elman"},
        {"size": 7, "cell": "gru-cudnn"},
        {"size": 14, "bidirectional": True, "layers": 2},
        {"size": 14, "bidirectional": True, "cell": "gru"},
        {
            "size": 7,
            "cells": ["lstm", {"kind": "lstm-projected", "projection": 4}, "gru"],
            "between": {"wiring": "dense"},
        },
        {"size": 14, "bidirectional": True, "layers": 3, "between": {"wiring": "skip", "locked": True}, "dropout": 0.1},
        {"size": 7, "layers": 2, "between": {"wiring": "residual"}, "initial": {"state": "learnt"}},
        {"size": 7, "layers": 2, "between": {"wiring": "fed"}},
        {"size": 6, "layers": 2, "between": {"wiring": "highway"}, "initial": {"weights": "orthogonal", "radius": 0.9}},
    ],
    ("encoder", "shrunk"): [
        {"encoder": {"kind": "transformer", "size": 14, "heads": 2, "layers": 2, "causal": False}, "by": 2},
        {"encoder": {"kind": "transformer", "size": 6, "heads": 2, "layers": 1}, "by": 3, "how": "max"},
        {"encoder": {"kind": "recurrent", "size": 6, "bidirectional": True}, "by": 2, "how": "stride"},
        {"encoder": {"kind": "shrunk", "by": 2, "encoder": {"kind": "recurrent", "size": 7}}, "by": 2, "how": "max"},
        {"encoder": {"kind": "recurrent", "size": 7}, "by": 1},
        {"encoder": {"kind": "recurrent", "size": 6, "bidirectional": True}, "by": 3, "how": "join"},
    ],
    ("encoder", "stack"): [
        {"layers": [{"kind": "recurrent", "size": 7}, {"kind": "window", "span": 2, "size": 5}]},
        {"layers": [{"kind": "recurrent", "size": 6, "bidirectional": True}, {"kind": "recurrent", "size": 7}]},
    ],
    ("encoder", "transformer"): [
        {"size": 14, "heads": 2, "layers": 2},
        {
            "size": 14,
            "heads": 7,
            "layers": 3,
            "attention": {"window": 2},
            "positions": {"kind": "learnt", "longest": 40},
        },
        {"size": 14, "heads": 2, "layers": 1, "attention": {"window": 1}, "positions": "none"},
        {
            "size": 12,
            "heads": 4,
            "layers": 3,
            "positions": "rotary",
            "attention": {"groups": 2, "width": 2, "values": 3, "scale": False},
            "block": {"activation": "swiglu", "norm": "rms", "shortcuts": "dense", "bias": False},
        },
        {"size": 12, "heads": 2, "layers": 2, "attention": {"join": False}, "block": {"place": "post"}},
        {"size": 14, "heads": 2, "layers": 2, "causal": False},
        {"size": 12, "heads": 2, "layers": 2, "causal": False, "attention": {"window": 2}, "positions": "rotary"},
    ],
    ("encoder", "window"): [
        {"span": 3, "size": 7},
        {"span": 1, "size": 7},
        {"span": 4, "size": 7, "layers": 2, "activation": "identity"},
    ],
    ("cell", "lstm-projected"): [{"projection": 5}],
    ("cell", "mogrifier"): [{"rounds": 5}, {"rounds": 2}],
    ("cell", "shortcut"): [
        {"cell": "lstm", "steps": 3},
        {"cell": "gru", "steps": 2},
        {"cell": {"kind": "shortcut", "steps": 4, "cell": "elman"}, "steps": 2},
    ],
    ("cell", "normed"): [
        {"cell": "lstm"},
        {"cell": "gru"},
        {"cell": {"kind": "shortcut", "cell": {"kind": "zoneout", "cell": "peephole"}, "steps": 2}},
    ],
    ("cell", "zoneout"): [
        {"cell": "lstm", "share": 0.1},
        {"cell": "gru", "share": 0.2},
        {"cell": {"kind": "dropped", "cell": "slstm"}, "share": 0.1, "memory": 0.2},
    ],
    ("cell", "dropped"): [
        {"cell": "lstm"},
        {"cell": "gru"},
        {"cell": {"kind": "shortcut", "steps": 3, "cell": {"kind": "lstm-projected", "projection": 4}}},
    ],
    ("cell", "dropped-weights"): [{"cell": "lstm"}, {"cell": "gru"}, {"cell": {"kind": "normed", "cell": "mogrifier"}}],
    ("cell", "elman"): [{"activation": name} for name in ("tanh", "relu", "sigmoid", "identity")],
    ("output", "softmax"): [{}, {"bias": False}, {"tied": True}],
    ("output", "monte-carlo"): [{"number": 30}, {"number": 30, "tied": True, "bias": False}],
    ("output", "sampled"): [{"number": 30}, {"number": 30, "tied": True, "bias": False}],
    ("output", "nce"): [{"number": 30}, {"number": 30, "tied": True}],
    ("output", "negative"): [{"number": 30}, {"number": 30, "tied": True}],
    ("output", "adaptive"): [{}, {"cutoffs": [2, 5], "factor": 2}],
    ("output", "hierarchical"): [{}, {"tree": "balanced"}, {"tree": "semantic"}],
    ("output", "logistics"): [{"mixtures": 4}, {"mixtures": 1, "least": 0.3}],
    ("positions", "learnt"): [{"longest": 13}],
    ("writer", "recurrent"): [
        {"size": 7, "form": "last", "cell": "gru"},
        {"size": 7, "form": "context", "layers": 2},
        {"size": 7, "layers": 2},
        {"size": 7, "scorer": "bilinear", "cell": "gru"},
        {"size": 7, "copy": True, "coverage": 0.5},
    ],
    ("writer", "transformer"): [
        {"size": 14, "heads": 2, "layers": 2},
        {
            "size": 16,
            "heads": 4,
            "layers": 2,
            "positions": "rotary",
            "attention": {"groups": 2},
            "block": {"place": "post"},
        },
    ],
    ("spelling", "ngrams"): [{"buckets": 50}],
}


def described(kind: str) -> list[dict[str, Any]]:
    """Every registered part of a kind as a recipe writes it, one entry per variant."""
    found = []
    for name in parts.names(kind):
        small = {"size": 14} if any(s.name == "size" for s in parts.settings_of(parts.find(kind, name))) else {}
        found += [{"kind": name, **settings} for settings in VARIANTS.get((kind, name), [small])]
    return found


def label(recipe: dict[str, Any]) -> str:
    """A test's id: the part's name and its settings."""
    return "-".join(str(value) for value in recipe.values()).replace(" ", "")
