"""Text -> ids: tokenisers and the vocabulary."""

from foresay.parts import import_siblings

import_siblings(__name__)
