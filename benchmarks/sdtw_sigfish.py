"""sigfish compared with ours: times, and where the programs place reads."""

from __future__ import annotations

import argparse
import resource
import subprocess
import time
from functools import partial
from pathlib import Path
from typing import Any

from sdtw_data import MODEL
from sdtw_peer_runs import peer_row, read_prefixes, timed

from oclgenomics.io.cores import usable_cores
from oclgenomics.runtime import Engine
from oclgenomics.sdtw.device.aligner import Aligner
from oclgenomics.sdtw.squiggles.build import build_squiggle
from oclgenomics.sdtw.squiggles.squiggle import STRANDS
from oclgenomics.signals import read_model

__all__ = ["compare_sigfish"]

NEAR = 100  # bp


def run_sigfish(args: argparse.Namespace) -> tuple[list[list[str]], float, float]:
    """Lines of its PAF, seconds and processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    command = [args.sigfish, "dtw", "-t", str(usable_cores()), args.reference, args.blow5]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [line.split("\t") for line in run.stdout.splitlines()], seconds, used


def compare_sigfish(args: argparse.Namespace, engine: Engine) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """sigfish and ours, in turn: times, and where they place reads."""
    lines, *_ = run_sigfish(args)
    used = sum(int(line[3]) - int(line[2]) for line in lines)
    prefix = round(used / len(lines))
    names, reads = read_prefixes(args.blow5, prefix, None)
    squiggle = build_squiggle(args.reference, read_model(MODEL))
    aligner = Aligner(engine, [squiggle])
    aligner.align(reads.samples, reads.first, prefix)
    theirs, ours = [], []
    for _ in range(args.repeat):
        lines, *times = run_sigfish(args)
        theirs.append((times[0], times[1]))
        found, *own = timed(partial(aligner.align, reads.samples, reads.first, prefix))
        ours.append((own[0], own[1]))
    rows = [peer_row("sigfish, a process", len(lines), used, len(squiggle), theirs)]
    rows.append(peer_row("ours, default", len(reads), len(reads) * prefix, len(squiggle), ours))
    at = squiggle.places(found.column[:, 0])
    places = {name: (STRANDS[s], int(p)) for name, s, p in zip(names, at.strand, at.position, strict=True)}
    return rows, placed(args.truth, lines, places) if args.truth else []


def placed(truth: str, lines: list[list[str]], places: dict[str, tuple[str, int]]) -> list[dict[str, Any]]:
    """Where reads are by their bases, by sigfish and by ours; right ones."""
    theirs = {line[0]: line for line in lines}
    rows = []
    for line in Path(truth).read_text().splitlines():
        name, strand, begin, end = (line.split("\t")[at] for at in (0, 4, 7, 8))
        shown: dict[str, Any] = {"read": name, "truth": f"{strand} {begin} to {end}"}
        if other := theirs.get(name):
            shown["sigfish"] = f"{other[4]} {other[7]} to {other[8]}"
            shown["right"] = other[4] == strand and near((int(other[7]), int(other[8])), (int(begin), int(end)))
        if own := places.get(name):
            shown["ours end at"] = f"{own[0]} {own[1]}"
            shown["right, ours"] = own[0] == strand and near((own[1], own[1]), (int(begin), int(end)))
        rows.append(shown)
    return rows


def near(place: tuple[int, int], truth: tuple[int, int]) -> bool:
    """Whether a place overlaps another, or is not far."""
    return place[0] <= truth[1] + NEAR and truth[0] <= place[1] + NEAR
