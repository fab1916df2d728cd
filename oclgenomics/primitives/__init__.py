"""Scans, sorts and their like on the device, shared by the systems."""

from oclgenomics.primitives.compaction import Runs, compact, run_lengths
from oclgenomics.primitives.equal_keys import KeyPrefix, count_equal, key_prefix
from oclgenomics.primitives.merging import merge
from oclgenomics.primitives.partitioning import Parts, partition
from oclgenomics.primitives.scan import scan
from oclgenomics.primitives.sorting import Sorted, sort

__all__ = [
    "KeyPrefix",
    "Parts",
    "Runs",
    "Sorted",
    "compact",
    "count_equal",
    "key_prefix",
    "merge",
    "partition",
    "run_lengths",
    "scan",
    "sort",
]
