"""The loop and what it needs: optimisers, clipping, checkpoints, progress."""

from foresay.parts import import_siblings

import_siblings(__name__)
