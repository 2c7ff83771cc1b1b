"""python -m proxy: the same as kip848-proxy."""

import sys

from proxy.cli import main

if __name__ == "__main__":
    sys.exit(main())
