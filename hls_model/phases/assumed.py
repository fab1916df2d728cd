"""What the phases of a scan assume where no page gives a figure; all of it in one place.

Rates of the host are those of one core. `Board.host_link` tells a processor on the device from a server.
"""

from __future__ import annotations

from dataclasses import dataclass

from hls_model.boards import Board
from hls_model.ranges import Range

__all__ = ["DMA_US", "RESULT_BYTES", "SHARED_LEFT", "TURNAROUND", "Host", "host_of"]

TURNAROUND = 0.75  # share of what banks reach that is left where reads and writes alternate; assumed
DMA_US = Range(5.0, 20.0, 100.0)  # to set up a transfer over the host link and to learn of its end; assumed
SHARED_LEFT = 0.75  # share of the memory that a processor on the device leaves beside its own software; assumed

RESULT_BYTES = 12  # of a grid position: the maximum, its column and its right-side iteration


@dataclass(frozen=True)
class Host:
    """The software's machine.

    Attributes
    ----------
    pack_gbps : Range
        GB/s of genotypes, a byte each, that a core packs into bits.
    memory_gbps : Range
        GB/s that a core reads and writes in all when it copies or adds.
    note : str
        Which machine.
    embedded : bool
        It is the processor on the device.
    """

    pack_gbps: Range
    memory_gbps: Range
    note: str
    embedded: bool


_SERVER = Host(
    Range(1.0, 4.0, 8.0),
    Range(4.0, 10.0, 20.0),
    "one core of a server (numpy.packbits packs 5 GB/s on an AMD EPYC)",
    False,
)
_EMBEDDED = Host(
    Range(0.2, 0.8, 2.0),
    Range(1.0, 3.0, 6.0),
    "one Cortex-A53 core of the processing system",
    True,
)


def host_of(board: Board) -> Host:
    """Return the machine beside a board: a server, or the processor on the device where they share memory."""
    return _EMBEDDED if board.host_link == "shared memory" else _SERVER
