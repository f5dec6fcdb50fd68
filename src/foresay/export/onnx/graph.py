"""What a graph of ONNX computes, by task; batch and time have any length, and nothing is kept inside.

    language-model   ids, [label], states before  ->  log_probs (B, T, V) of what follows each id, states after
    tagger           ids, mask                    ->  tags (B, T), scores (B, T, K)
    classifier       ids, mask                    ->  log_probs (B, C)

States are those of the model's encoder, before <start>: whoever runs the graph feeds <start> first, and carries what
comes out as `new.NAME` into the next call's `NAME`. So a text may be read whole, in chunks or symbol by symbol, many
texts side by side. Linear in the text for recurrent cells; a Transformer's keys and values grow along the axis `past`.

ids (B, T) int64, label (B,) int64, mask (B, T) bool with True = real, padding on the right.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from foresay.data.batch import Batch
from foresay.encode.encoder import State, flatten_state, unflatten_state
from foresay.errors import UserError
from foresay.kernels.switch import as_file
from foresay.models.classifier import Classifier
from foresay.models.language_model import LanguageModel
from foresay.models.tagging import Tagging
from foresay.models.task import Task
from foresay.output.crf import Apart, path_score

Axes = dict[str, dict[int, str]]  # of each input or output, the names of the axes that have any length
ROWS, STEPS, PAST = 3, 7, 5  # of the example that is traced; nothing in the graph depends on them


class Graph(nn.Module):
    """`examples` and `axes` are of the inputs, in their order; `outputs` says what `forward` gives."""

    examples: dict[str, Tensor]
    axes: Axes
    outputs: Axes

    def __init__(self, model: Task):
        super().__init__()
        self.model: Any = model

    def reference(self, ids: Tensor, **more: Tensor) -> dict[str, Tensor]:
        """What the run itself gives of whole rows, by the names of the outputs."""
        raise AssertionError(f"{type(self).__name__} has no reference")


class TextGraph(Graph):
    """A causal language model with its state outside."""

    def __init__(self, model: LanguageModel):
        super().__init__(model)
        ids = torch.arange(ROWS * STEPS).view(ROWS, STEPS) % model.vocabulary
        self.examples, self.axes = {"ids": ids}, {"ids": {0: "batch", 1: "time"}}
        self.labelled = model.condition is not None
        if self.labelled:
            self.examples["label"], self.axes["label"] = torch.zeros(ROWS, dtype=torch.long), {0: "batch"}
        self.first = self._first()
        self.outputs = {"log_probs": {0: "batch", 1: "time"}}
        for name, begun in self.first.items():
            grows = {axis: "past" for axis, length in enumerate(begun.shape) if length == 0}
            shape = [ROWS, *(PAST if axis in grows else length for axis, length in enumerate(begun.shape) if axis)]
            self.examples[name] = torch.zeros(shape, dtype=begun.dtype)
            self.axes[name] = {0: "batch", **grows}
            self.outputs[f"new.{name}"] = {0: "batch", **dict.fromkeys(grows, "new_past")}

    @torch.no_grad()
    def _first(self) -> dict[str, Tensor]:
        """The states before <start> of one row, as the graph takes them."""
        with as_file():
            begun = flatten_state(self.model.encoder.begin(1))
        return {f"state.{name}": tensor.clone() for name, tensor in begun.items()}

    def forward(self, ids: Tensor, *given: Tensor) -> tuple[Tensor, ...]:
        label, states = (given[0], given[1:]) if self.labelled else (None, given)
        names = [name.removeprefix("state.") for name in self.first]
        before = unflatten_state(dict(zip(names, states, strict=True)))
        y, after = self._read(ids, before, label)
        flat = flatten_state(after)
        return self.model.output.log_probs(y), *(flat[name].clone() for name in names)

    def _read(self, ids: Tensor, state: State, label: Tensor | None) -> tuple[Tensor, State]:
        return self.model.features(Batch(ids=ids, given=label, fresh=False), state)

    def reference(self, ids: Tensor, **more: Tensor) -> dict[str, Tensor]:
        y, _ = self._read(ids, self.model.encoder.begin(len(ids)), more.get("label"))
        return {"log_probs": self.model.output.log_probs(y)}


class MaskedGraph(Graph):
    """What reads whole rows and keeps no state."""

    def __init__(self, model: Task):
        super().__init__(model)
        ids = torch.arange(ROWS * STEPS).view(ROWS, STEPS) % model.vocabulary
        mask = torch.arange(STEPS) < torch.tensor([STEPS, 2, 5])[:, None]
        both = {0: "batch", 1: "time"}
        self.examples, self.axes = {"ids": ids, "mask": mask}, {"ids": both, "mask": both}


class TagGraph(MaskedGraph):
    """A tagger: the best tags, by the rules of their scheme and the chain where there is one, and their scores."""

    outputs: Axes = {"tags": {0: "batch", 1: "time"}, "scores": {0: "batch", 1: "time"}}  # noqa: RUF012 - never changed

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        batch = Batch(ids=ids, mask=mask)
        scores = self.model.scores(batch)
        shown = scores.log_softmax(-1) if isinstance(self.model.layer, Apart) else scores
        return self.model.best(batch).masked_fill(~mask, 0), shown.masked_fill(~mask[..., None], 0)

    def reference(self, ids: Tensor, **more: Tensor) -> dict[str, Tensor]:
        return dict(zip(self.outputs, self.forward(ids, more["mask"]), strict=True))

    def worth(self, ids: Tensor, mask: Tensor, tags: Tensor) -> Tensor:
        """The score (B,) of whole rows of tags, by the run: the best ones have the greatest."""
        layer, raw = self.model.layer, self.model.scores(Batch(ids=ids, mask=mask))
        scores, kinds = (raw.log_softmax(-1), raw.shape[-1]) if isinstance(layer, Apart) else (raw, raw.shape[-1])
        none = (raw.new_zeros(kinds, kinds), raw.new_zeros(kinds), raw.new_zeros(kinds))
        chain, rules = none if isinstance(layer, Apart) else layer.chain, self.model.rules(raw) or none
        a, b, c = (own + rule for own, rule in zip(chain, rules, strict=True))
        return path_score(scores, tags, mask, (a, b, c))


class LabelGraph(MaskedGraph):
    """A classifier: log P of every label of each text."""

    outputs: Axes = {"log_probs": {0: "batch"}}  # noqa: RUF012 - never changed

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.model.log_probs(Batch(ids=ids, mask=mask))

    def reference(self, ids: Tensor, **more: Tensor) -> dict[str, Tensor]:
        return {"log_probs": self.forward(ids, more["mask"])}


def graph_of(model: Task, name: str) -> Graph:
    """The graph of a model; `name` is the run's, for what is refused."""
    if type(model) is LanguageModel:
        return TextGraph(model)
    if isinstance(model, Tagging):
        return TagGraph(model)
    if isinstance(model, Classifier):
        return LabelGraph(model)
    task = getattr(model, "part_name", type(model).__name__)
    raise UserError(f"{name} is a {task}; onnx holds a language-model, a tagger or a classifier: train one of these")
