"""Lets `python -m grbp` do what `grbp` does."""

import sys

from grbp.cli import main

sys.exit(main())
