"""Scans, sorts and their like on the device, shared by the systems.

Names are imported when they are first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

# Its module is called as it is: the import of that later would put it in its place.
from oclgenomics.primitives.scan import scan

if TYPE_CHECKING:
    from oclgenomics.primitives.compaction import Runs, compact, run_lengths
    from oclgenomics.primitives.equal_keys import KeyPrefix, count_equal, key_prefix
    from oclgenomics.primitives.merging import merge
    from oclgenomics.primitives.partitioning import Parts, partition
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

HOMES = {
    "KeyPrefix": "equal_keys", "Parts": "partitioning", "Runs": "compaction", "Sorted": "sorting",
    "compact": "compaction", "count_equal": "equal_keys", "key_prefix": "equal_keys", "merge": "merging",
    "partition": "partitioning", "run_lengths": "compaction", "sort": "sorting",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
