"""Files -> batches: corpora, token shards, streams, buckets, packed documents."""

from foresay.parts import import_siblings

import_siblings(__name__)
