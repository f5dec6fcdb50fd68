"""Figures of the next step against sums by hand, over a series read as a whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from foresay import parts
from foresay.data.series_batches import SeriesBatches
from foresay.data.series_form import SeriesForm
from foresay.data.series_shards import SeriesShards, SeriesWriter
from foresay.train.foreseen import SeriesFigures, measure_series

REAL = SeriesForm(("a", "b"), (0.0, 1.0), (1.0, 2.0), (-9.0, -9.0), (9.0, 9.0), (False, False), (0.0, 0.0))
ONES = SeriesForm(("a", "b"), (0.5, 0.2), (0.5, 0.4), (0.0, 0.0), (1.0, 1.0), (True, True), (0.0, 0.0))


def case(folder: Path, form: SeriesForm, output: str) -> tuple[Any, SeriesShards, list[np.ndarray]]:
    torch.manual_seed(1)
    made: Any = parts.make(
        "task", {"kind": "series", "encoder": {"kind": "window", "span": 2, "size": 5}, "output": output}
    )
    made.learn_form(form)
    made.build(5)
    draw, form_folder = np.random.default_rng(1), folder
    form.save(form_folder)
    series = [draw.normal(size=(size, 2)).astype(np.float32) for size in (9, 4)]
    series = [(one > 0).astype(np.float32) if form is ONES else one for one in series]
    series[0][3, 1] = series[0][4, 0] = np.nan
    with SeriesWriter(folder / "valid", 5) as writer:
        for one, begin in zip(series, (2, 0), strict=True):
            writer.add("x", one, begin)
        writer.finish()
    return made, SeriesShards(folder / "valid"), series


@pytest.mark.parametrize(("form", "output"), [(REAL, "gaussian"), (ONES, "bernoulli")])
@torch.inference_mode()
def test_figures(tmp_path: Path, form: SeriesForm, output: str) -> None:
    model, shards, series = case(tmp_path, form, output)
    found = measure_series(model, SeriesBatches(rows=2, length=20), shards)
    nats, errors, before, ones = [], [], [], np.zeros(3)
    for values, begin in zip(series, (2, 0), strict=True):
        x = torch.from_numpy(values)[None]
        log_prob = model.score(x)[0][0].numpy()
        state = model.begin(1)
        for t in range(len(values)):
            mean = model.output.mean(state["features"])[0].numpy()
            mean = mean if form is ONES else mean * np.array(form.deviations) + np.array(form.means)
            if t >= begin:
                nats.append(-log_prob[t])
                known = ~np.isnan(values[t])
                errors += np.abs(values[t] - mean)[known].tolist()
                says, is_one = mean[known] >= 0.5, values[t][known] == 1
                ones += [np.sum(says & is_one), np.sum(says & ~is_one), np.sum(~says & is_one)]
                if t:
                    both = known & ~np.isnan(values[t - 1])
                    before += np.abs(values[t] - values[t - 1])[both].tolist()
            _, state = model.step(x[:, t : t + 1], state)
    assert found.loss == pytest.approx(np.mean(nats), rel=1e-5) and found.tokens == found.of == 11
    assert found.error == pytest.approx(np.mean(errors), rel=1e-5)
    assert found.naive_error == pytest.approx(np.mean(before), rel=1e-5)
    f1 = 2 * ones[0] / (2 * ones[0] + ones[1] + ones[2])
    assert found.f1 == (None if form is REAL else pytest.approx(f1)) and found.series == 2
    assert found.interval[0] <= found.loss <= found.interval[1]
    assert ("F1 of ones" in found.spelt()) == (form is ONES)
    assert found.as_dict()["nats_per_step"] == found.loss and ("f1_of_ones" in found.as_dict()) == (form is ONES)


@torch.inference_mode()
def test_a_limit(tmp_path: Path) -> None:
    model, shards, _ = case(tmp_path, REAL, "gaussian")
    found = measure_series(model, SeriesBatches(rows=1, length=4), shards, limit=3)
    assert isinstance(found, SeriesFigures) and 3 <= found.tokens < found.of
