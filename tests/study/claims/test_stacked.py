"""The claim `stacked`: its rule, and a whole run of the smallest size."""

from __future__ import annotations

import pytest

from foresay.study.claims import depth, runner, stacked
from foresay.study.claims.claim import Figure
from foresay.study.claims.small_text import Size
from foresay.study.claims.stacked import judge
from foresay.train.progress import Watch


@pytest.mark.parametrize(
    ("two", "four", "quick", "verdict"),
    [
        ((0.1, 0.2), (-0.2, -0.1), True, "holds"),
        ((-0.1, 0.2), (-0.2, -0.1), False, "not decided at this size"),
        ((-0.3, -0.2), (-0.2, -0.1), False, "does not hold"),
        ((-0.3, -0.2), (-0.2, -0.1), True, "not decided at this size"),  # quick cannot refute
    ],
)
def test_the_rule(two, four, quick, verdict):
    assert judge({2: Figure("", 0, *two), 4: Figure("", 0, *four)}, quick) == verdict


@pytest.mark.usefixtures("few_letters")
def test_a_whole_run(monkeypatch, tmp_path):
    monkeypatch.setattr(stacked, "QUICK", Size(1, rows=2, length=6, asked=4))
    monkeypatch.setattr(depth, "PARAMETERS", 4000)
    found = runner.run_claim("stacked", quick=True, out=tmp_path, watch=Watch())
    assert len(found["details"]["runs"]) == 9 and len(found["figures"]) == 5
    assert (tmp_path / "stacked.png").stat().st_size > 10_000
