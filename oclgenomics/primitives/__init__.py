"""Scans, sorts and their like on the device, shared by the systems.

Names are imported when they are first used: few commands need all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

# Its module is called as it is: the import of that later would put it in its place.
from oclgenomics.primitives.scan import scan as scan

if TYPE_CHECKING:
    from oclgenomics.primitives.block_sums import *
    from oclgenomics.primitives.compaction import *
    from oclgenomics.primitives.equal_keys import *
    from oclgenomics.primitives.merging import merge as merge
    from oclgenomics.primitives.partitioning import *
    from oclgenomics.primitives.sorting import *

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "block_sums": "block_summer sum_blocks",
        "compaction": "Runs compact run_lengths",
        "equal_keys": "KeyPrefix count_equal key_prefix",
        "merging": "merge",
        "partitioning": "Parts partition",
        "sorting": "Sorted sort",
    },
)
__all__ += ["scan"]
