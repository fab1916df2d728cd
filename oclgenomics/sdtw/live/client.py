"""What selection needs of the sequencer."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["ReadUntilClient"]


class ReadUntilClient(Protocol):
    """What is needed of a client of the Read Until API, such as `read_until.ReadUntilClient` and readfish's."""

    signal_dtype: Any

    @property
    def is_running(self) -> bool:
        """Whether reads come."""
        ...

    def get_read_chunks(self, batch_size: int = 1, last: bool = True) -> list[tuple[int, Any]]:
        """Return channels and chunks that came since the last call."""
        ...

    def unblock_read_batch(self, reads: list[tuple[int, Any]], duration: float = 0.1) -> None:
        """End reads, given by channel and number or id."""
        ...

    def stop_receiving_batch(self, reads: list[tuple[int, Any]]) -> None:
        """Send no more of reads."""
        ...
