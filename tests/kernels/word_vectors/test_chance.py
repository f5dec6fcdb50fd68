import numpy as np
import pytest

from foresay.kernels.word_vectors.chance import draw, hashed, noise_of, number


def test_the_table_holds_the_distribution():
    """A word is drawn by its own place and by those it fills up: together exactly its probability."""
    probabilities = np.random.default_rng(1).random(37) ** 4
    probabilities[[3, 20]] = 0.0
    noise = noise_of(probabilities)
    own = np.minimum(noise.limits / 2**32, 1.0)
    found = own + np.bincount(noise.others, 1.0 - own, minlength=37)
    np.testing.assert_allclose(found / 37, probabilities / probabilities.sum(), atol=1e-9)


def test_draws_follow_the_distribution():
    probabilities = np.array([0.5, 0.0, 0.3, 0.15, 0.05])
    drawn = np.array([draw(noise_of(probabilities), key, n) for key in range(50) for n in range(20)])
    share = np.bincount(drawn, minlength=5) / len(drawn)
    assert share[1] == 0.0
    assert np.abs(share - probabilities).max() < 4 * np.sqrt(0.25 / len(drawn))


def test_numbers_depend_on_key_and_place_alone():
    first = [[number(key, n) for n in range(8)] for key in (1, 2, 12345)]
    assert first == [[number(key, n) for n in range(8)] for key in (1, 2, 12345)]
    assert len({one for row in first for one in row}) == 24
    assert all(0 <= one < 2**32 for row in first for one in row)


@pytest.mark.parametrize(("given", "expected"), [(0, 0), (1, 0x86D2FA73), (12345, 0x869DAE96)])
def test_the_hash_by_hand(given, expected):
    assert hashed(given) == expected


def test_no_two_hashes_are_the_same():
    assert len({int(hashed(x)) for x in range(5000)}) == 5000
