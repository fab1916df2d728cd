"""The parameters of one design: lanes, operators, memory, what the host does. `docs/how/fpga.md` draws the pipeline.

All times are cycles of the accelerator's clock unless a name says otherwise; a word is one float32 of the matrix M.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import ceil, inf, isfinite
from typing import Literal

from hls_model.boards import Board, find_board
from hls_model.cycles import cycles_of, pace_of
from hls_model.dram_parts import find_part
from hls_model.errors import ModelError
from hls_model.operators import Latencies, Operators
from hls_model.ranges import Range
from hls_model.text import check_choice, shown

LARGEST_SEED = (1 << 64) - 1  # its lower 32 bits count
LARGEST = (1 << 31) - 1  # of a whole-numbered parameter: sums and products of a few stay exact
MOST_COPIES = 1_024  # of kernels, and of positions in flight
LARGEST_ENGINE = 1 << 16  # of a part of the LD and matrix engines; no device holds as many
WORD_BITS = 32  # M holds float32
MAX_PACE = 1_000_000  # cycles of a port beat
MIN_EFFICIENCY = 1e-3
MAX_OVERHEAD_US = 1e9
MIN_RATE, MAX_RATE = 1e-12, 1e24  # of clocks, bandwidths and the like: what is computed from them stays finite

LaneMap = Literal["interleaved", "blocked"]
Prefetch = Literal["per_position", "per_outer", "none"]
Remainder = Literal["software", "masked"]
Transfer = Literal["none", "incremental", "full"]
Ld = Literal["card", "published"]
Layout = Literal["repacked", "shifted"]
Launch = Literal["per_position", "per_scan"]
CHOICES = {
    "lane_map": ("interleaved", "blocked"),
    "rs_prefetch": ("per_position", "per_outer", "none"),
    "remainder": ("software", "masked"),
    "host_transfer": ("none", "incremental", "full"),
    "ld": ("card", "published"),
    "layout": ("repacked", "shifted"),
    "launch": ("per_position", "per_scan"),
}


@dataclass(frozen=True)
class Memory:
    """The read path from external memory: AXI ports in step, bursts, and the banks behind them.

    Attributes
    ----------
    latency_ns : float
        Nanoseconds from an accepted request to the first data; 0 is the board's.
    port_bits, ports : int
        Width of one port, and how many are read in step; together they give one port beat a cycle.
    burst_length : int
        Port beats of one request.
    burst_gap : int
        Idle cycles on the data channel between two bursts; at most the latency.
    outstanding : int
        Requests under way at a time.
    fifo_beats : int
        Port beats that fit between the ports and the lanes.
    banks, bank_gbps, efficiency : int, float, float
        Memory banks that the ports share evenly, each one's peak in GB/s, and the share of it that is reached (refresh
        and turn-around included); an efficiency of 0 is the board's.
    random_gap_percent, random_gap_seed : float, int
        Share of port beats that come 1 to 4 cycles late, and the seed of the choice; for tests of back-pressure.
    dram : {'none', 'ddr4_2133', 'ddr4_2400', 'hbm2'}
        What is behind the ports at level L2: a DRAM (`hls_model.extras.dram`), which says when data come, in place of
        `bank_gbps` and `efficiency`; or the fixed latency and pace that the other levels know.
    dram_seed : int
        Seed of when the first refresh of each channel falls due.
    random_stall_percent : float
        Share of bursts whose request is accepted 1 to 8 cycles late, chosen by the same seed; for such tests as well.
    """

    latency_ns: float = 0.0
    port_bits: int = 512
    ports: int = 2
    burst_length: int = 16
    burst_gap: int = 0
    outstanding: int = 16
    fifo_beats: int = 64
    banks: int = 2
    bank_gbps: float = 19.2
    efficiency: float = 0.0
    random_gap_percent: float = 0.0
    random_gap_seed: int = 1
    dram: str = "none"
    dram_seed: int = 1
    random_stall_percent: float = 0.0

    def __post_init__(self) -> None:
        for name in ("ports", "burst_length", "outstanding", "banks"):
            _whole(f"memory.{name}", getattr(self, name), 1)
        _whole("memory.fifo_beats", self.fifo_beats, 2)
        _whole("memory.burst_gap", self.burst_gap, 0)
        _whole("memory.random_gap_seed", self.random_gap_seed, 0, LARGEST_SEED)
        _whole("memory.dram_seed", self.dram_seed, 0, LARGEST_SEED)
        self._check_dram()
        _whole("memory.port_bits", self.port_bits, WORD_BITS)
        _positive("memory.bank_gbps", self.bank_gbps)
        _least("memory.latency_ns", self.latency_ns)
        _least("memory.efficiency", self.efficiency)
        if self.efficiency > 1:
            raise ModelError(f"memory.efficiency is {self.efficiency:g}; it is a share of the peak, at most 1")
        if 0 < self.efficiency < MIN_EFFICIENCY:
            raise ModelError(
                f"memory.efficiency is {self.efficiency:g}; {MIN_EFFICIENCY:g} is the least, 0 the board's"
            )
        for name in ("random_gap_percent", "random_stall_percent"):
            _percent(f"memory.{name}", getattr(self, name))
        if self.port_bits % WORD_BITS:
            raise ModelError(f"memory.port_bits is {self.port_bits}; it has to be a multiple of {WORD_BITS}")

    def _check_dram(self) -> None:
        if self.dram == "none":
            return
        find_part(self.dram)
        for name in ("burst_gap", "random_gap_percent", "random_stall_percent"):
            if getattr(self, name):
                raise ModelError(
                    f"memory.{name} is {getattr(self, name):g}; with memory.dram the DRAM makes the gaps, take 0"
                )

    @property
    def words_per_beat(self) -> int:
        """Words that all ports bring in one port beat."""
        return self.ports * self.port_bits // WORD_BITS

    @property
    def ports_per_bank(self) -> int:
        """Ports on the busiest bank."""
        return -(-self.ports // self.banks)


@dataclass(frozen=True)
class Config:
    """One design of the omega pipeline and the host around it.

    Attributes
    ----------
    name, board : str
        What reports call it; the device whose resources and memory it has (`hls_model.boards`).
    unroll : int
        U, the right-side iterations taken together; the rest of a division by U is the remainder.
    physical_lanes : int
        Pipelines in hardware, a divisor of `unroll`; 0 is one for each of the U iterations.
    ii : int
        Initiation interval: cycles between two beats of a lane.
    clock_mhz : float
        Clock of the accelerator.
    target_mhz, clock_met : float, bool
        Clock that the operators are built for where it is another one (0: `clock_mhz`), and whether the design is known
        to meet it; else a range is given (`hls_model.clock`).
    operators, memory : Operators, Memory
        The lane's operators (where not set, as long as the clock asks for) and the read path.
    fsm_cycles : int
        Cycles between the end of a column's drain and the next column's first request.
    lane_map : {'interleaved', 'blocked'}
        Right-side iteration j runs in lane j mod P, or each lane has a stretch of its own.
    overlap_outer : bool
        The next column is requested while this one runs; else each column waits for the drain.
    rs_buffer_words : int
        Words of the RS buffer; longer columns are done in tiles.
    rs_prefetch : {'per_position', 'per_outer', 'none'}
        RS is read into the buffer once per position, once per column, or streamed with TS without a buffer.
    remainder : {'software', 'masked'}
        The remainder is left to software, or runs in a last beat with lanes masked.
    software_rate : float
        Scores per second of the software that takes the remainder.
    software_overlap : bool
        The remainder runs while the hardware does; else after it.
    position_overhead_us : float
        Microseconds spent per grid position outside the pipeline.
    host_transfer : {'none', 'incremental', 'full'}
        What of M crosses the host link: nothing (the card builds M), each element once, or every position's block
        (the host builds M in both).
    host_gbps, host_overlap : float, bool
        The link's rate in GB/s (0 is the board's), and whether it runs while the hardware does.
    layout : {'repacked', 'shifted'}
        How columns come to start at port beats: each position's block is copied before it is read, or a shifter at the
        ports aligns what they read.
    launch : {'per_position', 'per_scan'}
        The host starts the pipelines at every grid position, or once.
    ld : {'card', 'published'}
        LD comes from an engine on the card, or from the accelerator of which the paper takes the rate.
    ld_units, ld_word_bits, ld_tile_snps, ld_r2_units : int
        Of the card's engine: counters that each take a word of so many bits of two SNPs in a cycle, SNPs on either side
        of the pairs that are counted together, and pipelines that turn counts into r2.
    ld_bits_per_s : float
        Genotype bits per second of the published LD accelerator: `ld_bits_per_s / samples` scores per second.
    matrix_adders : int
        Pairs of adders that build M on the card; each gives an element a cycle.
    power_watts : float
        Power of the board under load, for energy; 0 is not given.
    kernels : int
        Copies of the whole pipeline on the board, each with ports of its own; they share the banks.
    positions_in_flight : int
        Positions that a kernel holds at a time, each with an RS buffer and a set of maxima of its own: the launch and
        the prefetch of one, the columns of another and the merge of a third overlap.
    own_board : Board or None
        A board that is no known one, from the table `board` of a design's file.
    """

    name: str = "u200"
    board: str = "u200"
    unroll: int = 32
    physical_lanes: int = 0
    ii: int = 1
    clock_mhz: float = 250.0
    target_mhz: float = 0.0
    clock_met: bool = False
    operators: Operators = field(default_factory=Operators)
    memory: Memory = field(default_factory=Memory)
    fsm_cycles: int = 1
    lane_map: LaneMap = "interleaved"
    overlap_outer: bool = False
    rs_buffer_words: int = 32_768
    rs_prefetch: Prefetch = "per_position"
    remainder: Remainder = "software"
    software_rate: float = 71.26e6
    software_overlap: bool = True
    position_overhead_us: float = 0.0
    host_transfer: Transfer = "none"
    host_gbps: float = 0.0
    host_overlap: bool = True
    layout: Layout = "repacked"
    launch: Launch = "per_position"
    ld: Ld = "card"
    ld_units: int = 256
    ld_word_bits: int = 64
    ld_tile_snps: int = 128
    ld_r2_units: int = 8
    ld_bits_per_s: float = 267.5e9
    matrix_adders: int = 8
    power_watts: float = 0.0
    kernels: int = 1
    positions_in_flight: int = 1
    own_board: Board | None = field(default=None, hash=False)

    def __post_init__(self) -> None:
        for name, least in (("unroll", 1), ("physical_lanes", 0), ("ii", 1), ("fsm_cycles", 1), ("rs_buffer_words", 1)):
            _whole(name, getattr(self, name), least)
        for name in ("kernels", "positions_in_flight"):
            _whole(name, getattr(self, name), 1, MOST_COPIES)
        for name in ("ld_units", "ld_tile_snps", "ld_r2_units", "matrix_adders"):
            _whole(name, getattr(self, name), 1, LARGEST_ENGINE)
        _whole("ld_word_bits", self.ld_word_bits, 8, LARGEST_ENGINE)
        for name in ("clock_mhz", "software_rate", "ld_bits_per_s"):
            _positive(name, getattr(self, name))
        for name in ("target_mhz", "position_overhead_us", "power_watts", "host_gbps"):
            _least(name, getattr(self, name))
        if self.position_overhead_us > MAX_OVERHEAD_US:
            raise ModelError(f"position_overhead_us is {self.position_overhead_us:g}; {MAX_OVERHEAD_US:g} is the most")
        for name, cycles in vars(self.operators).items():
            _whole(f"operators.{name}", cycles, 0)
        for name, choices in CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        self._check_together()

    def _check_together(self) -> None:
        if self.pace > MAX_PACE:
            raise ModelError(
                f"memory.bank_gbps is {self.memory.bank_gbps:g} at an efficiency of {self.efficiency:g}: a port beat "
                f"would take more than {MAX_PACE:,} cycles"
            )
        if self.ii > self.depth:
            raise ModelError(
                f"ii is {self.ii}; beats further apart than the depth of the pipeline, {self.depth} cycles, would not "
                "overlap, and no tool builds that: take at most the depth"
            )
        if self.ld_word_bits % 8:
            raise ModelError(f"ld_word_bits is {self.ld_word_bits}; it has to be a multiple of 8")
        if self.host_gbps:
            _positive("host_gbps", self.host_gbps)
        if self.memory.burst_gap > self.latency:
            raise ModelError(
                f"memory.burst_gap is {self.memory.burst_gap}; it has to be at most the latency, {self.latency} cycles"
            )
        if self.physical_lanes and self.unroll % self.physical_lanes:
            raise ModelError(f"physical_lanes is {self.physical_lanes}; it has to divide the unroll, {self.unroll}")
        if self.rs_prefetch != "none" and self.rs_buffer_words < self.lanes:
            raise ModelError(f"rs_buffer_words is {self.rs_buffer_words}; it has to hold one beat, {self.lanes} words")
        if self.overlap_outer and self.rs_prefetch == "per_outer":
            raise ModelError("overlap_outer cannot go with rs_prefetch per_outer; take per_position or none")
        if self.memory.fifo_beats < self.beats_per_issue:
            raise ModelError(
                f"memory.fifo_beats is {self.memory.fifo_beats}; it has to hold the {self.beats_per_issue} port beats "
                f"that {self.lanes} lanes take at once"
            )

    @property
    def lanes(self) -> int:
        """P, pipelines in hardware."""
        return self.physical_lanes or self.unroll

    @cached_property
    def latencies(self) -> Latencies:
        """The operators' latencies in cycles: as set, or those of the clock."""
        return self.operators.at(self.target_mhz or self.clock_mhz)

    @property
    def depth(self) -> int:
        """D, cycles from the issue of a beat until the running maxima hold it."""
        return self.latencies.depth

    @property
    def hardware(self) -> Board:
        """The board.

        Raises
        ------
        ModelError
            No such board.
        """
        return self.own_board or find_board(self.board)

    @cached_property
    def latency(self) -> int:
        """M, cycles from an accepted request to the first data; 1 at least, and no less than slow banks need for it."""
        nanoseconds = self.memory.latency_ns or self.hardware.latency_ns.likely
        pace = ceil(self.pace)
        return max(cycles_of(nanoseconds, self.clock_mhz), pace + self.memory.burst_gap if pace > 1 else 0)

    @property
    def host_rate(self) -> Range:
        """GB/s of the host link: as set, or the board's."""
        return Range.exactly(self.host_gbps) if self.host_gbps else self.hardware.host_gbps

    @property
    def efficiency(self) -> float:
        """Share of the banks' peak that is reached."""
        return self.memory.efficiency or self.efficiency_range.likely

    @cached_property
    def efficiency_range(self) -> Range:
        """The same with its bounds, those of the board where the design sets none."""
        given, banks = self.memory.efficiency, min(self.memory.banks, self.kernels * self.memory.ports)
        return Range.exactly(given) if given else self.hardware.efficiency_of(banks)

    @cached_property
    def pace(self) -> Fraction:
        """Cycles that the banks need for a port beat on average, all kernels reading; 1 where they keep up."""
        return self._pace(self.ports_per_bank)

    @property
    def ports_per_bank(self) -> int:
        """Ports of all kernels on the busiest bank."""
        return -(-self.kernels * self.memory.ports // self.memory.banks)

    @property
    def banks_shared(self) -> bool:
        """Whether one kernel alone would get more of the banks."""
        return self.pace > self._pace(self.memory.ports_per_bank)

    def _pace(self, ports: int) -> Fraction:
        given = self.memory.bank_gbps * 1e9 * self.efficiency
        return pace_of(ports, self.memory.port_bits, self.clock_mhz, given)

    @property
    def issue_words(self) -> int:
        """Words that one beat of the lanes takes from memory."""
        return self.lanes * (2 if self.rs_prefetch == "none" else 1)

    @property
    def beats_per_issue(self) -> int:
        """Port beats that one beat of the lanes takes; 1 where a port beat is at least as wide."""
        return -(-self.issue_words // self.memory.words_per_beat)

    @property
    def issues_per_beat(self) -> int:
        """Beats of the lanes that one port beat feeds; 1 where a port beat is not wider."""
        return max(1, self.memory.words_per_beat // self.issue_words)

    @property
    def ideal_rate(self) -> float:
        """Scores per second of one kernel whose lanes never wait."""
        return self.lanes * self.clock_mhz * 1e6 / self.ii

    def but(self, **changes: object) -> Config:
        """Return the same design with some parameters changed (`memory` and `operators` are replaced as a whole).

        Raises
        ------
        ModelError
            A parameter outside its range.
        """
        return dataclasses.replace(self, **changes)  # type: ignore[arg-type]


def _whole(name: str, value: object, least: int, most: int = LARGEST) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ModelError(f"{name} is {shown(value)}; it has to be a whole number")
    if value < least:
        raise ModelError(f"{name} is {shown(value)}; it has to be {least} or more")
    if value > most:
        raise ModelError(f"{name} is {shown(value)}; {most} is the most")


def _number(name: str, value: object) -> None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ModelError(f"{name} is {shown(value)}; it has to be a number")


def _percent(name: str, value: float) -> None:
    _number(name, value)
    if not 0 <= value <= 100:
        raise ModelError(f"{name} is {value:g}; it has to be 0 to 100")


def _least(name: str, value: float) -> None:
    _number(name, value)
    if MAX_RATE < value < inf:
        raise ModelError(f"{name} is {value:g}; {MAX_RATE:g} is the most")
    if not (isfinite(value) and value >= 0):
        raise ModelError(f"{name} is {value:g}; it has to be 0 or more")


def _positive(name: str, value: float) -> None:
    _number(name, value)
    if isfinite(value) and value > 0 and not MIN_RATE <= value <= MAX_RATE:
        raise ModelError(f"{name} is {value:g}; it has to lie between {MIN_RATE:g} and {MAX_RATE:g}")
    if not (isfinite(value) and value > 0):
        raise ModelError(f"{name} is {shown(value)}; it has to be a positive number")
