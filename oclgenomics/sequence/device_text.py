"""Text on the device, as the kernels take it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from oclgenomics.runtime import DeviceArray


@dataclass(frozen=True)
class Text:
    """Text in device memory.

    Attributes
    ----------
    memory : DeviceArray, uint8
    skip, size : int
        Its first byte and its number of bytes, at most `MAX_BYTES`.
    """

    memory: DeviceArray
    skip: int
    size: int

    @property
    def place(self) -> dict[str, Any]:
        """What kernels take of it."""
        return {"memory": self.memory, "skip": self.skip}
