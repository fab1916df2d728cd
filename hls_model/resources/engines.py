"""What the card holds beside the omega pipelines: the LD engine, the adders of M, and what lays out its columns.

Every part counts what this model's engines need; no vendor's report stands behind them.
"""

from __future__ import annotations

from hls_model.boards import Amount
from hls_model.config import WORD_BITS, Config
from hls_model.resources.ld import ld_parts
from hls_model.resources.parts import OPERATORS, PLACED, Part

__all__ = ["SHIFTER_INPUTS", "engine_parts", "shifter_stages"]

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
