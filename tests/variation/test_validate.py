"""An alignment that does not hold together is refused, with the site, before anything is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, make_multiallelic, random_positions

from oclgenomics.errors import UsageError
from oclgenomics.omega import ScanOptions, scan
from oclgenomics.omega.device.scanner import OmegaScanner
from oclgenomics.variation import Alignment, ReadOptions, read_alignments

EDGE = Path(__file__).parents[1] / "data" / "omega" / "edge"
OPTIONS = ScanOptions(grid=10, minwin=100, maxwin=50_000)
SITES, HAPLOTYPES = 60, 33


def alignment(observed: bool = False) -> Alignment:
    rng = np.random.default_rng(1)
    seen = rng.random((SITES, HAPLOTYPES)) < 0.9 if observed else None
    states = correlated_states(rng, SITES, HAPLOTYPES)
    states[1] = 0  # left out by a scan, which must not change the number of the site that is named
    return make_alignment(states, random_positions(rng, SITES), seen)


def multiallelic() -> Alignment:
    rng = np.random.default_rng(1)
    return make_multiallelic(rng.integers(0, 4, (SITES, HAPLOTYPES)), random_positions(rng, SITES))


def changed(name: str, where: object, value: int, made: Callable[[], Alignment] = alignment) -> Alignment:
    """An alignment with one entry of an array changed."""
    one = made()
    array = getattr(one, name).copy()
    array[where] = value
    return replace(one, **{name: array})


def missing() -> Alignment:
    """One with missing states, and some of them gaps."""
    one = alignment(observed=True)
    assert one.valid is not None
    gap = ~one.valid
    gap[-1] &= 1
    return replace(one, gap=gap)


def descending() -> Alignment:
    one = alignment()
    return replace(one, positions=one.positions[::-1].copy())


def gap_where_observed() -> Alignment:
    one = missing()
    assert one.gap is not None
    one.gap[0, 3] = 0xFFFFFFFF
    return one


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda: changed("positions", 7, 0), r"positions must not go back: site 7 .* lies at 0, the one before at "),
        (lambda: changed("positions", 0, -1), "positions must be between 0 and .* site 0 .* lies at -1"),
        (lambda: changed("positions", -1, 10**15), "positions must be between 0 and .* site 59 .* lies at 10+$"),
        (lambda: changed("bits", (-1, 5), 2), "bits must be 0 past the last of 33 haplotypes: site 5 "),
        (lambda: changed("valid", (-1, 5), 3, missing), "valid must be 0 past the last of 33 haplotypes: site 5 "),
        (lambda: changed("gap", (-1, 5), 2, missing), "gap must be 0 past the last of 33 haplotypes: site 5 "),
        (lambda: changed("bits", (0, 5), 0xFFFFFFFF, missing), "bits must be 0 where valid is: site 5 "),
        (gap_where_observed, "gap must be 0 where valid is 1: site 3 "),
        (lambda: replace(missing(), valid=None), "gap must be None where valid is None"),
        (lambda: replace(alignment(), positions=np.arange(60.0)), "positions must be an array of int64, not float64"),
        (lambda: replace(alignment(), positions=list(range(60))), "positions must be an array of int64, not list"),
        (lambda: replace(alignment(), positions=np.zeros((60, 1), int)), r"positions must have the shape .60,., not"),
        (lambda: replace(alignment(), bits=np.zeros((2, 60)).tolist()), "bits must be an array of uint32, not list"),
        (lambda: replace(alignment(), bits=np.zeros((2, 60), np.int32)), "bits must be an array of uint32, not int32"),
        (lambda: replace(alignment(), bits=np.zeros((2, 59), np.uint32)), r"bits must have the shape .2, 60., not"),
        (lambda: replace(missing(), valid=np.zeros((1, 60), np.uint32)), r"valid must have the shape .2, 60., not"),
        (lambda: replace(alignment(), letters=np.zeros((60, 3), np.uint8)), r"letters must have the shape .60, 2."),
        (lambda: replace(alignment(), ploidy=2), "ploidy must be 1, or 2 with an even number of haplotypes, not 2"),
        (lambda: replace(alignment(), ploidy=3), "ploidy must be 1, or 2 with an even number of haplotypes, not 3"),
        (lambda: replace(alignment(), unphased=True), "unphased must be False where ploidy is 1"),
        (lambda: replace(alignment(), samples=("a",)), "samples must be 33 names or none, not 1"),
        (lambda: changed("multi_bits", (-1, 5), 2, multiallelic), "multi_bits must be 0 past the last .*: row 5 "),
        (lambda: changed("multi_site", 9, 0, multiallelic), "multi_site and multi_letter must be in .*: row 9 "),
        (lambda: changed("multi_letter", 1, 1, multiallelic), "multi_site and multi_letter must be in .*: row 1 "),
        (lambda: changed("multi_site", -1, SITES, multiallelic), "multi_site must be sites from 0 to 59, not "),
        (lambda: changed("multi_site", slice(0, 2), 0, few_rows), "multi_site must have 3 or 4 rows .*: site 0 "),
    ],
)
def test_what_is_refused(broken, message):
    with pytest.raises(UsageError, match=message) as caught:
        broken().validate()
    assert "\n" not in str(caught.value)


def few_rows() -> Alignment:
    """The second row onwards of a site with four, one row taken away."""
    one = multiallelic()
    rows = np.ones(len(one.multi_site), bool)
    rows[:2] = False
    return replace(
        one, multi_site=one.multi_site[rows], multi_bits=one.multi_bits[:, rows], multi_letter=one.multi_letter[rows]
    )


@pytest.mark.parametrize("where", [scan, lambda given, options, engine: OmegaScanner(engine).scan(given[0], options)])
@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (descending, "positions must not go back: site 1 "),
        (lambda: changed("bits", (-1, 5), 2), "bits must be 0 past the last of 33 haplotypes: site 5 "),
    ],
)
def test_nothing_is_scanned_that_does_not_hold_together(engine, where, broken, message):
    with pytest.raises(UsageError, match=message):
        list(where([broken()], OPTIONS, engine=engine))


def test_what_is_read_holds_together():
    names = sorted(path.name for path in EDGE.iterdir() if path.suffix in (".vcf", ".ms", ".macs", ".fa", ".fasta"))
    assert len(names) > 10
    for name in names:
        for one in read_alignments(EDGE / name, ReadOptions(length=1_000_000)):
            one.validate()


def test_what_is_made_holds_together():
    for made in (alignment, missing, multiallelic):
        made().validate()
    Alignment("1", np.zeros(0, np.int64), np.zeros((0, 0), np.uint32), 0, np.zeros((0, 2), np.uint8)).validate()
