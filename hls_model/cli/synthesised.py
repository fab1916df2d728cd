"""Yosys' figures beside those of `resources`, and their comparison with a synthesis that is made now."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date

from hls_model.boards import KINDS, Amount
from hls_model.cli import common
from hls_model.cli.tables import table
from hls_model.config import Config
from hls_model.errors import ModelError
from hls_model.resources import Resources, estimate
from hls_model.resources.synthesis import compare, differences
from hls_model.rtl import yosys

__all__ = ["record", "run", "text"]

DIFFERS = 1
HEADS = tuple(kind.upper() for kind in KINDS)


def text(resources: Resources) -> str:
    """Return the design by both methods, a lane's parts by both, and why they differ; or why there are no figures."""
    config = resources.config
    made, _ = yosys.read_figures()
    try:
        other = _synthesised(config)
    except ModelError as error:
        return f"Yosys: no figures for this design ({error})"
    pipelines = estimate(config.but(kernels=1), resources.method, pipelines_only=True).total
    rows = [(resources.method, *_cells(pipelines)), ("yosys", *_cells(other.total))]
    rows += [(f"  {part.name}", *_cells(part.total)) for part in other.parts]
    head = f"The pipelines of one kernel: the Verilog by synthesis, without AXI adapters ({made})"
    blocks = [head, table(("method", *HEADS), rows)]
    if parts := compare(config):
        lines = [
            (f"{each.count} x {each.name}", *(f"{getattr(each.bottom_up, k):,}" for k in SHOWN), *_shown(each.yosys))
            for each in parts
        ]
        heads = (
            "of a lane",
            *(f"{kind.upper()}, bottom-up" for kind in SHOWN),
            *(f"{k.upper()}, yosys" for k in SHOWN),
        )
        blocks += [table(heads, lines), "\n".join(f"- {sentence}" for sentence in differences(config))]
    return "\n\n".join(blocks)


SHOWN = ("lut", "ff", "dsp")


def _synthesised(config: Config) -> Resources:
    return estimate(config.but(kernels=1), "yosys", pipelines_only=True)


def _shown(amount: Amount) -> tuple[str, ...]:
    return tuple(f"{getattr(amount, kind):,}" for kind in SHOWN)


def _cells(amount: Amount) -> tuple[str, ...]:
    return tuple(f"{getattr(amount, kind):,}" for kind in KINDS)


def record(resources: Resources) -> dict[str, object]:
    """Return the same for JSON."""
    config = resources.config
    made, _ = yosys.read_figures()
    try:
        other = _synthesised(config)
    except ModelError as error:
        return {"made": made, "missing": str(error)}
    lane = [
        {"name": each.name, "count": each.count, "bottom-up": vars(each.bottom_up), "yosys": vars(each.yosys)}
        for each in compare(config)
    ]
    parts = [{"name": part.name, "count": part.count, **vars(part.total)} for part in other.parts]
    return {
        "made": made,
        "total": vars(other.total),
        "share": other.shares,
        "parts": parts,
        "lane": lane,
        "differences": differences(config),
    }


def run(args: argparse.Namespace) -> int:
    """Synthesise all that has a figure; compare with the figures, or with --update keep the new ones."""
    made, kept = yosys.read_figures()
    now = [yosys.rerun(one) for one in kept]
    installed = f"{yosys.version()}, {date.today():%Y-%m-%d}; {yosys.SYNTHESIS}"
    differ = [name(old) for old, new in zip(kept, now, strict=True) if old != new]
    if args.update:
        yosys.write_figures(installed, now)
    summary = f"{len(kept)} parts synthesised, {len(differ)} differ from the figures kept"
    lines = [f"kept: {made}", f"now:  {installed}", "", _table(kept, now), "", summary]
    data = {"kept": made, "now": installed, "differ": differ, "parts": [vars(one) for one in now]}
    common.write(args, "\n".join(lines), data)
    if differ and not args.update:
        print(f"hls_model: {summary}: {'; '.join(differ)}", file=sys.stderr)
        return DIFFERS
    return 0


def name(one: yosys.Synthesis) -> str:
    """Return a name for a row."""
    return " ".join(filter(None, (one.top, one.parameters, one.without and f"without {one.without}")))


def _table(kept: Sequence[yosys.Synthesis], now: Sequence[yosys.Synthesis]) -> str:
    rows = [
        (name(old), *(str(new) if old == new else f"{old} -> {new}" for old, new in zip(*pair, strict=True)))
        for old, pair in (
            (one, (_cells(one.amount), _cells(other.amount))) for one, other in zip(kept, now, strict=True)
        )
    ]
    return table(("part", *HEADS), rows)
