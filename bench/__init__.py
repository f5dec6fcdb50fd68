"""Figures against peers: `python -m bench.NAME [--quick]`; the last line is JSON, ratio > 1 means Foresay is ahead."""
