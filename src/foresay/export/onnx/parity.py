"""Whether a written graph gives what its run gives: both read the same random ids, rows of many lengths.

    difference = max |log P of the graph - log P of the run|        over all places that are real

A language model is read whole and in chunks, states carried from call to call. Of a tagger the score of whole rows of
tags counts too: where two rows of tags are equally good, either is right.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from foresay.export.onnx.graph import Graph, MaskedGraph, TagGraph, TextGraph
from foresay.text.tokens import SPECIALS

TOLERANCE = 1e-4  # nats; float32 sums in another order differ by about 1e-6
CASES = ((1, [1]), (1, [24]), (3, [7]), (2, [1, 5, 1, 17]))  # rows, and the lengths of the calls


def opened(path: Path) -> Any:
    """A written graph, ready to run with torch's number of threads."""
    import onnxruntime

    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = torch.get_num_threads()
    settings.log_severity_level = 3
    return onnxruntime.InferenceSession(str(path), settings, providers=["CPUExecutionProvider"])


@torch.inference_mode()
def compare(graph: Graph, path: Path, longest: int | None) -> dict[str, Any]:
    """The largest difference over all cases; `longest` is the most steps that the model has positions for."""
    session, generator, worst = opened(path), torch.Generator().manual_seed(1), 0.0
    for rows, lengths in CASES:
        lengths = _within(lengths, longest)
        ids = torch.randint(len(SPECIALS), graph.model.vocabulary, (rows, sum(lengths)), generator=generator)
        if isinstance(graph, TextGraph):
            more = {"label": torch.arange(rows) % len(graph.model.labels.names)} if graph.labelled else {}
            found = run_in_chunks(session, graph, ids, lengths, more)
            due = graph.reference(ids, **more)["log_probs"]
        else:
            found, due = _whole(session, graph, ids)
        worst = max(worst, difference(found, due.numpy()))
    return {"difference": worst, "tolerance": TOLERANCE, "cases": [[rows, lengths] for rows, lengths in CASES]}


def run_in_chunks(
    session: Any, graph: TextGraph, ids: Tensor, lengths: Sequence[int], more: dict[str, Tensor]
) -> np.ndarray:
    """log P (B, T, V) of a text read call by call, the state carried on."""
    states = {name: one.expand(len(ids), *one.shape[1:]).numpy() for name, one in graph.first.items()}
    found = []
    for chunk in ids.split(list(lengths), 1):
        given = {"ids": chunk.numpy(), **{name: one.numpy() for name, one in more.items()}, **states}
        log_probs, *after = session.run(None, given)
        states = dict(zip(states, after, strict=True))
        found.append(log_probs)
    return np.concatenate(found, 1)


def _whole(session: Any, graph: Graph, ids: Tensor) -> tuple[np.ndarray, Tensor]:
    """The scores of the graph and of the run, for rows of different lengths."""
    assert isinstance(graph, MaskedGraph)
    rows, steps = ids.shape
    mask = torch.arange(steps) < (steps - torch.arange(rows)).clamp(min=1)[:, None]
    outputs = dict(zip(graph.outputs, session.run(None, {"ids": ids.numpy(), "mask": mask.numpy()}), strict=True))
    if not isinstance(graph, TagGraph):
        return outputs["log_probs"], graph.reference(ids, mask=mask)["log_probs"]
    due = graph.reference(ids, mask=mask)
    both = [graph.worth(ids, mask, tags) for tags in (torch.from_numpy(outputs["tags"]), due["tags"])]
    found = np.concatenate([outputs["scores"].reshape(rows, -1), both[0][:, None].numpy()], 1)
    return found, torch.cat([due["scores"].flatten(1), both[1][:, None]], 1)


def difference(found: np.ndarray, due: np.ndarray) -> float:
    """The largest, where both are impossible (-inf) none; NaN counts as infinite."""
    with np.errstate(invalid="ignore"):
        apart = np.where(found == due, 0.0, np.abs(found - due))
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0.0))


def _within(lengths: Sequence[int], longest: int | None) -> list[int]:
    """The same lengths, cut where the positions end."""
    kept, left = [], sum(lengths) if longest is None else longest
    for length in lengths:
        kept.append(min(length, left))
        left -= kept[-1]
    return [length for length in kept if length]
