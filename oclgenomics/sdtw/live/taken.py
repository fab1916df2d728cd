"""What becomes of chunks."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Taken"]


@dataclass
class Taken:
    """What became of chunks.

    Attributes
    ----------
    chunks, samples : int
        That belong to reads which are judged; samples that had not come before.
    reads : int
        New ones.
    malformed : int
        Chunks that ended the judging of a read: broken, overlapping or out of order, or with others missing before.
    joined : int
        Reads that had run too long when their first chunk came.
    late : int
        Chunks of reads that are over, or that the sequencer was asked not to send.
    """

    chunks: int = 0
    samples: int = 0
    reads: int = 0
    malformed: int = 0
    joined: int = 0
    late: int = 0
