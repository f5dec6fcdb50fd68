"""A text and what was observed of it -> the text that was meant, by a chain over log P(X) weight + log P(observed | X)."""

from foresay.parts import import_siblings

import_siblings(__name__)
