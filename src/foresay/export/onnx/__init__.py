"""Runs as graphs of ONNX, which other programs run without Foresay and without torch."""
