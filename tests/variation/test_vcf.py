"""The VCF reader against a parser that goes character by character."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers.alignments import assert_same
from helpers.products import examples
from helpers.vcf_files import COLUMNS, HEAD, files
from hypothesis import given, settings, strategies as st

from oclgenomics.errors import InputError
from oclgenomics.variation import Alignment, ReadOptions, characters, read_alignments
from oclgenomics.variation.readers.read import BLOCK_BYTES


def slow_reason(ref: str, alt: str, filters: str, info: str, keys: str) -> str | None:
    """Why a record is left out, None if it is read."""
    entries = dict(entry.partition("=")[::2] for entry in info.split(";"))
    letters = set("ACGTacgtRYSWKMBDHVNryswkmbdhvn*")
    bases = [ref, *([] if alt == "." else alt.split(","))]
    if {ref, alt} != {"0", "1"} and (len(alt.split(",")) > 5 or any(base not in letters for base in bases)):
        return "not a SNP"
    if "VT" in entries and any(kind != "SNP" for kind in entries["VT"].split(",")):
        return "not a SNP"
    if alt == ".":
        return "no alternative allele"
    if filters not in ("PASS", "."):
        return "filter"
    if "AF" in entries and all(float(part) in (0, 1) for part in entries["AF"].split(",")):
        return "AF 0 or 1"
    return None if keys.split(":")[0] == "GT" else "no GT"


def slow_parse(text: str, keep: set[str] | None = None, phase: str = "auto") -> list[dict]:
    """Chromosomes of a VCF, each with positions, rows of alleles per sample, skipped, and how many are unphased."""
    lines = [line for line in text.replace("\r", "").split("\n") if line]
    names = next(line for line in lines if line.startswith("#CHROM")).split("\t")[9:]
    chromosomes: list[dict] = []
    for line in lines:
        if line.startswith("#"):
            continue
        chrom, pos, _, ref, alt, _, filters, info, keys, *fields = line.split("\t")
        if not chromosomes or chromosomes[-1]["name"] != chrom:
            chromosomes.append({"name": chrom, "pos": [], "calls": [], "skipped": Counter(), "unphased": 0})
        out = chromosomes[-1]
        reason = slow_reason(ref, alt, filters, info, keys)
        if reason:
            out["skipped"][reason] += 1
            continue
        alleles = [base.upper() if base.upper() in "ACGT01" else "N" for base in [ref, *alt.split(",")]]
        calls = []
        for name, field in zip(names, fields, strict=True):
            if keep is not None and name not in keep:
                continue
            call = field.split(":")[0]
            parts = call.replace("/", "|").split("|")
            unphased = "/" in call and parts[0] != parts[1] and (phase != "auto" or "." not in parts)
            out["unphased"] += unphased and phase != "ignore"
            hidden = unphased and phase == "missing"
            calls.append(["N" if part == "." or hidden else alleles[int(part)] for part in parts])
        out["pos"].append(int(pos))
        out["calls"].append(calls)
    return chromosomes


def check(alignment: Alignment, expected: dict, phase: str) -> None:
    """The alignment says what the slow parser says."""
    assert alignment.name == expected["name"]
    assert alignment.positions.tolist() == expected["pos"]
    assert alignment.skipped == dict(expected["skipped"])
    assert alignment.unphased_calls == expected["unphased"]
    assert alignment.unphased == (phase == "auto" and expected["unphased"] > 0)
    sizes = {len(call) for calls in expected["calls"] for call in calls}
    assert alignment.ploidy == max(sizes, default=2)
    wanted = ["".join("".join(call).ljust(alignment.ploidy, "N") for call in calls) for calls in expected["calls"]]
    found = [bytes(row).decode() for row in characters(alignment)]
    assert found == wanted
    check_planes(alignment, wanted)


def check_planes(alignment: Alignment, wanted: list[str]) -> None:
    """Masks, rows of multiallelic sites and unused bits keep their promises."""
    used = np.zeros((alignment.words * 32,), bool)
    used[: alignment.haplotypes] = True
    full = np.packbits(used, bitorder="little").view("<u4")
    valid = np.broadcast_to(full[:, None], alignment.bits.shape) if alignment.valid is None else alignment.valid
    assert not (valid & ~full[:, None]).any()
    assert not (alignment.bits & ~valid).any()
    assert (alignment.valid is None) == (not any("N" in row for row in wanted))
    rows = [(site, letter) for site, row in enumerate(wanted) for letter in "ACGT" if letter in row and many(row)]
    assert list(zip(alignment.multi_site.tolist(), bytes(alignment.multi_letter).decode(), strict=True)) == rows


def many(row: str) -> bool:
    return len(set(row) - {"N"}) > 2


@settings(max_examples=examples(100), deadline=None)
@given(
    file=files(), block=st.sampled_from([1, 7, 64, 1000, 1 << 22]), packed=st.booleans(),
    phase=st.sampled_from(["auto", "missing", "strict", "ignore"]), data=st.data(),
)  # fmt: skip
def test_as_the_slow_parser(tmp_path_factory, file, block, packed, phase, data):
    text, samples = file
    path = tmp_path_factory.mktemp("vcf") / "x.vcf"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    if not any(line.split("\t")[8].startswith("GT") for line in text.splitlines() if line[0] != "#"):
        with pytest.raises(InputError, match="has no GT"):
            list(read_alignments(path, block_bytes=block))
        return
    chosen = {f"s{i}" for i in data.draw(st.sets(st.integers(0, samples - 1), min_size=1))}
    for keep in (None, chosen):
        expected = slow_parse(text, keep, phase)
        found = read_alignments(path, ReadOptions(samples=keep, phase=phase), block_bytes=block)
        if phase == "strict" and any(chromosome["unphased"] for chromosome in expected):
            with pytest.raises(InputError, match=r"sample s\d+ is not phased"):
                list(found)
            continue
        for number, (alignment, chromosome) in enumerate(zip(found, expected, strict=True), 1):
            assert alignment.replicate == number
            assert keep is None or set(alignment.samples) == keep
            check(alignment, chromosome, phase)


def write(tmp_path: Path, *records: str, samples: str = "a\tb", end: str = "\n") -> Path:
    """A VCF of some records; blanks in them become tabs."""
    path = tmp_path / "x.vcf"
    path.write_text(end.join([HEAD.strip(), f"{COLUMNS}\t{samples}", *(r.replace(" ", "\t") for r in records)]) + end)
    return path


def only(path: Path, *, block_bytes: int = BLOCK_BYTES, **options: object) -> Alignment:
    (alignment,) = read_alignments(path, ReadOptions(**options), block_bytes=block_bytes)
    return alignment


GOOD = "1 10 . A G . PASS . GT 0|1 1|1"


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([GOOD, "1 9 . A G . PASS . GT 0|1 1|1"], "line 4.*position 9 comes after 10"),
        ([GOOD, "1 11 . A G . PASS . GT 0|1"], "line 4.*10 columns, the header has 11"),
        ([GOOD, "1 11 . A G . PASS . GT 0|1 0|1 0|1"], "line 4.*12 columns, the header has 11"),
        ([GOOD, "1 11 . A G . PASS ."], "line 4.*8 columns"),
        ([GOOD, "1 x1 . A G . PASS . GT 0|1 0|1"], "line 4.*POS is 'x1'"),
        ([GOOD, "1 1000000000000000 . A G . PASS . GT 0|1 0|1"], "line 4.*POS is '1000000000000000'"),
        ([GOOD, "1 11111111111111111111 . A G . PASS . GT 0|1 0|1"], "line 4.*POS is '11111111111111111111'"),
        (["1 -1 . A G . PASS . GT 0|1 0|1"], "line 3.*POS is '-1'"),
        ([GOOD, "1 . . A G . PASS . GT 0|1 0|1"], "line 4.*POS is '.'"),
        ([GOOD, "1 11 . A G . PASS . GT 0|1 0|1|1"], "'0|1|1' of sample b has more than two alleles"),
        ([GOOD, "1 11 . A G . PASS . GT 0|1 0|z"], "'0|z' of sample b is not a genotype"),
        ([GOOD, "1 11 . A G . PASS . GT:DP 0|1:3 12:3"], "'12' of sample b is not a genotype"),
        ([GOOD, "1 11 . A G . PASS . GT 0|1 "], "'' of sample b is not a genotype"),
        ([GOOD, "1 11 . A G . PASS . GT 0|1 2|1"], "line 4.*allele 2 of sample b is beyond"),
        ([GOOD, "1 11 . A G . PASS . DP:GT 3:0|1 3:2|1"], "line 4.*GT is not the first key"),
        ([GOOD, "#CHROM x"], "line 4.*a header line among the records"),
        (["1 11 . A G . PASS . DP 3 4"], "has no GT"),
        ([], "no records"),
    ],
)
def test_bad_records_name_the_line(tmp_path, records, message):
    path = write(tmp_path, *records)
    for block in (1, 1 << 22):
        with pytest.raises(InputError, match=message) as caught:
            list(read_alignments(path, block_bytes=block))
        assert "\n" not in str(caught.value)


def test_the_largest_position_has_15_digits(tmp_path):
    largest = 10**15 - 1
    records = [GOOD, f"1 {largest - 1} . A G . PASS . GT 0|1 0|1", f"1 {largest} . A G . PASS . GT 0|1 0|1"]
    for block in (1, 1 << 22):
        assert only(write(tmp_path, *records), block_bytes=block).positions.tolist() == [10, largest - 1, largest]


def test_error_names_the_byte_of_the_field(tmp_path):
    path = write(tmp_path, GOOD, "1 11 . A G . PASS . GT 0|1 0|z")
    with pytest.raises(InputError) as caught:
        list(read_alignments(path))
    assert path.read_bytes()[caught.value.byte :] == b"0|z\n"


@pytest.mark.parametrize(
    ("head", "message"),
    [("##fileformat=VCFv4.2\n", "no '#CHROM' line"), (HEAD + COLUMNS[:-7] + "\n1\t1\t.\tA\tG\t.\t.\t.\n", "has no GT")],
)
def test_bad_headers(tmp_path, head, message):
    path = tmp_path / "x.vcf"
    path.write_text(head)
    with pytest.raises(InputError, match=message):
        list(read_alignments(path))


def test_samples_from_a_file_keep_the_order_of_the_vcf(tmp_path):
    path = write(tmp_path, "1 10 . A G . PASS . GT 0|1 1|1 0|0", samples="a\tb\tc")
    names = tmp_path / "names"
    names.write_text("c\n\na\n")
    alignment = only(path, samples=names)
    assert alignment.samples == ("a", "c")
    assert bytes(characters(alignment)).decode() == "AGAA"
    names.write_text("c\nd\n")
    with pytest.raises(InputError, match="no sample is named 'd'"):
        only(path, samples=names)


def test_phase_ignore_takes_the_order_as_written(tmp_path):
    path = write(tmp_path, "1 10 . A G . PASS . GT 0/1 1/1")
    assert only(path).unphased
    ignored = only(path, phase="ignore")
    assert not ignored.unphased
    assert bytes(characters(ignored)).decode() == "AGGG"


def test_strict_names_the_first_unphased_call(tmp_path):
    records = [f"1 {i} . A {'G,T' if i == 7 else 'G'} . PASS . GT 0|1 0/0" for i in range(1, 20)]
    for block in (1, 1 << 22):
        for call, where in (("1/0", 12), ("./1", 12), ("2/0", 7), ("1/0:3", 3)):
            bad = list(records)
            for record in range(where, 20):
                bad[record - 1] = bad[record - 1].replace("0/0", call).replace("GT", "GT:DP" if ":" in call else "GT")
            with pytest.raises(InputError, match=f"line {where + 2}.*sample b is not phased"):
                only(write(tmp_path, *bad[: where + 1]), phase="strict", block_bytes=block)
    assert only(write(tmp_path, *records), phase="strict").sites == 19


def test_unphased_calls_are_missing_where_asked_and_counted(tmp_path):
    records = ["1 5 . A G . . . GT 0/1 1|0", "1 6 . A G . . . GT 0/0 ./1", "1 7 . A G,C . . . GT 2/1 1|0"]
    path = write(tmp_path, *records, "1 8 . A G . . . GT .|1 0/1")
    alignment = only(path, phase="missing")
    assert [bytes(row).decode() for row in characters(alignment)] == ["NNGA", "AANN", "NNGA", "NGNN"]
    assert (alignment.unphased, alignment.unphased_calls) == (False, 4)
    assert (only(path).unphased, only(path).unphased_calls) == (True, 3)
    assert (only(path, samples=["b"]).unphased, only(path, samples=["b"]).unphased_calls) == (True, 1)
    assert (only(write(tmp_path, *records), samples=["b"]).unphased_calls) == 0


def test_an_allele_that_is_not_there_is_refused_in_an_unphased_call_too(tmp_path):
    with pytest.raises(InputError, match="allele 3 of sample a is beyond"):
        only(write(tmp_path, "1 5 . A G . . . GT 0/3 1|0"), phase="missing")


def test_alleles_called_0_and_1(tmp_path):
    alignment = only(write(tmp_path, "1 5 . 0 1 . . . GT 0|1 1|1", "1 6 . 1 0 . . . GT 0|1 1|1"))
    assert [bytes(row).decode() for row in characters(alignment)] == ["0111", "1000"]
    assert (alignment.alphabet, alignment.skipped) == ("binary", {})


def test_homozygous_and_half_calls_with_a_slash_do_not_make_an_alignment_unphased(tmp_path):
    assert not only(write(tmp_path, "1 10 . A G . PASS . GT 1/1 0/.", "1 11 . A G . PASS . GT 1|0 0/0")).unphased


def test_haploid_and_diploid_batches_meet_in_one_chromosome(tmp_path):
    records = [f"1 {i} . A G . PASS . GT {i % 2} ." for i in range(1, 40)] + ["1 50 . A G . PASS . GT 0|1 1"]
    for block in (1, 200, 1 << 22):
        alignment = only(write(tmp_path, *records), block_bytes=block)
        assert alignment.ploidy == 2
        text = [bytes(row).decode() for row in characters(alignment)]
        assert text == [("GN" if i % 2 else "AN") + "NN" for i in range(1, 40)] + ["AGGN"]


def test_a_chromosome_that_is_left_out_wholly_is_still_named(tmp_path):
    first, second = read_alignments(write(tmp_path, "1 5 . A G . q . GT 0|1 0|1", "2 5 . A G . . . GT 0|1 0|1"))
    assert (first.name, first.sites, first.skipped) == ("1", 0, {"filter": 1})
    assert (second.name, second.sites, second.skipped) == ("2", 1, {})


def test_a_long_info_before_a_short_last_record(tmp_path):
    calls = "\t".join(["0|0:12,3"] * 40)
    names = "\t".join(f"s{i}" for i in range(40))
    records = [f"1 {i} . A G . . {info} GT:AD {calls}" for i, info in enumerate(["X=" + "=" * 700, ".", "AF=1"])]
    alignment = only(write(tmp_path, *records, samples=names))
    assert (alignment.sites, alignment.skipped) == (2, {"AF 0 or 1": 1})


def test_records_with_a_long_info_among_short_ones(tmp_path):
    long = "1 {} . A G . PASS X=" + "y" * 5000 + ";AF={} GT 0|1 1|1"
    records = [long.format(i, 1 if i == 7 else 0.3) if i % 7 == 0 else GOOD.replace("10", str(i)) for i in range(1, 60)]
    alignment = only(write(tmp_path, *records))
    assert alignment.sites == 58
    assert alignment.skipped == {"AF 0 or 1": 1}


def test_blank_lines_in_the_header(tmp_path):
    path = write(tmp_path, GOOD)
    expected = only(path)
    path.write_text(path.read_text().replace("#CHROM", "\n##x=1\n \n\n#CHROM"))
    assert_same(only(path), expected)


@pytest.mark.parametrize("block", [1, BLOCK_BYTES])
def test_a_chromosome_in_two_places_is_refused(tmp_path, block):
    path = write(tmp_path, GOOD, GOOD.replace("1 ", "2 ", 1), GOOD.replace("10", "90"))
    found = read_alignments(path, block_bytes=block)
    with pytest.raises(InputError, match=r"line 5.*records of 1 come again after those of another chromosome"):
        list(found)


def test_samples_of_one_name_are_refused(tmp_path):
    path = write(tmp_path, GOOD, samples="b\tb")
    with pytest.raises(InputError, match="two samples are named 'b'; rename one"):
        only(path)


@pytest.mark.parametrize("position", [2**53 + 1, 10**15, 10**30])
def test_positions_beyond_what_is_exact_are_refused(tmp_path, position):
    with pytest.raises(InputError, match=f"POS is '{position}', beyond 999,999,999,999,999 bp"):
        only(write(tmp_path, GOOD.replace("10", str(position), 1)))
    assert only(write(tmp_path, GOOD.replace("10", str(10**15 - 1), 1))).positions.tolist() == [10**15 - 1]
