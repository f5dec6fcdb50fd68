"""Vectors of words: used, searched, read, written and judged; no torch in here."""
