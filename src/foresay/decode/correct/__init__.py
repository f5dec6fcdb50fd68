"""What was observed -> what was meant, by chains over weight log P(X) + log P(observed | X)."""

from foresay.parts import import_siblings

import_siblings(__name__)
