"""The picture of a search: what went on, was dropped and ended, and the way of the best."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from foresay.decode.beam import Beam
from foresay.decode.beams import Trail
from foresay.decode.search import Limits
from foresay.study import search_tree
from foresay.text.tokens import STOP
from tests.decode.models import random_table, told
from tests.decode.test_beam import GARDEN, A, B, C, D


def searched(model, width: int = 2, length: int = 5, alpha: float = 0.0):
    trail = Trail()
    best = Beam(width=width, alpha=alpha).find(model, [[]], Limits(length), trail)[0][0]
    return trail, best


def test_the_boxes_of_a_garden():
    trail, best = searched(told(GARDEN))
    boxes = search_tree.boxes_of(trail)
    assert [(box.step, box.id, box.kind) for box in boxes] == [
        (0, A, "kept"),
        (0, B, "kept"),
        (1, STOP, "ended"),
        (1, C, "kept"),
        (1, D, "kept"),
        (1, C, "dropped"),
    ]
    assert {(boxes[one].step, boxes[one].id) for one in search_tree.best_way(boxes, best)} == {(0, B), (1, STOP)}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_way_of_the_best_is_found_and_the_picture_is_whole(seed, alpha):
    trail, best = searched(random_table(seed), width=4, length=6, alpha=alpha)
    boxes = search_tree.boxes_of(trail)
    way = sorted((boxes[one].step, boxes[one].id) for one in search_tree.best_way(boxes, best))
    assert [id for _, id in way] == [*best.ids, *([STOP] if best.finished else [])]
    last = max(search_tree.best_way(boxes, best), key=lambda one: boxes[one].step)
    assert boxes[last].total == pytest.approx(best.log_prob)
    picture = search_tree.draw(trail, best, lambda ids: [f"<{id}> &" for id in ids], "a\nb", Beam(4, alpha=alpha), 6)
    root = ET.fromstring(picture)
    texts = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<5>␣&" in texts or "<6>␣&" in texts or "end" in texts
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == len(boxes)
