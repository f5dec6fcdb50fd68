"""What cannot be trained together, or not on this machine: refused before anything is written."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Iterator, Sequence

import torch

from foresay import own, parts
from foresay.embed.elmo import elmos
from foresay.embed.frames import Frames
from foresay.encode.encoder import Encoder
from foresay.encode.initial import FirstStates
from foresay.encode.transformer import Transformer
from foresay.errors import UserError
from foresay.loading import forget_vectors
from foresay.models.task import Task
from foresay.output.output import Output
from foresay.recipe import Recipe, long_key
from foresay.text.levels import Levels
from foresay.text.tokens import SPECIALS
from foresay.train.board import check_tensorboard

READS = {
    "text": "reads one text",
    "pairs": "writes a target from a source",
    "tags": "reads words with tags",
    "labels": "gives labels to texts",
    "series": "reads series of numbers",
    "speech": "writes what is said in recordings",
}


IN_STEPS = ("train.steps", "train.optimizer", "train.clip", "train.precision", "train.compute")


def unused(recipe: Recipe, words: Sequence[str], minutes: float | None) -> Iterator[str]:
    """What was given for training in steps to a model that is fitted as a whole."""
    if not hasattr(recipe.task, "fit"):
        return
    own_course = hasattr(recipe.task, "epochs")
    how = "in epochs, at its own lr: set epochs and lr" if own_course else "as a whole: leave it out"
    given = [word for word in words if long_key(word.partition("=")[0]).startswith(IN_STEPS)]
    given += [f"minutes={minutes:g}"] if minutes is not None and own_course else []
    for word in given:
        yield f"warning: {word} changes nothing: task={recipe.task.part_name} is not trained in steps but {how}"


def check(recipe: Recipe, place: torch.device) -> Recipe:
    """Refuses what cannot be trained together or here, before anything is written."""
    batches, precision = recipe.train.batches, recipe.train.precision
    encoder = getattr(recipe.task, "encoder", None)
    if precision == "float16" and place.type == "cpu":
        raise UserError("train.precision=float16 needs a GPU; on a CPU use float32 or bfloat16")
    if precision == "bfloat16" and place.type == "cpu" and not has_bfloat16():
        raise UserError("train.precision=bfloat16 does not run on this CPU; use float32")
    if recipe.begin is not None and hasattr(recipe.task, "fit"):
        raise UserError(f"begin with task={recipe.task.part_name}, which is not trained in steps; leave it out")
    _check_sides(recipe)
    if recipe.train.compute.compile and not isinstance(encoder, Transformer):
        kind = f"encoder={encoder.part_name}" if isinstance(encoder, Encoder) else f"task={recipe.task.part_name}"
        raise UserError(
            f"train.compute.compile=true with {kind}; it compiles the blocks of encoder=transformer: leave it out"
        )
    if batches.carries and recipe.task.causal and getattr(encoder, "grows", False):
        raise UserError(
            f"train.batches={batches.part_name} carries the state for ever, but a transformer without a window keeps "
            "all of it; set train.batches=packed, or encoder.attention.window=256 encoder.positions=sinusoidal"
        )
    if any(isinstance(module, FirstStates) and module.condition is not None for module in recipe.task.modules()):
        raise UserError(
            "initial.state=condition computes the first state from a vector for each row, and a text has none; "
            "set encoder.initial.state to zero or learnt, or train in a loop of your own from Python, "
            "as model.score(ids, condition=vectors)"
        )
    _check_elmos(recipe)
    _check_levels(recipe)
    if recipe.train.save.tensorboard:
        check_tensorboard()
    if recipe.code():  # a mistake in a user's own part is said before the text is prepared
        with own.blamed(recipe.own_classes(), "as the model is built"):
            model: Task = parts.anew(recipe.task)
            forget_vectors(model)  # they are of a vocabulary that is not known yet
            model.build(len(SPECIALS) + 1)
    for name in ("encoder", "writer"):
        reads, needed = getattr(recipe.task, name, None), batches.longest
        longest, positions = getattr(reads, "longest", None), f"{name}.{getattr(reads, 'within', '')}positions"
        known = needed is not None or batches.reads != "images"  # how large pictures are: building.py
        if longest is not None and known and (needed is None or needed > longest):
            raise UserError(
                f"{positions}=learnt ends at {longest}, but train.batches={batches.part_name} goes to "
                f"{needed or 'any'}; set {positions}=sinusoidal or {positions}.longest"
            )
    return recipe


def check_together(recipe: Recipe, processes: int) -> None:
    """Refuses what several processes cannot train together."""
    task, compute = recipe.task.part_name, recipe.train.compute
    if hasattr(recipe.task, "fit"):
        raise UserError(
            f"task={task} in {processes} processes; it is fitted as a whole, on all cores of one: start one process"
        )
    places = getattr(recipe.data, "train", None)
    if "-" in (places if isinstance(places, list) else [places]):
        raise UserError(f"data.train=- in {processes} processes, and a pipe is read by one; write it to a file")
    rows = getattr(recipe.train.batches, "rows", None)
    if recipe.train.batches.carries and rows is not None and rows < processes:
        raise UserError(
            f"train.batches.rows={rows} in {processes} processes, and each keeps rows of its own; raise it to "
            f"{processes}, or start fewer processes"
        )
    if compute.parallel == "ddp":
        return
    refused = [
        ("train.precision=float16", recipe.train.precision == "float16", "set train.precision=bfloat16"),
        ("train.compute.compile=true", compute.compile, "leave it out"),
        ("an elmo", bool(elmos(recipe.task)), "set train.compute.parallel=ddp"),
    ]
    for what, is_so, remedy in refused:
        if is_so:
            raise UserError(f"{what} with train.compute.parallel=fsdp is not supported; {remedy}")


def _check_elmos(recipe: Recipe) -> None:
    """Refuses two bilms in a model, and rows that are longer than one has positions for."""
    found, batches = elmos(recipe.task), recipe.train.batches
    runs = sorted({elmo.run for elmo in found})
    if len(runs) > 1:
        raise UserError(f"elmo has the runs {' and '.join(runs)}; allowed: one in a model: leave one out")
    longest = found[0].longest if found else None
    if longest is not None and (batches.longest is None or batches.longest > longest):
        raise UserError(
            f"elmo: run={runs[0]!r} has positions for {longest} words, but train.batches={batches.part_name} goes to "
            f"{batches.longest or 'any'}; set train.batches.longest={longest}, or train a bilm with more"
        )


def _check_levels(recipe: Recipe) -> None:
    """Refuses an output over numbers where symbols are none."""
    for module in recipe.task.modules():
        if isinstance(module, Output) and module.of_levels and not isinstance(recipe.tokens, Levels):
            raise UserError(
                f"output={module.part_name} is over levels, and tokens={recipe.tokens.part_name}; allowed: "
                "tokens.kind=levels, with data.kind=images or sounds: or output=softmax"
            )


def _check_sides(recipe: Recipe) -> None:
    """Refuses data and batches of another kind than the task learns from."""
    task, data, batches = recipe.task.part_name, recipe.data.part_name, recipe.train.batches
    wants, labelled = recipe.task.reads, data in ("labels", "images", "sounds")
    numbers = wants == "series" or getattr(recipe.data, "numeric", False)
    for_labels = getattr(recipe.task, "condition", None) is not None
    if for_labels and not labelled:
        raise UserError(
            f"condition={recipe.task.condition} writes for labels, and data.kind={data} has none; allowed: "
            "data.kind=labels, images or sounds: or leave it out"
        )
    serves = (*getattr(recipe.data, "serves", (data,)), *(["text"] if for_labels else []))
    if wants not in serves:
        how = "; or set condition=32 to write texts for their labels" if task == "language-model" and labelled else ""
        raise UserError(f"task={task} {READS[wants]}, and data.kind={data}; allowed: data.kind={wants}{how}")
    needed = data if wants == "text" and data == "images" else wants
    if batches.reads != needed and (recipe.task.sequence or wants != "text"):
        allowed = "streams, packed, buckets" if needed == "text" else needed
        raise UserError(f"train.batches={batches.part_name} with data.kind={data}; allowed: train.batches={allowed}")
    framed = any(isinstance(module, Frames) for module in recipe.task.modules())
    if numbers and not framed and hasattr(recipe.task, "embedding"):
        raise UserError(
            f"task={task} would read symbols, and data.kind={data} has frames of numbers; set embedding=frames (of "
            "labels with task=classifier)"
        )
    if not numbers and framed:
        raise UserError(
            f"embedding=frames reads numbers, and data.kind={data} has symbols; set embedding=lookup or characters"
        )


@functools.cache
def has_bfloat16() -> bool:
    """Whether this CPU multiplies in bfloat16: some say they can and die of it, so a process of its own tries."""
    code = "import torch; x = torch.ones(64, 64, dtype=torch.bfloat16); x @ x"
    return subprocess.run([sys.executable, "-c", code], capture_output=True).returncode == 0
