"""All that runs on a device: k-mers counted, encoded and decoded there, and those of reads looked up.

Names stand here that few inputs need, or one class of devices alone: they are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from oclgenomics.lazy_names import found_in

if TYPE_CHECKING:
    from oclgenomics.kmers.device.bin_counter import BinCounter
    from oclgenomics.kmers.device.encode_gpu import GpuEncoder
    from oclgenomics.kmers.device.read_filter import filter_files
    from oclgenomics.kmers.device.reader import KmerDatabase, opened
    from oclgenomics.kmers.device.sort_counter import SortCounter

__all__ = ["BinCounter", "GpuEncoder", "KmerDatabase", "SortCounter", "filter_files", "opened"]

HOMES = {
    "BinCounter": "bin_counter", "GpuEncoder": "encode_gpu", "KmerDatabase": "reader", "SortCounter": "sort_counter",
    "filter_files": "read_filter", "opened": "reader",
}  # fmt: skip

__getattr__, __dir__ = found_in(__name__, HOMES, __all__)
