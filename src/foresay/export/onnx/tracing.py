"""A graph's code -> a graph of ONNX: torch notes what is computed, its exporter writes that in ONNX's operations.

Loops over time stay loops (Scan). The axes get the names that graph.py gives them, in place of torch's numbers.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.export import Dim

from foresay.errors import UserError
from foresay.export.onnx.graph import Graph
from foresay.extras import need
from foresay.kernels.switch import as_file

NEEDED = ("onnx", "onnxscript", "onnxruntime")


def traced(graph: Graph, name: str) -> Any:
    """The graph as torch's ONNXProgram; what cannot be written is refused in one line. `name` is the run's."""
    for library in NEEDED:
        need(library, "export", "an export to onnx")
    given = tuple(graph.examples.values())
    free: list[Any] = [dict.fromkeys(axes, Dim.DYNAMIC) for axes in graph.axes.values()]
    shapes = (free[0], tuple(free[1:])) if _is_open(graph) else tuple(free)
    try:
        with torch.no_grad(), as_file(), _quiet():
            graph(*given)  # what parts find out at their first call they know while they are noted
            noted = torch.export.export(graph, given, dynamic_shapes=shapes, strict=False)
            names: Any = {"input_names": list(graph.examples), "output_names": list(graph.outputs)}
            program: Any = torch.onnx.export(noted, dynamo=True, verbose=False, **names)
    except UserError:
        raise
    except Exception as error:  # whatever torch meets in any model of any kind
        reason = " ".join(str(error.__cause__ or error).split())[:200]
        raise UserError(
            f"{name} cannot be written as onnx: {type(error).__name__}: {reason}; use the run itself, or serve it"
        ) from None
    _name_axes(program, graph)
    return program


def _is_open(graph: Graph) -> bool:
    """Whether `forward` takes all but its first input as one row of any number."""
    return graph.forward.__code__.co_flags & 4 != 0


@contextmanager
def _quiet() -> Iterator[None]:
    """Without what torch says to its own developers."""
    loggers = [logging.getLogger(name) for name in ("torch.onnx", "onnxscript", "onnx_ir")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


def _name_axes(program: Any, graph: Graph) -> None:
    """Every axis that has any length is called what it is."""
    import onnx_ir

    for values, named in ((program.model.graph.inputs, graph.axes), (program.model.graph.outputs, graph.outputs)):
        for value in values:
            axes: dict[int, str] = named[value.name]
            value.shape = onnx_ir.Shape([axes.get(axis, length) for axis, length in enumerate(value.shape)])
