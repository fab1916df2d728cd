"""What the card holds besides the omega pipelines: the LD engine, the adders of M, and what lays out its columns.

Every part counts what this model's engines need; no vendor's report stands behind them.

A counter of population is a first level of LUT6 that take three pairs of bits each (AND and their sum, 2 bits), and a
tree of carry-chain adders, a LUT a bit. The population count of 6 bits in three LUT6, one level, is shown in J. Gray,
"Quick FPGA Hacks: Population count", https://fpga.org/2014/09/05/quick-fpga-hacks-population-count; that the AND takes
half of those inputs, a register behind each level, and LUT memory for the accumulators are assumed. Of a Verilog of
this tree for 64 bits with an accumulator of 24, Yosys 0.23 (`synth_xilinx -family xcup`) makes 114 LUT and 156 FF for
pairs and 93 and 113 for single words; the count here is 149 and 159, and 105 and 115.
"""

from __future__ import annotations

from hls_model.boards import Amount
from hls_model.config import WORD_BITS, Config
from hls_model.ld import COUNT_BITS, engine_of
from hls_model.resources.parts import OPERATORS, PLACED, Part

LUT_INPUTS = 6
LUT_MEMORY_BITS = 64  # of one LUT; a second one gives the other port
BRAM_BITS = 18_432
R2_OPERATORS = {"imul": 2, "i2f": 2, "fmul": 2, "fdiv": 1}  # products, to float32, square and spread, quotient
DIFFERENCE_BITS = 2 * COUNT_BITS


def popcount(bits: int, *, pairs: bool) -> Amount:
    """Return what counts the ones of a word, or with `pairs` those that two words share, in a pipeline."""
    taken = LUT_INPUTS // 2 if pairs else LUT_INPUTS
    numbers, width = -(-bits // taken), taken.bit_length()
    lut = ff = numbers * width
    while numbers > 1:  # two numbers become one that is a bit wider
        lut += numbers // 2 * (width + 1)
        numbers, width = -(-numbers // 2), width + 1
        ff += numbers * width
    return Amount(ff=ff, lut=lut)


def ld_parts(config: Config) -> tuple[Part, ...]:
    """Return the parts of the engine; none where LD is not computed on the card."""
    if config.ld != "card":
        return ()
    engine, bits = engine_of(config, 1), config.ld_word_bits
    accumulators = 2 * 2 * COUNT_BITS * -(-engine.rounds // LUT_MEMORY_BITS)  # two sets, two ports
    unit = popcount(bits, pairs=True) + Amount(ff=COUNT_BITS, lut=COUNT_BITS + accumulators)
    singles = -(-2 * engine.tile // engine.rounds)  # counters that keep up with the words that are loaded
    single = popcount(bits, pairs=False) + Amount(ff=COUNT_BITS, lut=COUNT_BITS)
    buffer = 2 * 2 * engine.tile * bits  # both sides, twice: one is loaded while the other is counted
    columns = -(-(engine.rows + engine.columns) * bits // 36)  # block RAMs side by side that give all words in a cycle
    words = Amount(bram18k=max(-(-buffer // BRAM_BITS), columns), ff=(engine.rows + engine.columns) * bits)
    r2 = Amount(ff=DIFFERENCE_BITS, lut=DIFFERENCE_BITS)  # the subtraction
    for name, count in R2_OPERATORS.items():
        amount = OPERATORS[name][1]
        r2 += Amount(amount.bram18k, amount.dsp, amount.ff, round(amount.lut * PLACED)).times(count)
    return (
        Part(f"LD unit, {bits} bit", "Instance", config.ld_units, unit),
        Part("LD counter of single SNPs", "Instance", singles, single),
        Part("LD words of a tile", "Memory", 1, words),
        Part("LD r2 pipeline", "Instance", config.ld_r2_units, r2),
        Part("LD control", "Expression", 1, Amount(ff=400, lut=800)),  # addresses and states; assumed
    )


SHIFTER_INPUTS = 4  # of a multiplexer that one LUT6 holds
CONTROL = Amount(ff=200, lut=400)  # counters, addresses and states of a small engine; assumed


def shifter_stages(config: Config) -> int:
    """Return the levels of multiplexers that shift a port beat by whole words; a register behind each."""
    stages, places = 0, 1
    while places < config.memory.words_per_beat:
        stages, places = stages + 1, places * SHIFTER_INPUTS
    return stages


def engine_parts(config: Config) -> tuple[Part, ...]:
    """Return the parts of a design that are no omega pipelines."""
    return ld_parts(config) + _matrix_parts(config) + _layout_parts(config)


def _matrix_parts(config: Config) -> tuple[Part, ...]:
    """Pairs of adders, and behind each the running sums of its columns; none where the host builds M."""
    if config.host_transfer != "none":
        return ()
    _, adder = OPERATORS["fadd"]
    placed = Amount(dsp=adder.dsp, ff=adder.ff, lut=round(adder.lut * PLACED))
    waits = Amount(ff=2 * WORD_BITS, lut=2 * WORD_BITS)  # a running sum and the element handed to the next column
    pairs = Part("adder pair of M", "Instance", config.matrix_adders, placed.times(2) + waits)
    return pairs, Part("control of M", "Expression", 1, CONTROL)


def _layout_parts(config: Config) -> tuple[Part, ...]:
    """One copier of columns for all kernels, or a shifter for each; neither where the host sends positions' blocks."""
    if config.host_transfer == "full":
        return ()
    bits = config.memory.words_per_beat * WORD_BITS
    if config.layout == "repacked":
        return (Part("copier of blocks", "Expression", 1, CONTROL + Amount(ff=bits, lut=bits)),)
    stages = shifter_stages(config)
    each = Amount(ff=bits * (stages + 1), lut=bits * (stages + 1))
    return (Part(f"shifter of {bits} bit", "Multiplexer", config.kernels, each),)
