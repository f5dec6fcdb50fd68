"""The vocabulary report: is this vocabulary right for this text? Counts, facts, hints, a table and a picture."""
