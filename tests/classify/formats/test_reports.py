"""Lines of reads in the formats of Kraken and CAMI, as tables and as JSON."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from helpers.classified import Layout, golden_lineages, golden_lines, parsed
from helpers.random_calls import random_lineages, random_reads
from hypothesis import given, settings, strategies as st

from oclgenomics.app.reports import MISSING
from oclgenomics.classify.formats import FORMATS, NativeOptions, ReportFormat, Tally, make_report, write_reports
from oclgenomics.classify.formats.tables import COLUMNS
from oclgenomics.classify.options import METACACHE_SKETCH, QueryOptions
from oclgenomics.classify.result import ClassifiedReads
from oclgenomics.classify.taxonomy.lineages import Lineages
from oclgenomics.errors import UsageError
from oclgenomics.runtime import Engine

EVERY = NativeOptions(queryids=True, tophits=True, locations=True, lineage=True, taxids=True)


def written(
    format: ReportFormat,
    lineages: Lineages,
    part: ClassifiedReads,
    engine: Engine | None = None,
    lowest: str = "sequence",
) -> str:
    query = QueryOptions(lowest=lowest)
    report = make_report(format, lineages, query, METACACHE_SKETCH, native=EVERY, sample="s", engine=engine)
    return (report.head() + bytes(report.body(part)) + report.tail()).decode()


@settings(max_examples=50)
@given(
    seed=st.integers(0, 1 << 32),
    reads=st.integers(0, 40),
    pairs=st.booleans(),
    maxcand=st.integers(1, 4),
    format=st.sampled_from(FORMATS),
)
def test_devices_write_what_the_host_writes(
    shaped: Engine, seed: int, reads: int, pairs: bool, maxcand: int, format: ReportFormat
) -> None:
    lineages = random_lineages(seed)
    part = random_reads(lineages, seed, reads, pairs=pairs, maxcand=maxcand)
    assert written(format, lineages, part, shaped) == written(format, lineages, part)


@pytest.mark.parametrize("pairs", [False, True])
def test_lines_of_kraken(pairs: bool) -> None:
    lineages = random_lineages(5)
    part = random_reads(lineages, 5, 200, pairs=pairs, maxcand=3)
    text = written("kraken", lineages, part)
    taxa, targets = len(lineages.taxonomy), lineages.targets
    for read, row in enumerate(line.split("\t") for line in text.splitlines()):
        call = int(part.calls.taxon[read])
        taxon = int(targets.taxon[call - taxa]) if call >= taxa else call
        taxid = (0 if call < 0 else 1) if taxon < 0 else int(lineages.taxonomy.taxids[taxon])
        assert row[:3] == ["C" if taxid else "U", part.reads.names[read], str(taxid)]
        lengths = [part.reads.letters[read]] + (
            [] if part.reads.mate_letters is None else [part.reads.mate_letters[read]]
        )
        assert row[3] == "|".join(map(str, lengths))
        assert row[4].endswith(" |:| 0:0") == pairs
        found = [item.split(":") for item in row[4].removesuffix(" |:| 0:0").split(" ")]
        hits = [(targets.taxon[one.target], one.hits) for one in part.candidates.of(read)]
        wanted = [[str(0 if one < 0 else lineages.taxonomy.taxids[one]), str(count)] for one, count in hits]
        assert found == (wanted or [["0", "0"]])


def test_columns_of_the_table() -> None:
    lineages = golden_lineages("edge")
    lines = golden_lines("edge/edge.query.default.txt")
    part = parsed(lines, lineages, Layout(name=1, top_hits=2, locations=3))
    head, *rows = (line.split("\t") for line in written("tsv", lineages, part).splitlines())
    assert tuple(head) == COLUMNS
    found = {row[0]: " ".join(row[1:]) for row in rows}
    # the target ends there
    assert found["r100"] == "100 NA 51 genus T51 13 2 EDG_000513.1 112 336 EDG_000510.1 12 1.000"
    assert found["r16"] == "100 NA 0 NA NA 0 2 NA NA NA NA 0 0.000"
    assert {len(row) for row in rows} == {len(COLUMNS)}
    pairs = parsed(lines, lineages, Layout(name=1), pairs=True)
    assert written("tsv", lineages, pairs).splitlines()[1].split("\t")[:3] == ["full", "100", "100"]


def test_one_candidate_only() -> None:
    lineages = random_lineages(3)
    part = random_reads(lineages, 3, 20, maxcand=1)
    assert {len(line.split("\t")) for line in written("tsv", lineages, part).splitlines()} == {len(COLUMNS)}


def test_lines_of_json_say_what_the_table_says() -> None:
    lineages = random_lineages(9)
    part = random_reads(lineages, 9, 100, pairs=True)
    head, *rows = (line.split("\t") for line in written("tsv", lineages, part).splitlines())
    for line, row in zip(written("json", lineages, part).splitlines(), rows, strict=True):
        found, shown = json.loads(line), dict(zip(head, row, strict=True))
        for name in ("read", "length", "mate_length", "taxid", "rank", "name", "needed"):
            assert shown[name] == (MISSING if found[name] is None else str(found[name]))
        best, second = (found["candidates"] + [None, None])[:2]
        assert shown["target"] == (best["target"] if best else MISSING)
        assert shown["begin"] == (str(best["begin"]) if best else MISSING)
        assert shown["end"] == (str(best["end"]) if best else MISSING)
        assert [shown["second"], shown["second_hits"]] == (
            [second["target"], str(second["hits"])] if second else [MISSING, "0"]
        )


def test_bins_hold_reads_with_a_taxon() -> None:
    lineages = random_lineages(4)
    part = random_reads(lineages, 4, 300)
    text = written("cami", lineages, part)
    assert text.startswith("@Version:0.9.0\n@SampleID:s\n@@SEQUENCEID\tTAXID\n")
    rows = [line.split("\t")[1:3] for line in written("kraken", lineages, part).splitlines()]
    taxa = np.append(np.arange(len(lineages.taxonomy)), lineages.targets.taxon)
    placed = [row for row, call in zip(rows, part.calls.taxon.tolist(), strict=True) if call >= 0 and taxa[call] >= 0]
    assert [line.split("\t") for line in text.splitlines()[3:]] == placed


def test_several_reports_at_once() -> None:
    lineages = random_lineages(6)
    parts = [random_reads(lineages, seed, 10) for seed in range(3)]
    reports = [make_report(format, lineages, QueryOptions(), METACACHE_SKETCH) for format in FORMATS]
    streams, tally = [io.BytesIO() for _ in FORMATS], Tally(lineages)
    write_reports(iter(parts), list(zip(streams, reports, strict=True)), on_part=[tally.add])
    assert tally.reads == 30
    assert streams[FORMATS.index("kraken")].getvalue().count(b"\n") == 30
    assert streams[FORMATS.index("tsv")].getvalue().count(b"\n") == 31
    assert streams[FORMATS.index("native")].getvalue().count(b"\n# queries: 30\n") == 1
    empty = io.BytesIO()
    write_reports(iter([]), [(empty, make_report("tsv", lineages, QueryOptions(), METACACHE_SKETCH))])
    assert empty.getvalue().decode().split() == list(COLUMNS)


def test_formats_that_are_none() -> None:
    with pytest.raises(UsageError, match="choose one of native, kraken"):
        make_report("mpa", random_lineages(1), QueryOptions(), METACACHE_SKETCH)  # type: ignore[arg-type]


def test_all_hits_that_nobody_asked_for() -> None:
    lineages = random_lineages(1)
    report = make_report("native", lineages, QueryOptions(), METACACHE_SKETCH, native=NativeOptions(allhits=True))
    with pytest.raises(UsageError, match="asked for all hits"):
        report.body(random_reads(lineages, 1, 3))
