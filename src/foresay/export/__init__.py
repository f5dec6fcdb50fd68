"""Runs as the files of other tools."""
