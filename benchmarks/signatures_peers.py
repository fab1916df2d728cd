"""Programs that find patterns in sequences, compared with ours: what they find, and how long they take.

`seqkit -d` takes N of a pattern as A, C, G or T. `classes` are regular expressions written by hand, in which A is
[AN] and N is [ACGTN]; seqkit and Python's `re` get these. `fuzznuc` takes N of a pattern as any letter.
"""

from __future__ import annotations

import shutil
import statistics
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure import run_process, run_times

from oclgenomics.io.cores import usable_cores
from oclgenomics.runtime import Engine
from oclgenomics.sequence.records import read_records
from oclgenomics.signatures import ScanOptions, ScanResult, scan

__all__ = ["compare"]

Pairs = set[tuple[str, str]]

# Compiles every pattern, then looks in every sample; the files of patterns have a line of name and pattern.
PYTHON = """
import re, sys
patterns = [line.split() for line in open(sys.argv[1])]
compiled = [(name, re.compile(pattern)) for name, pattern in patterns]
with open(sys.argv[2]) as samples, open(sys.argv[3], "w") as out:
    for header in samples:
        sequence = next(samples)
        for name, pattern in compiled:
            if pattern.search(sequence):
                print(header[1:].split()[0], name, sep="\\t", file=out)
        next(samples), next(samples)
"""


@dataclass(frozen=True)
class Peer:
    """A program's command, and how its output is read."""

    command: list[str]
    output: Path
    pairs: Callable[[Path], Pairs]


def own_peer(samples: Path, signatures: Path, device: str, folder: Path) -> Peer:
    """This package, as a process."""
    output = folder / "own.txt"
    command = [sys.executable, "-m", "oclgenomics", "signatures", "scan", str(samples), str(signatures)]
    return Peer([*command, "--format", "course", "-d", device, "-o", str(output), "-q"], output, _course_pairs)


def peers(samples: Path, signatures: Path, folder: Path) -> Iterator[tuple[str, Peer]]:
    """Those of the programs that are on PATH, with the inputs that they need."""
    known = {record.name: bytes(record.letters).decode() for record in read_records(str(signatures))}
    classes = {name: "".join("[ACGTN]" if c == "N" else f"[{c}N]" for c in letters) for name, letters in known.items()}
    expressions, lines = folder / "classes.fasta", folder / "classes.txt"
    expressions.write_text("".join(f">{name}\n{pattern}\n" for name, pattern in classes.items()))
    lines.write_text("".join(f"{name}\t{pattern}\n" for name, pattern in classes.items()))
    if seqkit := shutil.which("seqkit"):
        common = [seqkit, "locate", "-P", "--bed", "-j", str(usable_cores()), str(samples)]
        for name, flags in (("seqkit -d", ["-d", "-f", str(signatures)]), ("classes", ["-r", "-f", str(expressions)])):
            output = folder / f"seqkit{flags[0]}.bed"
            shown = name if name.startswith("seqkit") else "seqkit -r, classes"
            yield shown, Peer([*common, *flags, "-o", str(output)], output, _bed_pairs)
    if fuzznuc := shutil.which("fuzznuc"):
        plain, output = folder / "plain.fasta", folder / "fuzznuc.gff"
        plain.write_bytes(b"".join(_as_fasta(samples)))
        command = [fuzznuc, "-sequence", f"fasta::{plain}", "-pattern", f"@{signatures}", "-rformat", "gff"]
        yield "fuzznuc", Peer([*command, "-outfile", str(output)], output, _gff_pairs)
    output = folder / "re.txt"
    yield (
        "Python re, classes",
        Peer([sys.executable, "-S", "-c", PYTHON, str(lines), str(samples), str(output)], output, _tabbed_pairs),
    )


def _as_fasta(samples: Path) -> Iterator[bytes]:
    with samples.open("rb") as stream:
        for header in stream:
            yield b">" + header[1:] + next(stream)
            next(stream)
            next(stream)


def _course_pairs(path: Path) -> Pairs:
    found = set()
    for line in path.read_text().splitlines():
        sample, _, rest = line.partition(": ")
        found.add((sample, rest.split()[0]))
    return found


def _bed_pairs(path: Path) -> Pairs:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {(row[0], row[3]) for row in rows}


def _tabbed_pairs(path: Path) -> Pairs:
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {(row[0], row[1]) for row in rows}


def _gff_pairs(path: Path) -> Pairs:
    """The pattern's name is an attribute, "note *pat NAME: LETTERS"."""
    rows = [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {(row[0], row[8].split("*pat ")[1].split(":")[0]) for row in rows}


def named_pairs(found: ScanResult) -> Pairs:
    """The names of samples and signatures that match."""
    columns = found.columns()
    return set(zip(columns["sample"].tolist(), columns["signature"].tolist(), strict=True))


def warm_seconds(engine: Engine, samples: Path, signatures: Path, truth: Pairs, repeat: int) -> float:
    """Median seconds of `scan()` after a first one, which has to find the truth."""
    if named_pairs(scan(samples, signatures, engine=engine)) != truth:
        raise SystemExit(f"{samples.name}: other pairs than brute force finds")
    return statistics.median(run_times(repeat, lambda: scan(samples, signatures, engine=engine)))


def compare(
    name: str, samples: Path, signatures: Path, engine: Engine, folder: Path, repeat: int
) -> list[dict[str, Any]]:
    """Run all programs in turn, some times, and compare the pairs of a sample and a signature that they find.

    Parameters
    ----------
    name : str
        Of the set.
    samples, signatures : Path
        FASTQ of four lines a record, and FASTA.
    engine : Engine
        For brute force, which tells what is right, and for `scan()` within this process.
    folder : Path
        For inputs and outputs of the programs.
    repeat : int

    Returns
    -------
    list of dict
        A row for each program, and one for `scan()`.
    """
    truth = named_pairs(scan(samples, signatures, ScanOptions(method="brute"), engine=engine))
    warm = warm_seconds(engine, samples, signatures, truth, repeat)
    programs = {"oclgenomics": own_peer(samples, signatures, str(engine.device.index), folder)}
    programs |= dict(peers(samples, signatures, folder))
    seconds: dict[str, list[float]] = {program: [] for program in programs}
    peaks = dict.fromkeys(programs, 0.0)
    for _ in range(repeat):
        for program, peer in programs.items():
            peer.output.unlink(missing_ok=True)
            run = run_process(peer.command, 1, folder=folder)
            seconds[program].append(run["best"])
            peaks[program] = max(peaks[program], run["peak_mb"])
    own = statistics.median(seconds["oclgenomics"])
    inside: dict[str, Any] = {"set": name, "program": "oclgenomics, scan()", "found": len(truth), "truth": len(truth)}
    rows = [{**inside, "wrong": 0, "median s": warm, "least s": warm, "times ours": warm / own, "peak MB": "-"}]
    for program, peer in programs.items():
        found, median = peer.pairs(peer.output), statistics.median(seconds[program])
        row: dict[str, Any] = {"set": name, "program": program, "found": len(found & truth), "truth": len(truth)}
        row |= {"wrong": len(found - truth), "median s": median, "least s": min(seconds[program])}
        rows.append({**row, "times ours": median / own, "peak MB": peaks[program]})
    return rows
