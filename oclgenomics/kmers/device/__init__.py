"""All that runs on a device: k-mers counted, encoded and decoded there, and those of reads looked up.

Names stand here that few inputs need, or one class of devices alone: they are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.device.bin_counter import BinCounter as BinCounter
    from oclgenomics.kmers.device.encode_gpu import GpuEncoder as GpuEncoder
    from oclgenomics.kmers.device.read_filter import filter_files as filter_files
    from oclgenomics.kmers.device.reader import *
    from oclgenomics.kmers.device.sort_counter import SortCounter as SortCounter

__getattr__, __dir__, __all__ = found_in(
    __name__,
    {
        "bin_counter": "BinCounter",
        "encode_gpu": "GpuEncoder",
        "read_filter": "filter_files",
        "reader": "KmerDatabase histogram_of_set opened",
        "sort_counter": "SortCounter",
    },
)
