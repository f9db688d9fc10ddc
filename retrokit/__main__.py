"""``python -m retrokit``: the command line, by the interpreter whose packages are wanted."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
