"""Maps of word vectors: words on a plane, like ones side by side, as a picture or an interactive page."""

from foresay.study.maps.draw import Vectors, draw_map
from foresay.study.maps.groups import read_groups
from foresay.study.maps.map import Map

__all__ = ["Map", "Vectors", "draw_map", "read_groups"]
