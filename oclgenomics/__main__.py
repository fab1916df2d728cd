"""`python -m oclgenomics` is the same as the `oclgenomics` command."""

import sys

from oclgenomics.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
