"""`roofline`: what lanes, ports, banks and host link allow, and what the design reaches."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from hls_model.ranges import Range
from hls_model.records import record_of
from hls_model.text import percent, range_text
from oclgenomics.fpga import plots
from oclgenomics.fpga.commands import common
from oclgenomics.fpga.commands.common import table
from oclgenomics.lazy_names import late

if TYPE_CHECKING:
    from hls_model.roofline import Roofline

clock = late("hls_model.clock")
roofline_model = late("hls_model.roofline")
uncertainty = late("hls_model.uncertainty")


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = common.add_command(subparsers, "roofline", run)
    common.add_shared_options(parser, "workload level design uncertainty")


def run(args: argparse.Namespace) -> int:
    """Run the command."""
    config, scan = common.fitting_design(args), common.workload(args)
    if args.uncertainty:
        bounds = uncertainty.built_band(scan, config, args.level)
        found, reached = roofline_model.roofline_of(bounds.likely), roofline_model.rate_range(bounds)
    else:
        found = roofline_model.roofline(scan, config, args.level)
        reached = Range.exactly(found.rate)
    record = _record(found) | {"range": reached.record() if args.uncertainty else None}
    return common.write(args, _text(found, reached), record, lambda: plots.plot_roofline(found, reached))


def _text(found: Roofline, reached: Range) -> str:
    config = found.timing.config
    limits = {name: f"{value:.1f} GB/s" for name, value in _limits(found).items()}
    limits["lanes"] = f"{config.kernels} x " * (config.kernels > 1) + f"{config.lanes} x {config.clock_mhz:.4g} MHz"
    limits["lanes"] += f" / {config.ii}" * (config.ii > 1)
    rows = [
        (name, limits[name], f"{rate / 1e6:,.0f}", "lowest" if name == found.binding else "")
        for name, rate in found.roofs.items()
    ]
    text = f"{found.timing.workload.name} on {config.name}: {found.bytes_per_omega:.2f} bytes of memory"
    text += f" and {found.host_bytes_per_omega:.2f} over the host link for each omega\n\n"
    text += table(("roof", "limit", "M omega/s", ""), rows)
    rate = range_text(reached.times(1e-6), "M omega/s")
    text += f"\n\nreached: {rate}, {percent(found.share, 1)} of the lowest roof"
    return f"{text}\n{clock.clock_text(config)}"


def _limits(found: Roofline) -> dict[str, float]:
    """GB/s of ports, banks and host link."""
    config = found.timing.config
    return {
        "ports": roofline_model.ports_gbps(config),
        "banks": roofline_model.roof_gbps(config),
        "host link": config.host_rate.likely,
    }


def _record(found: Roofline) -> dict[str, object]:
    return {
        **record_of(found.timing, "design=config.name workload=workload.name"),
        **clock.clock_record(found.timing.config),
        **record_of(found, "level=timing.level bytes_per_omega host_bytes_per_omega roofs_omega_per_s=roofs"),
        "limits_gb_per_s": {name: value for name, value in _limits(found).items() if name in found.roofs},
        **record_of(found, "binding omega_per_s=rate share"),
    }
