"""`python -m hls_model`."""

import sys

from hls_model.cli import main

sys.exit(main())
