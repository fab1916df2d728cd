"""Selective sweeps by linkage disequilibrium: the omega statistic along an alignment."""

from __future__ import annotations

from oclgenomics.omega.options import Scan, ScanOptions

__all__ = ["Scan", "ScanOptions"]
