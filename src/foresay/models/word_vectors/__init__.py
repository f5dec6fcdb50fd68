"""Word vectors: a predictor, an objective, and the text they are learnt from."""

from foresay.parts import import_siblings

import_siblings(__name__)
