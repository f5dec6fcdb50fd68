"""Vectors on a plane: principal components, t-SNE (openTSNE), UMAP (umap-learn); rows (N, D) -> points (N, 2).

Rows are brought to length 1 first, so that distances are those of cosines: the length of a word vector says mostly how
often the word occurs. Numbers of neighbours shrink with N.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, get_args

import numpy as np

from foresay.errors import UserError
from foresay.extras import need

Method = Literal["tsne", "umap", "pca"]
METHODS: tuple[str, ...] = get_args(Method)
FEWEST = 4  # words for t-SNE and UMAP
PERPLEXITY, NEIGHBOURS = 30, 15  # at most
EXACT = 1000  # words from which t-SNE's neighbours are found nearly, as openTSNE has it


def project(rows: np.ndarray, method: Method, seed: int) -> tuple[np.ndarray, str]:
    """The points of the rows, and in words how they were found."""
    if not np.isfinite(rows).all():
        raise UserError("some vectors are not finite; train them again with a lower rate, or leave those words out")
    if method != "pca" and len(rows) < FEWEST:
        raise UserError(f"{len(rows)} words are too few for {method}; allowed: {FEWEST} or more, or method='pca'")
    unit = unit_rows(rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the libraries, on small inputs and on their own dependencies
        points, note = {"pca": _pca, "tsne": _tsne, "umap": _umap}[method](unit, seed)
    return np.asarray(points, np.float64), note


def unit_rows(rows: np.ndarray) -> np.ndarray:
    """Each row at length 1; a row of zeros stays."""
    rows = np.asarray(rows, np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(lengths > 0, lengths, 1.0)


def principal_components(rows: np.ndarray) -> tuple[np.ndarray, float]:
    """Coordinates along the two directions of largest variance, (N, 2), and their share of it.

    A direction and its opposite are equally good: the one in which the farthest point is positive is taken.
    """
    centred = rows - rows.mean(0)
    left, values, _ = np.linalg.svd(centred, full_matrices=False)
    points = np.zeros((len(rows), 2))
    points[:, : len(values)] = left[:, :2] * values[:2]
    farthest = points[np.abs(points).argmax(0), [0, 1]]
    total = (values**2).sum()
    return points * np.where(farthest < 0, -1, 1), float((values[:2] ** 2).sum() / total) if total else 1.0


def _pca(unit: np.ndarray, seed: int) -> tuple[np.ndarray, str]:
    points, share = principal_components(unit)
    return points, f"two principal components, {100 * share:.0f} % of the variance"


def _tsne(unit: np.ndarray, seed: int) -> tuple[np.ndarray, str]:
    library = need("openTSNE", "maps", "method='tsne'")
    perplexity = min(PERPLEXITY, (len(unit) - 1) / 3)
    start = 1e-4 * _beginning(unit, seed)
    found = library.TSNE(perplexity=perplexity, random_state=seed, n_jobs=1, initialization=start)
    points = found.fit(affinities=_affinities(library, unit, perplexity, seed))
    return np.asarray(points), f"t-SNE, perplexity {perplexity:.3g}, seed {seed}"


def _affinities(library: Any, unit: np.ndarray, perplexity: float, seed: int) -> Any:
    """What openTSNE would make of the rows: left to itself, it imports pynndescent, compiles it and does not use it."""
    kind = library.nearest_neighbors.Sklearn if len(unit) < EXACT else library.nearest_neighbors.Annoy
    near = kind(unit, min(len(unit) - 1, int(3 * perplexity)), n_jobs=1, random_state=seed)
    return library.affinity.MultiscaleMixture(perplexities=perplexity, knn_index=near, n_jobs=1)


def _umap(unit: np.ndarray, seed: int) -> tuple[np.ndarray, str]:
    library = need("umap", "maps", "method='umap'")
    neighbours = min(NEIGHBOURS, len(unit) - 1)
    start = _beginning(unit, seed)
    found = library.UMAP(n_neighbors=neighbours, min_dist=0.3, random_state=seed, n_jobs=1, init=start)
    return found.fit_transform(unit), f"UMAP, {neighbours} neighbours, seed {seed}"


def _beginning(unit: np.ndarray, seed: int) -> np.ndarray:
    """Principal components at deviation 1, and a little chance, without which equal words would never part."""
    points = principal_components(unit)[0]
    chance = np.random.default_rng(seed).normal(0, 0.01, points.shape)
    return (points / max(points[:, 0].std(), 1e-9) + chance).astype(np.float32)
