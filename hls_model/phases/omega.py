"""The omegas: starts of the kernels, the pipelines, what software and the link do beside them, and the results."""

from __future__ import annotations

from hls_model.config import WORD_BITS, Config
from hls_model.paper.simulated import OVERHEAD_US
from hls_model.phases.assumed import RESULT_BYTES, host_of
from hls_model.phases.blocks import PIPELINES
from hls_model.phases.memory import HOST_LINK, link_seconds
from hls_model.phases.phase import Phase
from hls_model.ranges import Range
from hls_model.timing import Timing

__all__ = ["launch_phase", "omega_phases", "result_phase", "starts_each"]

WORD = WORD_BITS // 8


def starts_each(config: Config) -> bool:
    """Whether what a position costs outside the pipelines is the start of a kernel, and no figure of the design's."""
    return config.launch == "per_position" and not config.position_overhead_us


def launch_phase(timing: Timing, engines: int, stretches: int = 1) -> Phase:
    """Return the starts of the pipelines in each stretch of the scan, and so many of other engines."""
    config = timing.config
    positions = int((timing.position_cycles > 0).sum())
    starts = positions if starts_each(config) else min(positions, config.kernels * stretches)
    others = config.hardware.launch_us.times(1e-6 * engines)
    return Phase(
        "start kernels", "host", _starts(timing, starts, stretches) + others, 0, starts + engines, "starts",
        ("Microseconds of a start are the board's (hls_model.boards).", *_said(config)),
    )  # fmt: skip


def _starts(timing: Timing, starts: int, stretches: int) -> Range:
    """Seconds by which the starts of the pipelines make a scan longer, those of several kernels side by side."""
    start = timing.config.hardware.launch_us
    if not starts_each(timing.config):
        one = start.times(1e-6 * min(starts, stretches))
        return Range(one.low, one.likely, max(one.high, start.high * 1e-6 * starts))
    without = timing.seconds_with_overhead(0.0)
    position = Range(start.low, start.likely, max(start.high, OVERHEAD_US))
    return position.each(lambda microseconds: timing.seconds_with_overhead(microseconds) - without)


def _said(config: Config) -> tuple[str, ...]:
    """What is assumed of the starts of the pipelines."""
    if config.position_overhead_us:
        return ("The pipelines are started once; what a position costs is position_overhead_us.",)
    if config.launch == "per_scan":
        return (
            "The pipelines are started once, with the list of positions in the card's memory.",
            "Assumed: starts of several kernels go on side by side; at most: one after the other.",
        )
    return (
        "The pipelines are started at every grid position; the paper counts no starts.",
        f"At most: the {OVERHEAD_US:g} us a position that fit Table III of the paper (position_overhead_us), of which "
        "a start is a part; they count here, and not with the pipelines.",
        "Assumed: starts of several kernels go on side by side; with several positions in flight, what runs beside "
        "the columns of another position is left out.",
    )


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
