"""`memory`: what the DRAM of a board gives by the level-2 model: latency, and bandwidth by burst and stride."""

from __future__ import annotations

import argparse
import dataclasses
from typing import TYPE_CHECKING

from hls_model.choices import BURSTS, STRIDES
from hls_model.config import Config
from hls_model.dram_parts import PARTS, Part, find_part
from hls_model.errors import ModelError
from hls_model.text import percent
from oclgenomics.app.commands import count
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import table
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.extras.dram.bench import Bandwidth

bench = late("hls_model.extras.dram.bench")
limits = late("hls_model.limits")
memory_model = late("hls_model.extras.dram.memory")

BY_BOARD = {"zcu102": "ddr4_2133", "u200": "ddr4_2400", "u250": "ddr4_2400", "u280": "hbm2"}


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(subparsers, "memory", run)
    parser.add_argument("--burst", type=count, metavar="BYTES", help=f"bytes of a burst (default: {_listed(BURSTS)})")
    parser.add_argument(
        "--stride", type=count, metavar="BYTES", help=f"bytes from burst to burst (default: {_listed(STRIDES)})"
    )
    common.add_shared_options(parser, "design", plot="")


def part_of(config: Config) -> Part:
    """Return the DRAM of a design: `memory.dram`, or where that is none, what its board has.

    Raises
    ------
    ModelError
        A board of which no DRAM is known.
    """
    if config.memory.dram != "none":
        return find_part(config.memory.dram)
    if config.board not in BY_BOARD:
        raise ModelError(
            f"the DRAM of {config.board} is not known; choose one by --set memory.dram={next(iter(PARTS))}"
        )
    return find_part(BY_BOARD[config.board])


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    config = common.fitting_design(args)
    part = part_of(config)
    config = config.but(memory=dataclasses.replace(config.memory, dram=part.name))
    limits.check_possible(config)
    bursts = BURSTS if args.burst is None else (args.burst,)
    strides = STRIDES if args.stride is None else (args.stride,)
    found = bench.sweep(part, bursts, strides)
    if not found:
        raise ModelError(f"--stride {strides[0]} is less than every burst; it has to be at least {min(bursts)} bytes")
    longest = config.memory.burst_length * config.memory.port_bits // 8
    own = bench.bandwidth(part, longest, longest)
    ports = bench.in_step(config)
    return common.write(args, _text(config, part, found, own, ports), _record(config, part, found, own, ports))


def _text(config: Config, part: Part, found: list[Bandwidth], own: Bandwidth, reached: tuple[float, float]) -> str:
    split = memory_model.shares(config)
    text = f"{part.name} behind {config.name}: a channel has {part.peak_gbps:.4g} GB/s at its peak\n\n"
    rows = [
        (state, f"{bench.idle_ns(part, state):.1f} ns", f"{bench.idle_ns(part, state) + split.path_ns:.1f} ns")
        for state in bench.STATES
    ]
    text += table(("idle read", "DRAM", "with the path"), rows)
    text += (
        f"\nof a latency of {config.latency} cycles, {split.path_ns:.1f} ns are the path and {split.dram_ns:.1f} ns "
    )
    text += "the DRAM with the wait for its clock\n\n"
    measured = [
        (f"{one.burst:,}", f"{one.stride:,}", f"{one.gbps:.2f}", percent(one.share, 1), percent(one.hits, 1))
        for one in found
    ]
    text += table(("burst, bytes", "stride", "GB/s", "of the peak", "row hits"), measured)
    gbps, roof = reached
    memory = config.memory
    ports = "1 port" if memory.ports == 1 else f"{memory.ports} ports in step"
    text += f"\n\n{ports}, {memory.outstanding} requests under way: "
    text += f"{gbps:.1f} GB/s, {percent(gbps / roof, 1)} of the {roof:.1f} GB/s that ports and channels allow"
    return f"{text}\n{_compared(config, own)}"


def _compared(config: Config, own: Bandwidth) -> str:
    """Say what the DRAM explains of the bandwidth that the other levels take."""
    peak = config.memory.bank_gbps
    taken = config.efficiency * peak
    text = (
        f"sequential bursts of {own.burst:,} bytes reach {own.gbps:.2f} GB/s of a channel, {percent(own.share, 1)} of "
        f"its peak; level L1 takes {taken:.2f} GB/s, {percent(config.efficiency)} of {peak:g}"
    )
    if taken >= own.gbps:
        return f"{text}, more than the DRAM gives"
    return f"{text}: the {own.gbps - taken:.2f} GB/s between are lost elsewhere, and this model does not explain them"


def _record(
    config: Config, part: Part, found: list[Bandwidth], own: Bandwidth, reached: tuple[float, float]
) -> dict[str, object]:
    return {
        "design": config.name,
        "dram": part.name,
        "peak_gb_per_s": part.peak_gbps,
        "idle_ns": {state: bench.idle_ns(part, state) for state in bench.STATES},
        "shares_ns": dataclasses.asdict(memory_model.shares(config)),
        "bandwidth": [dataclasses.asdict(one) for one in found],
        "sequential": dataclasses.asdict(own),
        "ports_in_step": dict(zip(("gb_per_s", "roof_gb_per_s"), reached, strict=True)),
        "bank_gb_per_s": config.efficiency * config.memory.bank_gbps,
    }


def _listed(values: tuple[int, ...]) -> str:
    return ", ".join(f"{value:,}" for value in values)
