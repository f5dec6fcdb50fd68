"""Runs for many users at once: an engine that batches their requests step by step, an API over it, and a page."""
