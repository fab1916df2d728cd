"""`oclgenomics classify evaluate`: how well reads were classified, by this program or another one."""

from __future__ import annotations

import argparse
import os
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from oclgenomics import classify
from oclgenomics.app.commands import (
    add_command,
    add_output_options,
    count,
    provenance,
    started_progress,
    text_output,
    whole,
)
from oclgenomics.app.files import reads, writes
from oclgenomics.app.reports import MISSING
from oclgenomics.classify import plots, taxonomy
from oclgenomics.classify.commands.reference_options import reads_taxonomy
from oclgenomics.classify.options import RANKS
from oclgenomics.errors import UsageError
from oclgenomics.io.json_text import json_text

if TYPE_CHECKING:
    from oclgenomics.classify.taxonomy.evaluation import Evaluation, Truth
    from oclgenomics.classify.taxonomy.tree import Taxonomy


DEFAULT_RANKS = ("species", "genus")
_HEADINGS = (
    "result", "rank", "precision", "sensitivity", "F1", "F1 95 %", "correct", "wrong", "missed", "false", "rejected",
    "classified", "aliens",
)  # fmt: skip


def add_parser(actions: Any) -> None:
    """Add `evaluate` to the actions of `classify`."""
    parser = add_command(
        actions, run, "evaluate", "precision and sensitivity of classified reads, ours or another tool's",
        "Compare what reads were called with what they are of. Reads of species that the database does not hold (class "
        "novel) do not count for the sensitivity at the rank of species; they lower the precision when they are called "
        "some species. Reads that the result leaves out count as not classified.",
    )  # fmt: skip
    said = "lines of Kraken, MetaCache's or ours with taxids, or the table of --format tsv"
    reads(parser.add_argument("results", nargs="+", metavar="RESULT", help=said))
    group = parser.add_argument_group("truth")
    said = "name, taxids of species and genus, and class (reference, strain, novel or alien) of each read"
    reads(group.add_argument("--truth", required=True, metavar="TSV", help=said))
    reads_taxonomy(group.add_argument("--taxonomy", required=True, metavar="DIR", help="folder with nodes.dmp"))
    group = parser.add_argument_group("measures")
    group.add_argument(
        "--ranks", nargs="+", type=_rank, default=list(DEFAULT_RANKS), metavar="RANK",
        help="ranks (default: species genus)",
    )  # fmt: skip
    group.add_argument(
        "--bootstrap", type=count, default=1000, metavar="N",
        help="rounds of the bootstrap for intervals; 0 for none (default: %(default)s)",
    )  # fmt: skip
    group.add_argument("--seed", type=whole, default=1, metavar="N", help="seed of the bootstrap (default: 1)")
    plot = parser.add_argument("--plot", metavar="FILE", help="draw precision and sensitivity; .png, .svg or .pdf")
    writes(plot)
    curve = parser.add_argument_group(
        "thresholds of confidence", "Of one result of --format tsv: what `query --confidence` gives for all shares."
    )
    said = "draw precision, sensitivity and F1 over the threshold; .png, .svg or .pdf"
    writes(curve.add_argument("--curve", metavar="FILE", help=said))
    writes(curve.add_argument("--curve-table", metavar="TSV", help="write them as a table"))
    add_output_options(parser)


def _rank(text: str) -> str:
    if text not in RANKS[1:]:
        raise argparse.ArgumentTypeError(f"choose some of {', '.join(RANKS[1:])}")
    return text


def run(args: argparse.Namespace) -> int:
    """Evaluate results.

    Raises
    ------
    UsageError, InputError, OutputError
        See the exit codes of `oclgenomics.errors`.
    """
    for figure in filter(None, (args.plot, args.curve)):
        plots.plot_format(figure)
    curves = bool(args.curve or args.curve_table)
    if curves and len(args.results) > 1:
        raise UsageError("--curve and --curve-table are about one result; evaluate the others by themselves")
    truth, tree = classify.read_truth(args.truth), taxonomy.read_taxonomy(args.taxonomy)
    progress = started_progress(args, "evaluating", "results", 1)
    found: list[Evaluation] = []
    for result in args.results:
        progress.update(len(found), len(args.results))
        calls = classify.read_calls(result)
        found.append(classify.evaluate(truth, calls, tree, args.ranks, rounds=args.bootstrap, seed=args.seed))
    progress.clear()
    if curves:
        _write_curves(args, truth, tree)
    text = _json(args, found) if args.json else _table(args.results, found)
    with text_output(args.output) as stream:
        stream.write(text)
    if args.plot:
        results = list(zip(map(os.path.basename, args.results), found, strict=True))
        plots.write_figure(args.plot, plots.plot_accuracy(results, title=os.path.basename(args.truth)))
    return 0


def _write_curves(args: argparse.Namespace, truth: Truth, tree: Taxonomy) -> None:
    """Write what becomes of the measures of a result at each threshold."""
    result = args.results[0]
    calls, confidences = classify.read_calls(result), classify.read_confidences(result)
    curves = classify.threshold_curves(truth, calls, confidences, tree, args.ranks)
    if args.curve:
        title = f"{os.path.basename(result)}, {len(truth):,} reads"
        plots.write_figure(args.curve, plots.plot_thresholds(curves, title=title))
    if args.curve_table:
        rows = ["rank\tconfidence\tcalled\tprecision\tsensitivity\tF1\n"]
        for curve in curves:
            columns = (curve.thresholds, curve.called, curve.precision, curve.sensitivity, curve.f1)
            for at, called, *shares in zip(*(column.tolist() for column in columns), strict=True):
                shown = "\t".join(f"{share:.4f}" for share in shares)
                rows.append(f"{curve.rank}\t{at:.2f}\t{called}\t{shown}\n")
        with text_output(args.curve_table) as stream:
            stream.write("".join(rows))


def _json(args: argparse.Namespace, found: list[Evaluation]) -> str:
    results = [{"result": name, **asdict(one)} for name, one in zip(args.results, found, strict=True)]
    return json_text({"results": results, "provenance": provenance(args, None)}, indent=1) + "\n"


def _table(names: list[str], found: list[Evaluation]) -> str:
    rows: list[tuple[str, ...]] = [_HEADINGS]
    for name, one in zip(names, found, strict=True):
        for at in one.ranks:
            bounds = MISSING if at.f1.low is None else f"{at.f1.low:.4f}-{at.f1.high:.4f}"
            shares = (f"{share.value:.4f}" for share in (at.precision, at.sensitivity, at.f1))
            counts = map(str, (*at.counts.values(), one.classified, f"{one.aliens_classified}/{one.aliens}"))
            rows.append((name, at.rank, *shares, bounds, *counts))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows)
    return "".join([f"{line}\n" for line in lines])
