"""Zstandard: the standard library's where it has one, the same code as a package (extra `zstd`) otherwise."""

from __future__ import annotations

import sys
from typing import Any

from oclgenomics.lazy_names import optional

__all__ = ["NEEDS_PACKAGE", "zstd_module"]

NEEDS_PACKAGE = "needs a package: pip install 'oclgenomics[zstd]'"


def zstd_module() -> Any:
    """Return the module, or None where there is none."""
    return optional("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
