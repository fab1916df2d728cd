"""Precision, sensitivity and F1 of calls, whose readers take what several tools write."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from helpers.golden_taxa import VIRAL
from helpers.taxonomies import taxonomy_of
from hypothesis import given, strategies as st

from oclgenomics.classify.formats.truth import read_calls, read_confidences, read_truth
from oclgenomics.classify.taxonomy.evaluation import CLASSES, OUTCOMES, Truth, evaluate, threshold_curves
from oclgenomics.classify.taxonomy.ncbi import read_taxonomy
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, ParameterError

# Two genera: 10 with species 100, 101 and 102, 11 with 110; 100 has the strain 1000.
TREE = taxonomy_of(
    {1: 1, 2: 1, 10: 2, 11: 2, 100: 10, 101: 10, 102: 10, 110: 11, 1000: 100},
    {1: "root", 2: "domain", 10: "genus", 11: "genus", 100: "species", 101: "species", 102: "species",
     110: "species"},
)  # fmt: skip
ROWS = "a\t100\t10\tstrain\nb\t102\t10\tnovel\nc\t0\t0\talien\nd\t110\t11\treference\n"


def truth_of(*rows: tuple[int, int, str]) -> Truth:
    species, genus, classes = zip(*rows, strict=True)
    names = tuple(f"r{number}" for number in range(len(rows)))
    numbers = np.array([CLASSES.index(one) for one in classes], np.int8)
    return Truth(names, np.array(species, np.int64), np.array(genus, np.int64), numbers)


def counts(truth: Truth, calls: list[int]) -> list[list[int]]:
    found = evaluate(truth, dict(zip(truth.names, calls, strict=True)), TREE, rounds=0)
    return [list(at.counts.values()) for at in found.ranks]


@pytest.mark.parametrize(
    ("truth", "call", "species", "genus"),
    [
        ((100, 10, "strain"), 100, "correct", "correct"),
        ((100, 10, "strain"), 1000, "correct", "correct"),
        ((100, 10, "strain"), 101, "wrong", "correct"),
        ((100, 10, "strain"), 110, "wrong", "wrong"),
        ((100, 10, "reference"), 10, "missed", "correct"),
        ((100, 10, "strain"), 2, "missed", "missed"),
        ((100, 10, "strain"), 0, "missed", "missed"),
        ((102, 10, "novel"), 101, "false", "correct"),
        ((102, 10, "novel"), 102, "false", "correct"),
        ((102, 10, "novel"), 11, "rejected", "wrong"),
        ((102, 10, "novel"), 0, "rejected", "missed"),
        ((0, 0, "alien"), 100, "false", "false"),
        ((0, 0, "alien"), 2, "rejected", "rejected"),
        ((0, 0, "alien"), 0, "rejected", "rejected"),
    ],
)
def test_outcomes(truth: tuple[int, int, str], call: int, species: str, genus: str) -> None:
    found = evaluate(truth_of(truth), {"r0": call}, TREE, rounds=0)
    assert [[name for name, count in at.counts.items() if count] for at in found.ranks] == [[species], [genus]]


@given(st.lists(st.tuples(st.sampled_from([100, 101, 110]), st.sampled_from([0, 10, 100, 101, 110, 2])), max_size=30))
def test_measures(rows: list[tuple[int, int]]) -> None:
    truth = truth_of(*[(species, species // 10, "strain") for species, _ in rows], (0, 0, "alien"))
    calls = {f"r{number}": call for number, (_, call) in enumerate(rows)} | {f"r{len(rows)}": 110}
    at = evaluate(truth, calls, TREE, ["species"], rounds=0).ranks[0]
    correct = sum(species == call for species, call in rows)
    called = 1 + sum(call >= 100 for _, call in rows)
    assert at.precision.value == correct / called
    assert at.sensitivity.value == (correct / len(rows) if rows else 0)
    assert at.f1.value == pytest.approx(2 * correct / (called + len(rows)))


def test_intervals_hold_the_value_and_shrink_with_reads() -> None:
    widths = []
    for many in (50, 5000):
        truth = truth_of(*[(100, 10, "strain")] * many)
        calls = {name: 100 if number % 5 else 101 for number, name in enumerate(truth.names)}
        f1 = evaluate(truth, calls, TREE).ranks[0].f1
        assert f1.low is not None
        assert f1.high is not None
        assert f1.low < f1.value < f1.high
        widths.append(f1.high - f1.low)
    assert widths[1] < widths[0] / 5


def test_reads_without_call() -> None:
    found = evaluate(truth_of((100, 10, "strain"), (100, 10, "strain"), (0, 0, "alien")), {"r0": 100, "r2": 2}, TREE)
    assert (found.reads, found.classified, found.absent, found.aliens, found.aliens_classified) == (3, 2, 1, 1, 1)
    assert found.ranks[0].counts["missed"] == 1


def test_what_evaluate_refuses() -> None:
    truth = truth_of((100, 10, "strain"))
    with pytest.raises(InputError, match="r7"):
        evaluate(truth, {"r7": 100}, TREE)
    with pytest.raises(InputError, match="taxid 555"):
        evaluate(truth, {"r0": 555}, TREE)
    with pytest.raises(ParameterError, match="ranks"):
        evaluate(truth, {}, TREE, ["sequence"])
    with pytest.raises(ParameterError, match="rounds"):
        evaluate(truth, {}, TREE, rounds=-1)


CALLS = {
    "kraken": "C\ta\t100\t150\t100:3\nU\tb\t0\t150\t0:116\nC\tc\thuman (taxid 9606)\t5\t\n",
    "native": "# TABLE_LAYOUT: query_header\t|\trank:taxname(taxid)\na/1\t|\tspecies:A, b(100)\nb\t|\t--\n"
    "c x\t|\tgenus:C(9606)\n",
    "hits": "# TABLE_LAYOUT: query_id\t|\tquery_header\t|\ttop_hits\t|\trank:taxid\n1\t|\ta\t|\t7:5\t|\tspecies:100\n"
    "2\t|\tb\t|\t\t|\t--\n3\t|\tc\t|\t8:3\t|\tgenus:9606\n",
    "lineage": "a\t|\tspecies\t|\t100\t|\tgenus\t|\t10\nb\t|\tspecies\t|\t0\t|\tgenus\t|\t0\n"
    "c\t|\tspecies\t|\t0\t|\tgenus\t|\t9606\n",
    "sequences": "# TABLE_LAYOUT: query_header\t|\tsequence:taxname(taxid),species:taxname(taxid)\n"
    "a\t|\tsequence:X(-4),species:A(100)\nb\t|\t--\nc\t|\tgenus:C(9606)\n",
    "tsv": "read\tlength\ttaxid\na\t5\t100\nb\t7\t0\nc\t8\t9606\n",
}  # fmt: skip


@pytest.mark.parametrize("form", CALLS)
def test_calls_of_all_forms(tmp_path: Path, form: str) -> None:
    (tmp_path / "calls").write_text(CALLS[form])
    assert read_calls(tmp_path / "calls") == {"a": 100, "b": 0, "c": 9606}
    (tmp_path / "calls").write_text(CALLS[form].replace("\n", "\r\n"))
    assert read_calls(tmp_path / "calls") == {"a": 100, "b": 0, "c": 9606}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("C\ta\t1\t2\t\nC\ta\t1\t2\t\n", "second time"),
        ("C\ta\tx\t2\t\n", "line 1"),
        ("C\ta\n", "line 1"),
        ("hello\n", "none of these"),
        ("# TABLE_LAYOUT: query_header\t|\trank:taxname\na\t|\tspecies:A\n", "no taxids"),
        ("# TABLE_LAYOUT: query_header\t|\trank:taxname(taxid)\na\t|\tsequence:A(-3)\n", "-lowest species"),
        ("# TABLE_LAYOUT: query_header\t|\trank:taxname(taxid)\na\n", "fewer columns"),
        ("# TABLE_LAYOUT: query_id\t|\trank:taxid\na\t|\t3\n", "without names"),
    ],
)
def test_calls_that_are_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "calls").write_text(text)
    with pytest.raises(InputError, match=message):
        read_calls(tmp_path / "calls")


@pytest.mark.parametrize("row", ["a\t1\t2", "a\t1\t2\tother", "a\t-1\t2\tstrain", "a\t1\tx\tstrain", "a\t" + "1" * 11])
def test_truth_that_is_refused(tmp_path: Path, row: str) -> None:
    (tmp_path / "truth").write_text(f"# made\n{ROWS}{row}\n")
    with pytest.raises(InputError, match="line 6"):
        read_truth(tmp_path / "truth")


def test_truth(tmp_path: Path) -> None:
    (tmp_path / "truth").write_text(ROWS + "\n")
    truth = read_truth(tmp_path / "truth")
    assert truth.names == ("a", "b", "c", "d")
    assert truth.species.tolist() == [100, 102, 0, 110]
    assert truth.genus.tolist() == [10, 10, 0, 11]
    assert truth.classes.tolist() == [1, 2, 3, 0]
    (tmp_path / "truth").write_text(ROWS + "a/1\t100\t10\tstrain\n")
    with pytest.raises(InputError, match="second time"):
        read_truth(tmp_path / "truth")


def test_golden_reads() -> None:
    """All calls of MetaCache on real viruses that are species are right, as its own summary says."""
    path = VIRAL / "reads" / "se150.truth.tsv"
    truth = read_truth(path)
    found = evaluate(truth, read_calls(VIRAL / "se150.species.tophits.txt.gz"), read_taxonomy(VIRAL / "tax"), rounds=0)
    assert [at.counts["correct"] for at in found.ranks] == [14598, 14634]
    assert [at.counts["missed"] for at in found.ranks] == [20000 - 14598, 20000 - 14634]
    assert found.classified == 14648


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    result, truth = VIRAL / "se150.species.tophits.txt.gz", VIRAL / "reads" / "se150.truth.tsv"
    words = ["classify", "evaluate", str(result), "--truth", str(truth), "--taxonomy", str(VIRAL / "tax")]
    assert main(words) == 0
    heading, *rows = capsys.readouterr().out.splitlines()
    assert heading.split()[:5] == ["result", "rank", "precision", "sensitivity", "F1"]
    assert [row.split()[1:5] for row in rows] == [
        ["species", "1.0000", "0.7299", "0.8439"],
        ["genus", "1.0000", "0.7317", "0.8451"],
    ]
    assert main([*words, "--json", "--bootstrap", "0", "--ranks", "family", "-o", str(tmp_path / "out")]) == 0
    told = json.loads((tmp_path / "out").read_text())["results"][0]
    assert told["ranks"][0]["rank"] == "family"
    assert told["ranks"][0]["f1"]["low"] is None
    assert main([*words, "--ranks", "tail"]) == 2
    packed = tmp_path / "bad.gz"
    packed.write_bytes(gzip.compress(b"hello\n"))
    assert main(["classify", "evaluate", str(packed), *words[3:]]) == 3


ROWS_OF_READS = st.lists(
    st.tuples(
        st.sampled_from([(100, 10, "strain"), (102, 10, "novel"), (0, 0, "alien")]),
        st.sampled_from([0, 2, 10, 100, 101, 110]),
        st.integers(0, 1000),
    ),
    min_size=1, max_size=20,
)  # fmt: skip


@given(rows=ROWS_OF_READS, at=st.integers(0, 100))
def test_thresholds_are_evaluations_of_fewer_calls(rows: list[tuple[tuple[int, int, str], int, int]], at: int) -> None:
    truth = truth_of(*[row[0] for row in rows])
    calls = {name: row[1] for name, row in zip(truth.names, rows, strict=True)}
    sure = {name: row[2] for name, row in zip(truth.names, rows, strict=True)}
    kept = {name: taxid for name, taxid in calls.items() if sure[name] >= 10 * at}
    for curve, one in zip(
        threshold_curves(truth, calls, sure, TREE), evaluate(truth, kept, TREE, rounds=0).ranks, strict=True
    ):
        called = sum(one.counts[name] for name in (OUTCOMES[0], OUTCOMES[1], OUTCOMES[3]))
        assert (curve.rank, curve.called[at], curve.thresholds[at]) == (one.rank, called, at / 100)
        assert curve.precision[at] == (one.precision.value if called else 1)
        assert (curve.sensitivity[at], curve.f1[at]) == (one.sensitivity.value, one.f1.value)


def test_curves_of_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "nodes.dmp").write_text("1\t|\t1\t|\tno rank\t|\n10\t|\t1\t|\tgenus\t|\n100\t|\t10\t|\tspecies\t|\n")
    (tmp_path / "names.dmp").write_text("100\t|\tx\t|\t\t|\tscientific name\t|\n")
    (tmp_path / "truth").write_text("a\t100\t10\tstrain\nb\t100\t10\tstrain\nc\t0\t0\talien\n")
    heads = "read\ttaxid\tconfidence\n"
    (tmp_path / "reads").write_text(heads + "a/1\t100\t1.000\nb\t10\t0.290\nc\t100\t0.199\n")
    words = ["classify", "evaluate", f"{tmp_path}/reads", "--truth", f"{tmp_path}/truth", "--taxonomy", f"{tmp_path}"]
    assert main([*words, "--curve-table", f"{tmp_path}/table", "--curve", f"{tmp_path}/figure.svg"]) == 0
    rows = [line.split("\t") for line in (tmp_path / "table").read_text().splitlines()]
    assert rows[0] == ["rank", "confidence", "called", "precision", "sensitivity", "F1"]
    assert [row[2:] for row in rows[1:102]] == [["2", "0.5000", "0.5000", "0.5000"]] * 20 + [
        ["1", "1.0000", "0.5000", "0.6667"]
    ] * 81
    assert [row[2] for row in rows[102:]] == ["3"] * 20 + ["2"] * 10 + ["1"] * 71
    assert "dotted: a confidence of 0.20" in (tmp_path / "figure.svg").read_text()
    assert main([*words[:2], words[2], *words[2:], "--curve-table", f"{tmp_path}/x"]) == 2
    assert "about one result" in capsys.readouterr().err
    for text, what in ((heads.replace("\tconf", "\tsure"), "no column of"), (heads + "a\t100\t2\n", "from 0.000 to")):
        (tmp_path / "bad").write_text(text)
        with pytest.raises(InputError, match=what):
            read_confidences(tmp_path / "bad")
