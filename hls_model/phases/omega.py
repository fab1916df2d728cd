"""The omegas: starts of the kernels, the pipelines, what software and the link do beside them, and the results."""

from __future__ import annotations

from hls_model.config import WORD_BITS
from hls_model.phases.assumed import RESULT_BYTES, host_of
from hls_model.phases.blocks import PIPELINES
from hls_model.phases.memory import HOST_LINK, link_seconds
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.timing import Timing

__all__ = ["launch_phase", "omega_phases", "result_phase"]

WORD = WORD_BITS // 8


def launch_phase(timing: Timing, engines: int) -> Phase:
    """Return the starts of the pipelines, and of so many other engines once."""
    config = timing.config
    positions = int((timing.position_cycles > 0).sum())
    each = config.launch == "per_position" and not config.position_overhead_us
    starts = engines + (positions if each else min(positions, 1))
    said = (
        "at every grid position"
        if each
        else "once; what a position costs is position_overhead_us"
        if config.position_overhead_us
        else "once, with the list of positions in the card's memory"
    )
    return Phase(
        "start kernels", "host", config.hardware.launch_us.times(1e-6 * starts), 0, starts, "starts",
        (
            "Microseconds of a start are the board's (hls_model.boards).",
            f"The pipelines are started {said}; the paper counts no starts.",
        ),
    )  # fmt: skip


def omega_phases(timing: Timing, pipelines: Range) -> tuple[Phase, ...]:
    """Return the pipelines, whose seconds are given, and what runs beside or after them."""
    found = [
        Phase(
            PIPELINES, "card", pipelines, 0, timing.hardware_omegas, "omegas",
            (f"Cycles of the model at level {timing.level}, which the Verilog confirms (fpga validate).",),
        ),
        *_m_sent(timing),
        *_remainder(timing),
    ]  # fmt: skip
    return tuple(found)


def _m_sent(timing: Timing) -> list[Phase]:
    config = timing.config
    if not timing.transfer_bytes:
        return []
    what = "every position's block" if config.host_transfer == "full" else "each element of M once"
    positions = int((timing.workload.left * timing.workload.right > 0).sum())
    return [
        Phase(
            "send M", "link", link_seconds(config, timing.transfer_bytes, positions), timing.transfer_bytes, 0, "",
            (f"Over the link goes {what}, in a transfer for each position.", HOST_LINK),
            PIPELINES if config.host_overlap else None,
        )
    ]  # fmt: skip


def _remainder(timing: Timing) -> list[Phase]:
    """Software's omegas; where M is built on the card, their elements have to be fetched first."""
    config, omegas = timing.config, timing.software_omegas
    if not omegas:
        return []
    said = "its rate is software_rate, by default the paper's CPU in Table III"
    if host_of(config.hardware).embedded:
        said += ", and the processor on this board is slower (set software_rate)"
    software = Phase(
        "remainder", "host", Range.exactly(timing.software_seconds), 0, omegas, "omegas",
        (f"One core computes what is left of right sides after a division by the unroll; {said}.",),
        PIPELINES if config.software_overlap else None,
    )  # fmt: skip
    if config.host_transfer != "none":
        return [software]
    moved = WORD * omegas
    fetched = Phase(
        "fetch remainder of M", "link", link_seconds(config, moved), moved, 0, "",
        ("Software needs an element of M for each of its omegas, and M is on the card; the paper does not count it.",
         HOST_LINK),
        PIPELINES if config.host_overlap else None,
    )  # fmt: skip
    return [fetched, software]


def result_phase(timing: Timing) -> Phase:
    """Return the way of the maxima and their places back to the host, after the last position."""
    moved = RESULT_BYTES * int((timing.position_cycles > 0).sum())
    return Phase(
        "fetch results", "link", link_seconds(timing.config, moved), moved, 0, "",
        ("A maximum and its two places for each position, in one transfer at the end; writing them on the card takes "
         "no time of its own.", HOST_LINK),
    )  # fmt: skip
