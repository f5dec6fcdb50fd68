"""Vectors on a plane: principal components against an SVD, the libraries' maps by their neighbours."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from foresay.errors import UserError
from foresay.study.maps.project import principal_components, project, unit_rows
from tests.study.maps.made import made, needs_tsne, needs_umap

EACH = [
    pytest.param("pca", id="pca"),
    pytest.param("tsne", id="tsne", marks=needs_tsne),
    pytest.param("umap", id="umap", marks=[needs_umap, pytest.mark.slow]),
]
LIBRARIES = EACH[1:]


def test_components_are_those_of_an_svd():
    rows = made(40).matrix
    unit = rows / np.sqrt((rows**2).sum(1))[:, None]
    centred = unit - unit.mean(0)
    _, values, directions = np.linalg.svd(centred)
    expected = centred @ directions[:2].T
    points, note = project(rows, "pca", seed=1)
    assert np.abs(points) == pytest.approx(np.abs(expected))
    assert (points.max(0) > -points.min(0)).all()  # the farthest point is positive
    share = (values[:2] ** 2).sum() / (values**2).sum()
    assert note == f"two principal components, {100 * share:.0f} % of the variance"


def test_points_in_a_plane_keep_their_distances():
    flat = np.random.default_rng(1).standard_normal((9, 2)) @ np.linalg.qr(np.ones((5, 5)) + np.eye(5))[0][:2]
    points, share = principal_components(flat)

    def distances(rows):
        return np.linalg.norm(rows[:, None] - rows[None], axis=2)

    assert distances(points) == pytest.approx(distances(flat)) and share == pytest.approx(1)


def test_rows_of_length_one():
    assert unit_rows(np.array([[3.0, 4.0], [0, 0]])).tolist() == [[0.6, 0.8], [0, 0]]


@pytest.mark.parametrize("rows", [np.eye(2), np.eye(3), np.ones((3, 4)), np.array([[1.0], [-1.0]]), np.zeros((2, 3))])
def test_two_or_three_words_have_components(rows: np.ndarray):
    points, _ = project(rows, "pca", 1)
    assert points.shape == (len(rows), 2) and np.isfinite(points).all()


@pytest.mark.parametrize("method", EACH)
def test_the_same_seed_the_same_points(method):
    one, same = (project(made(60).matrix, method, seed=3)[0] for _ in range(2))
    assert np.array_equal(one, same) and np.isfinite(one).all() and one.shape == (60, 2)


@pytest.mark.parametrize("method", LIBRARIES)
def test_clusters_stay_together(method):
    """Words are around five centres in turn: nearly every nearest neighbour on the map is of the same centre."""
    points, note = project(made(100).matrix, method, seed=1)
    distances = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (distances.argmin(1) % 5 == np.arange(100) % 5).mean() > 0.9
    assert note == {"tsne": "t-SNE, perplexity 30, seed 1", "umap": "UMAP, 15 neighbours, seed 1"}[method]
    assert not np.array_equal(points, project(made(100).matrix, method, seed=2)[0])


@pytest.mark.parametrize("method", LIBRARIES)
@pytest.mark.parametrize("number", [4, 5, 17])
def test_few_words(method, number):
    points, _ = project(made(number).matrix, method, seed=1)
    assert points.shape == (number, 2) and np.isfinite(points).all()


@pytest.mark.parametrize("method", LIBRARIES)
@pytest.mark.parametrize("rows", [np.ones((20, 5)), np.zeros((20, 5)), np.arange(-9.0, 11.0)[:, None]])
def test_words_that_are_alike_and_vectors_of_one_number(method, rows):
    points, _ = project(rows, method, seed=1)
    assert points.shape == (20, 2) and np.isfinite(points).all()


@pytest.mark.parametrize("method", ["tsne", "umap"])
def test_too_few_words(method):
    message = f"3 words are too few for {method}; allowed: 4 or more, or method='pca'"
    with pytest.raises(UserError, match=message):
        project(made(3).matrix, method, 1)


@pytest.mark.parametrize(("method", "library"), [("tsne", "openTSNE"), ("umap", "umap")])
def test_a_library_that_is_not_there(method, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    message = rf"method='{method}' needs the library {library} \(.*\); install it: pip install 'foresay\[maps\]'"
    with pytest.raises(UserError, match=message):
        project(made(9).matrix, method, 1)


def test_vectors_that_are_no_numbers():
    with pytest.raises(UserError, match="some vectors are not finite"):
        project(np.array([[1.0, np.nan], [1, 1]]), "pca", 1)
