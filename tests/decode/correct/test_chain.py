"""Every chain leaves pi as it is: its frequencies on a case small enough to enumerate, for every kind of move."""

from __future__ import annotations

import itertools
import random
from collections import Counter

import numpy as np
import pytest

from foresay.decode.correct.chain import Annealing, anneal, step_of
from foresay.decode.correct.listed import Listed
from foresay.decode.correct.moves import Moves
from foresay.decode.correct.noise import Noise, Rates
from foresay.decode.correct.posterior import Posterior
from foresay.decode.correct.scorer import Scorer
from foresay.errors import UserError
from tests.decode.correct.conftest import SeeingRun, SmallRun, log_p

STEPS = 20_000
EDITS = Rates(wrong=0.2, insert=0.1, delete=0.1, swap=0.1)
SUBSTITUTIONS = Rates(wrong=0.2)


def posterior(scorer, rates, observed="ab", guesses=0):
    noise = Noise([Listed(["a,bc"])], rates, {"listed": 0.7, "any": 0.3}).build("abc")
    return Posterior(scorer, noise, observed, guesses=guesses)


def exact(made, lengths, keep=lambda x: True):
    """pi over all sequences of these lengths, from the table of the language model."""
    states = [x for length in lengths for x in itertools.product("abc", repeat=length) if keep(x)]
    logs = [log_p("".join(x)) + made.channel.log_prob(x) for x in states]
    weights = np.exp(np.array(logs) - max(logs))
    return dict(zip(states, (weights / weights.sum()).tolist(), strict=True))


def variation(made, chain, pi, moves=None, start=("a", "b"), steps=STEPS):
    """Half the sum of the differences between the frequencies of a chain and pi."""
    step, draw, x, seen = step_of(made, chain, moves), random.Random(5), start, Counter()
    for _ in range(steps):
        x = step(x, 1.0, draw)
        seen[x] += 1
    assert set(seen) <= set(pi)
    return sum(abs(seen[x] / steps - p) for x, p in pi.items()) / 2


@pytest.mark.parametrize("chain", ["metropolis", "gibbs", "informed"])
def test_substitutions(scorer, chain):
    made = posterior(scorer, SUBSTITUTIONS)
    reach = {x for x in itertools.product("abc", repeat=2) if all(y in made.choices(x, i) for i, y in enumerate(x))}
    pi = exact(made, [2], (lambda x: x in reach) if chain != "metropolis" else lambda x: True)
    assert variation(made, chain, pi) < 0.02


@pytest.mark.parametrize("mix", [0.0, 0.5, 0.9])
def test_every_move_of_metropolis(scorer, mix):
    made = posterior(scorer, EDITS)
    moves = Moves(made, mix=mix)
    assert moves.kinds == ["substitution", "insertion", "deletion", "swap"]
    assert variation(made, "metropolis", exact(made, range(1, 6)), moves) < 0.03


@pytest.mark.parametrize("kinds", [["swap", "substitution"], ["insertion", "deletion"]])
def test_single_kinds_of_move(scorer, kinds):
    made = posterior(scorer, EDITS)
    lengths = [2] if "swap" in kinds else range(1, 6)
    assert variation(made, "metropolis", exact(made, lengths), Moves(made, kinds, 0.5), steps=40_000) < 0.03


@pytest.mark.parametrize("chain", ["informed", "gibbs"])
def test_every_edit(scorer, chain):
    made = posterior(scorer, EDITS, guesses=3)
    assert variation(made, chain, exact(made, range(1, 6)), steps=40_000) < 0.03


def test_a_wrong_ratio_would_be_seen(scorer, monkeypatch):
    """Without Hastings' correction the same chain is far off: the test can fail."""
    made = posterior(scorer, EDITS)
    moves = Moves(made, mix=0.5)
    monkeypatch.setattr(moves, "_log", lambda *given: 0.0)
    assert variation(made, "metropolis", exact(made, range(1, 6)), moves) > 0.06


@pytest.mark.parametrize("chain", ["metropolis", "gibbs", "informed"])
@pytest.mark.parametrize("observed", ["cb", "aa", "abc", "ccc"])
def test_annealing_finds_the_best(scorer, chain, observed):
    made = posterior(scorer, SUBSTITUTIONS, observed, guesses=3)
    pi = exact(made, [len(observed)])
    found = anneal(made, Annealing(chain, restarts=3, patience=3))
    assert pi[found] == max(pi.values())


def test_what_was_observed_stays_where_nothing_is_better(scorer):
    noise = Noise([Listed(["a,bc"])], Rates(wrong=1e-12)).build("abc")
    assert anneal(Posterior(scorer, noise, "cc"), Annealing()) == ("c", "c")


def test_the_same_seed_gives_the_same(scorer):
    made = posterior(scorer, EDITS, "abcab", guesses=2)
    assert anneal(made, Annealing("metropolis"), 3) == anneal(made, Annealing("metropolis"), 3)


def test_the_model_is_asked_once_for_each_sequence(scorer, run):
    made = posterior(scorer, SUBSTITUTIONS)
    for _ in range(3):
        anneal(made, Annealing(restarts=2))
    assert run.model.asked <= 9


@pytest.mark.parametrize(
    ("chain", "mix"), [("metropolis", 0.0), ("metropolis", 0.5), ("informed", 0.8), ("gibbs", 0.8)]
)
def test_a_model_that_sees_both_sides(chain, mix):
    """pi by its pseudo-log-likelihood; what is proposed depends on both neighbours."""
    scorer = Scorer([SeeingRun()])
    made = posterior(scorer, EDITS, guesses=3)
    states = [x for length in range(1, 6) for x in itertools.product("abc", repeat=length)]
    logs = np.array([float(scorer.log_probs([x])[0]) + made.channel.log_prob(x) for x in states])
    pi = dict(zip(states, np.exp(logs - np.logaddexp.reduce(logs)).tolist(), strict=True))
    assert variation(made, chain, pi, Moves(made, mix=mix) if chain == "metropolis" else None, steps=40_000) < 0.03
    assert scorer.expected(("a",), ("b",)) != pytest.approx(scorer.expected(("a",), ("c",)))


def test_both_kinds_of_models_do_not_mix():
    with pytest.raises(UserError, match=r"small sees both sides and others do not; .* give one kind"):
        Scorer([SmallRun(), SeeingRun()])


@pytest.mark.parametrize(
    "wrong, says",
    [
        ({"chain": "bogus"}, "chain='bogus'; allowed: informed, gibbs, metropolis"),
        ({"sweeps": 0}, "sweeps=0"),
        ({"restarts": -1}, "restarts=-1"),
        ({"restarts": "x"}, "restarts='x'"),
        ({"patience": 0}, "patience=0"),
        ({"hot": -1.0}, "hot=-1.0, cold=0.2"),
        ({"cold": 2.0}, "cold=2.0"),
        ({"hot": float("nan")}, "hot=nan"),
    ],
)
def test_annealings_that_make_no_sense(wrong, says):
    with pytest.raises(UserError, match=says):
        Annealing(**wrong)


def test_no_two_seeds_share_a_restart(scorer, monkeypatch):
    seen = []

    class Draw(random.Random):
        def __init__(self, seed):
            super().__init__(seed)
            seen.append(self.random())

    monkeypatch.setattr("foresay.decode.correct.chain.random.Random", Draw)
    for seed in (1, 2, -1):
        anneal(posterior(scorer, SUBSTITUTIONS), Annealing(restarts=1200, sweeps=1, patience=1), seed)
    assert len(set(seen)) == len(seen) == 3 * 1201
