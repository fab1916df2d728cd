"""What designs are made of: parts, what one float operator takes, and an omega pipeline as the sum of its parts.

That sum is what high-level synthesis would place: operators (costs that HLS 2019.2 reports for UltraScale+ at 250 MHz,
of whose LUTs placement is assumed to leave three quarters), delay lines, memory adapters, FIFOs and the RS buffer in
banks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hls_model.boards import Amount
from hls_model.config import WORD_BITS, Config

# From reports of Vivado HLS 2019.2 for UltraScale+ of speed grade -2L, where a name ends in the latency. They lie in
# archive/benchmarks of https://github.com/UCLA-VAST/AutoBridge: PageRank/tapa_result/report has, at 4.00 ns on the
# XCU280, fadd, fsub, fcmp and a multiplier (ProcElem_csynth.rpt), fdiv and uitofp (Control_csynth.rpt). fmul is that of
# another report of the same project.

# (latency to which the flip-flops belong, amount) of one operator
OPERATORS: Mapping[str, tuple[int, Amount]] = {
    "fadd": (5, Amount(dsp=2, ff=205, lut=220)),
    "fsub": (5, Amount(dsp=2, ff=205, lut=220)),
    "fmul": (4, Amount(dsp=3, ff=143, lut=78)),
    "fdiv": (10, Amount(ff=461, lut=770)),
    "i2f": (4, Amount(ff=168, lut=283)),
    "imul": (2, Amount(dsp=2, ff=34, lut=20)),
    "fcmp": (2, Amount(ff=66, lut=46)),
}
PLACED = 0.75  # LUTs after placement for one in the report; an assumption


@dataclass(frozen=True)
class Part:
    """Equal instances of one part.

    Attributes
    ----------
    name, kind : str
        What it is, and the row of a synthesis report to which it belongs (`hls_model.resources.REPORT_ROWS`).
    count : int
        Instances.
    each : Amount
        What one takes.
    """

    name: str
    kind: str
    count: int
    each: Amount

    @property
    def total(self) -> Amount:
        """What all of them take."""
        return self.each.times(self.count)


PER_LANE = {"fadd": 2, "fsub": 2, "fdiv": 3, "i2f": 2, "imul": 2, "fcmp": 1}  # Fig. 8
TITLES = {
    "fadd": "float32 adder", "fsub": "float32 subtracter", "fdiv": "float32 divider", "i2f": "uint32 to float32",
    "imul": "32 x 16 bit multiplier", "fcmp": "float32 comparison",
}  # fmt: skip
# Ports: Control_csynth.rpt of the same project has a narrow one; a wide one, at 3.33 ns on the XCU250, is in
# Stencil/1PE/tapa_result/report/load_csynth.rpt.
ADAPTER = Amount(bram18k=4, ff=566, lut=766)  # of a 32-bit AXI port
WIDE_BITS, WIDE_ADAPTER = 512, Amount(bram18k=30, ff=1_415, lut=1_585)  # of a 512-bit one
BRAM_WORDS, BRAM_BITS = 512, 36
SHIFT_DEPTH = 32  # cycles that one LUT delays one bit
STATE_BITS = 200  # counters, addresses and states of the column and beat loops


def bottom_up(config: Config) -> tuple[Part, ...]:
    """Return the parts of one omega pipeline."""
    lanes, memory = config.lanes, config.memory
    operators = tuple(
        Part(TITLES[name], "DSP" if name == "imul" else "Instance", lanes * PER_LANE[name], _operator(config, name))
        for name in PER_LANE
    )
    shared = (
        Part("delay lines of a lane", "Register", lanes, _delays(config)),
        Part("running maximum of a lane", "Register", lanes * config.positions_in_flight, Amount(ff=2 * WORD_BITS)),
        Part("choice of the maximum", "Multiplexer", lanes, Amount(lut=2 * WORD_BITS)),
        Part("C(k, 2) of a column", "DSP", 1, _operator(config, "imul")),
        Part("counters and addresses", "Expression", 1, Amount(lut=STATE_BITS * 2)),
        Part("state machine", "Register", 1, Amount(ff=STATE_BITS)),
        Part(f"AXI port, {memory.port_bits} bit", "Instance", memory.ports, _adapter(memory.port_bits)),
        Part("AXI port of LS and results", "Instance", 1, ADAPTER),
        Part(f"FIFO, {memory.fifo_beats} x {memory.port_bits} bit", "FIFO", memory.ports, _fifo(config)),
    )
    return operators + shared + _rs_buffer(config)


def _operator(config: Config, name: str) -> Amount:
    """An operator at its latency: registers in proportion to its stages, logic as in the table but placed."""
    latency, amount = OPERATORS[name]
    registers = round(amount.ff * getattr(config.latencies, name) / latency)
    return Amount(dsp=amount.dsp, ff=registers, lut=round(amount.lut * PLACED))


def _delays(config: Config) -> Amount:
    """What holds values until their partners are there, as shift registers in LUTs behind one register each."""
    op = config.latencies
    divided = max(op.fadd, op.imul + op.iadd + op.i2f)  # when LS + RS meets its divisor
    crossed = max(2 * op.fsub, op.imul + op.i2f)  # when TS - LS - RS meets its divisor
    waits = (
        op.fsub,  # RS, for the second subtraction
        divided - op.fadd,
        divided - op.imul - op.iadd - op.i2f,
        crossed - 2 * op.fsub,
        crossed - op.imul - op.i2f,
        abs(op.denominator_ready - op.numerator_ready),
        op.depth,  # the index of the beat
    )
    held = [cycles for cycles in waits if cycles]
    return Amount(ff=WORD_BITS * len(held), lut=sum(WORD_BITS * -(-(cycles - 1) // SHIFT_DEPTH) for cycles in held))


def _adapter(bits: int) -> Amount:
    """An AXI port: its buffers for reading and writing, and logic on the line through a narrow and a wide one."""
    wider = (bits - WORD_BITS) / (WIDE_BITS - WORD_BITS)
    brams = max(ADAPTER.bram18k, 2 * -(-bits // BRAM_BITS))
    more = WIDE_ADAPTER - ADAPTER
    return Amount(bram18k=brams, ff=ADAPTER.ff + round(wider * more.ff), lut=ADAPTER.lut + round(wider * more.lut))


def _fifo(config: Config) -> Amount:
    memory = config.memory
    blocks = -(-memory.port_bits // BRAM_BITS) * -(-memory.fifo_beats // BRAM_WORDS)
    return Amount(bram18k=blocks, ff=memory.port_bits, lut=memory.port_bits // 2)


def _rs_buffer(config: Config) -> tuple[Part, ...]:
    """The RS buffer, a bank for each lane."""
    if config.rs_prefetch == "none":
        return ()
    depth = -(-config.rs_buffer_words // config.lanes)
    bank = Amount(bram18k=-(-depth // BRAM_WORDS), ff=WORD_BITS, lut=WORD_BITS // 4)
    return (Part(f"RS buffer, bank of {depth:,} words", "Memory", config.lanes * config.positions_in_flight, bank),)
