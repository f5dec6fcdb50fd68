"""What there is to say of a model on held-out data: perplexity, or what taggers and classifiers are judged by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from foresay.counts.frequency import count_tokens
from foresay.data.batches import Batches
from foresay.data.frame_shards import SpeechShards
from foresay.data.pair_prepare import LEAST
from foresay.data.pair_shards import PairShards
from foresay.data.shards import Shards
from foresay.data.tag_shards import TagShards
from foresay.embed.elmo import elmos
from foresay.models.labelling import Labelling
from foresay.models.recogniser import Recogniser
from foresay.models.series import Series
from foresay.models.tagging import Tagging
from foresay.models.task import Task
from foresay.text.tokens import STOP, UNK
from foresay.train.classified import Classified, classify
from foresay.train.evaluate import Measured, evaluate
from foresay.train.foreseen import SeriesFigures, measure_series
from foresay.train.heard import SpeechFigures, measure_speech
from foresay.train.tagged import TagFigures, measure_tags

Figures = Measured | TagFigures | Classified | SeriesFigures | SpeechFigures


def measure_on(model: Task, batches: Batches, shards: Shards, *, limit: int | None = None) -> Figures:
    """What there is to say of a model on held-out data of its kind."""
    if isinstance(model, Tagging):
        return measure_tags(model, batches, shards, limit=limit)
    if isinstance(model, Series):
        return measure_series(model, batches, shards, limit=limit)
    if isinstance(model, Recogniser):
        return measure_speech(model, batches, shards, limit=limit)
    if isinstance(model, Labelling):
        return classify(model, batches, shards, limit=limit)
    return evaluate(model, batches, shards, limit=limit)


def swapped(model: Any, shards: Shards | None, name: str) -> Iterator[str]:
    """Says so where held-out pairs have sources that are not of the language of the train sources."""
    if not isinstance(shards, PairShards):
        return
    counts = count_tokens(shards.source, len(model.known))
    counts[STOP] = 0
    own = counts * model.known.cpu().numpy()
    share = (own.sum() - own[UNK]) / max(counts.sum(), 1)
    if share < LEAST:
        yield (
            f"warning: {name}: {100 * share:.0f} % of its sources' tokens are from train sources; are the languages "
            "swapped? Give both sides in the order of data.train"
        )


def check_positions(model: Any, shards: Shards | None, name: str) -> None:
    """Refuses a row that is longer than a model has positions for, or shorter than its text needs; it is built."""
    if isinstance(shards, SpeechShards):
        model.check_fits(shards, name)
    if isinstance(shards, PairShards | TagShards) and hasattr(model, "encoder"):
        shards.check_lengths(name, model.encoder.longest, "encoder.positions=learnt")
    if isinstance(shards, TagShards):
        for elmo in elmos(model):
            shards.check_lengths(name, elmo.longest, f"what elmo (run={elmo.run!r}) can read", "divide the sentence")
    if isinstance(shards, PairShards):
        shards.check_lengths(name, model.writer.longest, "writer.positions=learnt", "target")
