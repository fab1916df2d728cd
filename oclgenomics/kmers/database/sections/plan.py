"""Memory decisions of databases: how many sections are encoded or decoded at a time, by arithmetic alone."""

from __future__ import annotations

from dataclasses import dataclass

from oclgenomics.kmers.database.layout import SECTION_KMERS
from oclgenomics.kmers.database.sections import vlq
from oclgenomics.kmers.database.sections.encode_kernels import STRETCHES, TALLIED
from oclgenomics.kmers.keys import key_words
from oclgenomics.kmers.plan import DeviceLimits
from oclgenomics.runtime.memory import BufferNeed, items_that_fit

__all__ = ["SectionPlan"]

MIN_SECTIONS = 8  # that the device has to hold before it is worth the memory to encode there
SHARE = 4  # of the sections that fit, one in so many is worked on: others use the memory, too
MAX_KEY_BYTES = 1 << 28  # at a time on GPUs: a work-item takes milliseconds for a section, so there have to be many
MAX_ROOM_BYTES = 1 << 27  # of encoded sections on CPU devices, of which a half or less is ever touched
SECTIONS_EACH = 2  # at a time for each core of a CPU device
MIN_ENCODED, MIN_DECODED = 16, 16  # at a time on CPU devices, if they fit
LEAST_ROOM_BYTES = 20 << 20  # that so many sections may take
MAX_HELD = 4  # sections that are gathered on CPU devices where runs are short
SPARE = 16  # bytes, as eight are written at a time and whole words read


@dataclass(frozen=True)
class SectionPlan:
    """Sections of k-mers of so many letters on a device, of which some bytes are in use.

    Raises
    ------
    AllocationError
        From all methods: the device's memory does not hold a section.
    """

    limits: DeviceLimits
    k: int
    used: int = 0

    @property
    def max_bytes(self) -> int:
        """Bytes that gaps and counts of a section take at most."""
        return SECTION_KMERS * (8 + vlq.max_bytes(key_words(self.k)))

    @property
    def room_bytes(self) -> int:
        """Bytes that are kept for an encoded section on CPU devices, whole words."""
        return -(-self.max_bytes // 8) * 8 + SPARE

    @property
    def worth_encoding(self) -> bool:
        """Whether to encode on the device: not where what a section takes would be much of its memory."""
        return self.limits.budget >= MIN_SECTIONS * (self._key_bytes + 4 * SECTION_KMERS + 2 * self.max_bytes)

    def encode(self) -> int:
        """Sections to encode at a time."""
        return self._encode_on_cpu() if self.limits.cpu else self._encode_on_gpu()

    def held(self) -> int:
        """Sections to gather where runs are short."""
        return min(MAX_HELD, self.encode()) if self.limits.cpu else self.encode()

    def decode(self) -> int:
        """Sections to decode at a time."""
        fit = self._fit(BufferNeed("sections", per_item=self.max_bytes + SPARE))
        most = self._for_cores(MIN_DECODED) if self.limits.cpu else MAX_KEY_BYTES // self._key_bytes
        return max(1, min(most, fit // SHARE))

    def _encode_on_cpu(self) -> int:
        fit = self._fit(
            BufferNeed("sections", per_item=self.room_bytes, copies=2),
            BufferNeed("tallies", per_item=4 * (TALLIED + 2), copies=2),
            BufferNeed("large counts", per_item=4 * SECTION_KMERS, copies=2),
            BufferNeed("counts", per_item=4 * SECTION_KMERS),
        )
        least = min(MIN_ENCODED, max(1, LEAST_ROOM_BYTES // self.room_bytes))
        return max(1, min(self._for_cores(least), MAX_ROOM_BYTES // self.room_bytes, fit // SHARE))

    def _encode_on_gpu(self) -> int:
        fit = self._fit(
            BufferNeed("places", fixed=1 << 14, per_item=4 * (SECTION_KMERS + STRETCHES), copies=2),
            BufferNeed("sections", fixed=SPARE, per_item=self.max_bytes, copies=2),
        )
        return max(1, min(MAX_KEY_BYTES // self._key_bytes, fit // SHARE))

    @property
    def _key_bytes(self) -> int:
        return 8 * key_words(self.k) * SECTION_KMERS

    def _for_cores(self, least: int) -> int:
        return max(SECTIONS_EACH * self.limits.compute_units, least)

    def _fit(self, *needs: BufferNeed) -> int:
        """Sections that fit beside what is in use, with their k-mers."""
        kmers = [BufferNeed("keys", per_item=self._key_bytes), BufferNeed("counts", per_item=4 * SECTION_KMERS)]
        free = self.limits.budget - self.used
        largest = self.limits.max_allocation
        return items_that_fit([*kmers, *needs], budget=free, max_allocation=largest, item="section of k-mers")
