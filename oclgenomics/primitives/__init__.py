"""Scans, sorts and their like on the device, shared by the systems."""

from oclgenomics.primitives.compaction import Runs, compact, run_lengths
from oclgenomics.primitives.merging import merge
from oclgenomics.primitives.partitioning import Parts, partition
from oclgenomics.primitives.scan import scan
from oclgenomics.primitives.sorting import Sorted, sort

__all__ = ["Parts", "Runs", "Sorted", "compact", "merge", "partition", "run_lengths", "scan", "sort"]
