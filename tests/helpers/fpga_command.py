"""`oclgenomics fpga`, in this process."""

from __future__ import annotations

from collections.abc import Sequence

from hls_model.__main__ import forwarded
from oclgenomics.cli.main import main

__all__ = ["fpga"]


def fpga(words: Sequence[str]) -> int:
    """Run a command and return its status; projections measure nothing."""
    return main(forwarded(list(words)))
