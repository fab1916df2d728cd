"""Damaged results, truths and tables of genomes: read, or refused in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.fuzzing import SECONDS, inputs, limited

from oclgenomics.classify.formats.truth import read_calls, read_truth
from oclgenomics.errors import InputError
from oclgenomics.simulate.metagenomes.files import TABLE_COLUMNS, read_table

pytestmark = pytest.mark.fuzz

SAMPLES = {
    "kraken": b"".join(b"C\tr%d\t%d\t150\t0:1 %d:3\n" % (at, at + 1, at) for at in range(30)),
    "native": b"# TABLE_LAYOUT: query_header\t|\ttop_hits\t|\trank:taxname(taxid)\n"
    + b"".join(b"r%d/1\t|\t%d:3\t|\tspecies:A b(%d)\n" % (at, at, at + 1) for at in range(30)),
    "tsv": b"read\tlength\ttaxid\n" + b"".join(b"r%d\t150\t%d\n" % (at, at) for at in range(30)),
    "truth": b"# made\n" + b"".join(b"r%d\t%d\t%d\tstrain\n" % (at, at + 1, at // 5) for at in range(30)),
    "table": "\t".join(TABLE_COLUMNS).encode()
    + b"\n"
    + b"".join(b"references/g%d.fna\treference\tG%d.1\t%d\t7\t1000\n" % (at, at, at + 9) for at in range(30)),
}


def check_calls(path: Path) -> None:
    """Names and taxids are what they can be."""
    for name, taxid in read_calls(path).items():
        assert isinstance(name, str)
        assert 0 <= taxid < 10**10


def check_truth(path: Path) -> None:
    """All reads have all."""
    truth = read_truth(path)
    assert len(set(truth.names)) == len(truth.species) == len(truth.genus) == len(truth.classes)
    assert truth.species.min(initial=0) >= 0


def check_table(path: Path) -> None:
    """Rows have numbers that can be."""
    assert all(one.letters >= 0 for one in read_table(path.parent))


@pytest.mark.parametrize("name", SAMPLES)
def test_damaged(tmp_path: Path, name: str) -> None:
    checks: dict[str, Callable[[Path], None]] = {"truth": check_truth, "table": check_table}
    check, path, refused = checks.get(name, check_calls), tmp_path / "genomes.tsv", 0
    path.write_bytes(SAMPLES[name])
    check(path)
    for number, data in inputs(SAMPLES, name, SECONDS / len(SAMPLES), each=0.003):
        path.write_bytes(data)
        with limited(data, f"{name}, number {number}"):
            refused += refuses(check, path)
    assert refused


def refuses(check: Callable[[Path], None], path: Path) -> bool:
    """Whether a file is refused, which is done in one line."""
    try:
        check(path)
    except InputError as error:
        refusal = str(error)
    else:
        return False
    assert "\n" not in refusal
    return True
