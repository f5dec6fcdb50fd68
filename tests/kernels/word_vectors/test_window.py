import numpy as np
import pytest

from foresay.kernels.word_vectors.chance import noise_of
from foresay.kernels.word_vectors.plan import NO_NOISE, NO_WAYS, Plan, Targets, Ways, empty_text
from foresay.kernels.word_vectors.window import aim, fill_up, keep_words, key_of, look_around

ALWAYS, STOP = 1 << 32, 3


def text_of(ids, shares=None):
    text = empty_text(len(ids))
    shares = np.full(20, ALWAYS) if shares is None else shares
    return text, keep_words(np.array(ids), shares, STOP, 9, text)


def test_documents_and_words_left_out():
    shares = np.full(20, ALWAYS)
    shares[1] = 0
    text, size = text_of([5, 6, 1, 7, STOP, STOP, 8, STOP, 9, 10], shares)
    assert text.words[:size].tolist() == [5, 6, 7, 8, 9, 10]
    assert text.begins[:size].tolist() == [0, 0, 0, 3, 4, 4]
    assert text.ends[:size].tolist() == [3, 3, 3, 4, 6, 6]


def test_words_are_kept_in_their_share():
    shares = np.full(20, ALWAYS)
    shares[5] = ALWAYS // 4
    text, size = text_of([5] * 2000 + [6] * 10, shares)
    assert 500 - 4 * 19.4 < (text.words[:size] == 5).sum() < 500 + 4 * 19.4
    assert (text.words[:size] == 6).sum() == 10


@pytest.mark.parametrize(
    ("plan", "at", "expected"),
    [
        (Plan(2, 2, dynamic=False), 3, [1, 2, 4, 5]),
        (Plan(2, 2, dynamic=False), 0, [1, 2]),
        (Plan(2, 2, dynamic=False), 6, [4, 5]),
        (Plan(2, 2, dynamic=False), 7, []),  # a document of one word
        (Plan(1, 0, dynamic=False), 3, [2]),
        (Plan(1, 0, dynamic=False), 0, []),
    ],
)
def test_the_words_near(plan, at, expected):
    text, _ = text_of([5, 6, 7, 8, 9, 10, 11, STOP, 12])
    near = np.zeros(4, np.int64)
    assert near[: look_around(text, plan, at, 1, near)].tolist() == expected


def test_a_dynamic_window_has_every_reach_alike():
    text, _ = text_of([5] * 41)
    near = np.zeros(10, np.int64)
    sizes = [look_around(text, Plan(5, 5), 20, key_of(1, place), near) for place in range(2000)]
    share = np.bincount(sizes, minlength=11)[2::2] / 2000
    assert set(sizes) == {2, 4, 6, 8, 10}
    assert np.abs(share - 0.2).max() < 4 * np.sqrt(0.16 / 2000)


def test_a_subset_has_no_word_twice_and_every_word_alike():
    text, _ = text_of([5] * 41)
    near, seen = np.zeros(10, np.int64), np.zeros(41)
    for place in range(2000):
        size = look_around(text, Plan(5, 5, dynamic=False, subset=4), 20, key_of(2, place), near)
        assert size == 4 and len(set(near[:4].tolist())) == 4
        seen[near[:4]] += 1
    assert seen[20] == 0
    assert np.abs(np.delete(seen[15:26], 5) / 2000 - 0.4).max() < 4 * np.sqrt(0.24 / 2000)


def test_targets_of_a_word():
    targets = Targets(np.zeros(12, np.int64), np.zeros(12, np.float32))
    noise = noise_of(np.r_[np.zeros(5), np.ones(15)])
    end = aim(Plan(5, 5, negatives=4), noise, NO_WAYS, 7, 3, 0, targets, 2)
    assert end == 7 and targets.rows[2] == 7 and targets.signs[2] == 1.0
    assert all(
        sign == (0.0 if row == 7 else -1.0) for row, sign in zip(targets.rows[3:7], targets.signs[3:7], strict=True)
    )
    assert (targets.rows[3:7] >= 5).all()
    assert fill_up(targets, 2, end) == 8 and targets.signs[7] == 0.0


def test_targets_on_the_way_through_a_tree():
    ways = Ways(np.array([0, 2, 2, 5]), np.array([0, 3, 0, 1, 2]), np.array([1, -1, -1, -1, 1], np.float32))
    targets = Targets(np.zeros(6, np.int64), np.zeros(6, np.float32))
    assert aim(Plan(5, 5), NO_NOISE, ways, 2, 1, 0, targets, 0) == 3
    assert targets.rows[:3].tolist() == [0, 1, 2] and targets.signs[:3].tolist() == [-1.0, -1.0, 1.0]
    assert aim(Plan(5, 5), NO_NOISE, ways, 1, 1, 0, targets, 0) == 0
