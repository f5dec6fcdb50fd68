"""Foresay: train, compare and use sequence models on your own data.

    import foresay
    run = foresay.train("my.txt", out="runs/mine")
    run.perplexity(["a sentence"])
    run.generate("Once upon")
"""

__version__ = "0.1.0"
