"""`python -m foresay`."""

from foresay.cli import main

main()
