"""The claim `full-softmax`: its rule, and a whole run of the smallest size in this process."""

from __future__ import annotations

import json
import random

import pytest

from foresay.study.claims import full_softmax, runner
from foresay.study.claims.claim import Figure
from foresay.study.claims.full_softmax import BEST, Size, judge
from foresay.train.progress import Watch


def figure(low: float, high: float) -> Figure:
    return Figure("made", (low + high) / 2, low, high)


@pytest.mark.parametrize(
    "others, quick, verdict",
    [
        ([(55, 60), (51, 53)], True, "holds"),
        ([(55, 60), (40, 60.5)], True, "holds"),  # its mean lies within the full one's interval
        ([(55, 60), (48, 51)], False, "not decided at this size"),  # its mean lies below, its interval not
        ([(55, 60), (45, 49)], False, "does not hold"),
        ([(55, 60), (45, 49)], True, "not decided at this size"),
    ],
)
def test_the_rule(others, quick, verdict):
    assert judge(figure(50, 54), [figure(*one) for one in others], quick) == verdict


def test_a_whole_run(monkeypatch, tmp_path):
    """Both moments of every training; the tree's own are not the full one's."""
    words = random.Random(1).choices([f"word{number}" for number in range(40)], k=4000)
    (tmp_path / "text").write_text("\n".join(" ".join(words[at : at + 8]) for at in range(0, 4000, 8)))
    monkeypatch.setattr(full_softmax, "TEXT", str(tmp_path / "text"))
    monkeypatch.setattr(full_softmax, "QUICK", Size(steps=2, width=4))
    kept = {name: full_softmax.OUTPUTS[name] for name in (BEST, "hierarchical")}
    monkeypatch.setattr(full_softmax, "OUTPUTS", kept)
    monkeypatch.setattr(full_softmax, "seeds_of", lambda *_: range(2))
    monkeypatch.setattr(full_softmax, "in_processes", lambda jobs, tell: [full_softmax.train(job) for job in jobs])
    runner.run_claim("full-softmax", quick=True, out=tmp_path, watch=Watch())
    details = json.loads((tmp_path / "full-softmax.json").read_text("utf-8"))["details"]
    runs = {(one["output"], one["seed"]): one for one in details["runs"]}
    assert len(runs) == 4 and all(1 < one["at_steps"] < 2 * details["words"] for one in runs.values())
    assert runs[BEST, 0]["steps_in_time"] == 2 and runs[BEST, 0]["at_steps"] == runs[BEST, 0]["in_time"]
    assert runs[BEST, 0]["at_steps"] != runs["hierarchical", 0]["at_steps"] != runs["hierarchical", 1]["at_steps"]
    assert (tmp_path / "full-softmax.png").stat().st_size > 10_000
