"""Fast paths, each the twin of a plain one (contract 6)."""
