"""What a board is: amounts of resources, super logic regions, its other figures, and where each of them comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import floor

from hls_model.errors import ModelError
from hls_model.ranges import Range

ASSUMED = "assumed"  # the document of a figure that no page gives


@dataclass(frozen=True)
class Source:
    """The source of a figure.

    Attributes
    ----------
    document : str
        Document number or title; `ASSUMED` if there is none.
    url : str
        Its address; empty for an assumption.
    note : str
        What it says, how the figure follows from it, or why it is assumed.

    Raises
    ------
    ModelError
        A document without an address, or an assumption without a reason.
    """

    document: str
    url: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if self.assumed and not self.note:
            raise ModelError("an assumed figure needs a note that says why")
        if self.assumed == bool(self.url):
            raise ModelError(f"source {self.document!r} needs an address, and an assumption has none")

    @property
    def assumed(self) -> bool:
        """Whether no document gives the figure."""
        return self.document == ASSUMED

    def __str__(self) -> str:
        """Return one line: the document, its address and the note."""
        return " ".join(part for part in (self.document + ":" * bool(self.note), self.note, self.url) if part)


GIB = 1 << 30
KINDS = ("bram18k", "dsp", "ff", "lut")  # what designs are counted in


@dataclass(frozen=True)
class Amount:
    """Block RAMs of 18 kbit, DSP slices, flip-flops and look-up tables."""

    bram18k: int = 0
    dsp: int = 0
    ff: int = 0
    lut: int = 0

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.bram18k + other.bram18k, self.dsp + other.dsp, self.ff + other.ff, self.lut + other.lut)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.bram18k - other.bram18k, self.dsp - other.dsp, self.ff - other.ff, self.lut - other.lut)

    def times(self, count: int) -> Amount:
        """Return `count` times this amount."""
        return Amount(count * self.bram18k, count * self.dsp, count * self.ff, count * self.lut)

    def shares(self, whole: Amount) -> dict[str, float]:
        """Return the share of `whole` that each kind takes, 1.0 being all of it."""
        return {kind: getattr(self, kind) / getattr(whole, kind) for kind in KINDS}

    def within(self, whole: Amount) -> bool:
        """Whether `whole` has as much of every kind."""
        fits = self.bram18k <= whole.bram18k and self.dsp <= whole.dsp
        return fits and self.ff <= whole.ff and self.lut <= whole.lut


@dataclass(frozen=True)
class Region:
    """A super logic region (SLR): one die of the device, or the whole device where it is one die.

    Attributes
    ----------
    name : str
    available, shell : Amount
        What it holds in all, and what the platform's static region takes of it.
    """

    name: str
    available: Amount
    shell: Amount

    def __post_init__(self) -> None:
        if not self.shell.within(self.available):
            raise ModelError(f"the shell takes more of {self.name} than it holds")

    @property
    def left(self) -> Amount:
        """What the shell leaves."""
        return self.available - self.shell


@dataclass(frozen=True)
class Board:
    """One board.

    Attributes
    ----------
    name, title, device : str
        Its short name, its product name, and the device on it.
    available : Amount
        What the device holds.
    uram : int
        Ultra RAMs of 288 kbit; the model's designs use none.
    regions : tuple of Region
        Its super logic regions, which add up to `available`.
    placeable : dict of str to float
        Share of what the shell leaves that placement and routing can be expected to use, by kind.
    memory : str
        Kind of the external memory.
    banks, bank_gbps : int, float
        Memory banks and each one's peak in GB/s.
    total_gbps : Range or None
        The most that all banks give together in GB/s, where that may be less than their peaks; None is these.
    bank_gib : float
        GiB that each bank holds.
    ports, port_bits : int, int
        Memory ports of full width that a kernel can have, and their width in bits.
    efficiency_range : Range
        Share of the peak that long reads reach; `efficiency` is its likely value.
    latency_ns : Range
        Nanoseconds from a kernel's read request to its first data.
    clock_mhz, max_clock_mhz : float, float
        Clock that designs on it usually reach, and the greatest that the device or the platform allows, in MHz.
    clock_limit : str
        What sets `max_clock_mhz`.
    host_link : str
        How data reach it from the host.
    host_gbps, launch_us : Range, Range
        Rate of that link in GB/s, and microseconds to start a kernel.
    static_watts, idle_watts : Range, Range
        Static power of the device, and power of the whole board with its platform but no design at work, in watts.
    memory_pj_per_bit : Range
        Energy of a bit read from the memory, in picojoules.
    max_watts : float
        The most that the board may draw, in watts.
    price_usd : float or None
        Price in US dollars; None where no page gives one.
    sources : dict of str to Source
        Where each figure comes from, by the attribute's name.
    """

    name: str
    title: str
    device: str
    available: Amount
    uram: int
    regions: tuple[Region, ...]
    placeable: Mapping[str, float]
    memory: str
    banks: int
    bank_gbps: float
    total_gbps: Range | None
    bank_gib: float
    ports: int
    port_bits: int
    efficiency_range: Range
    latency_ns: Range
    clock_mhz: float
    max_clock_mhz: float
    clock_limit: str
    host_link: str
    host_gbps: Range
    launch_us: Range
    static_watts: Range
    idle_watts: Range
    memory_pj_per_bit: Range
    max_watts: float
    price_usd: float | None
    sources: Mapping[str, Source]

    @property
    def efficiency(self) -> float:
        """The share of a bank's peak that is counted with, of few banks."""
        return self.efficiency_range.likely

    def efficiency_of(self, banks: int) -> Range:
        """Return the share of their peak that so many banks reach together."""
        if self.total_gbps is None:
            return self.efficiency_range
        ends = zip(vars(self.efficiency_range).values(), vars(self.total_gbps).values(), strict=True)
        return Range(*(min(share, total / (banks * self.bank_gbps)) for share, total in ends))

    @property
    def peak_gbps(self) -> float:
        """Peak of all memory banks in GB/s."""
        return self.banks * self.bank_gbps

    @property
    def memory_bytes(self) -> int:
        """Bytes that all memory banks hold."""
        return self.bytes_of(self.banks)

    def bytes_of(self, banks: int) -> int:
        """Return the bytes that some of the memory banks hold."""
        return floor(banks * self.bank_gib * GIB)

    def room(self, region: Region) -> Amount:
        """Return what a design may use of a region: the placeable share of what the shell leaves, in whole units."""
        return Amount(*(floor(getattr(region.left, kind) * self.placeable[kind]) for kind in KINDS))
