"""Sample sheets are read as nf-core's pipelines write them, and what is wrong with one is said with its line."""

from __future__ import annotations

import csv
import gzip
import io
import os
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from oclgenomics.app.sheets import Sample, read_sheet
from oclgenomics.errors import InputError

FILES = ["a_1.fq", "a_2.fq", "b 1.fq", "c,1.fq", 'd"1.fq', "e.fq", "f.fq", "\u00e9.fq"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with files of reads, a folder and a pipe."""
    monkeypatch.chdir(tmp_path)
    for name in FILES:
        Path(name).touch()
    Path("signals").mkdir()
    os.mkfifo("pipe.fq")
    return tmp_path


def write(text: str | bytes, name: str = "sheet.csv") -> str:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)
    return name


def rows(path: str, **how: bool) -> dict[str, tuple[tuple[str, ...], ...]]:
    return {sample.name: sample.rows for sample in read_sheet(path, **how)}


def test_an_nf_core_sheet_of_lanes_and_single_ends() -> None:
    sheet = write(
        "sample,run_accession,instrument_platform,fastq_1,fastq_2,fasta\n"
        "A,1,ILLUMINA,a_1.fq,a_2.fq,\nB,2,ILLUMINA,e.fq,,\nA,3,ILLUMINA,b 1.fq,f.fq,\n"
    )
    assert read_sheet(sheet) == [
        Sample("A", (("a_1.fq", "a_2.fq"), ("b 1.fq", "f.fq")), 2),
        Sample("B", (("e.fq",),), 3),
    ]
    assert read_sheet(sheet)[0].paired
    assert read_sheet(sheet)[0].files == ["a_1.fq", "a_2.fq", "b 1.fq", "f.fq"]


def test_a_sheet_of_inputs_may_have_folders() -> None:
    sheet = write("input\tsample\nsignals\tA\ne.fq\tB\n")
    assert rows(sheet, mates=False, folders=True) == {"A": (("signals",),), "B": (("e.fq",),)}
    with pytest.raises(InputError, match="line 2: signals is a folder; name a file"):
        read_sheet(sheet)


@pytest.mark.parametrize(
    "text",
    [
        "sample,fastq_1,fastq_2\nA,e.fq,\n",
        "sample,fastq_1,fastq_2\nA,e.fq\n",
        "\ufeffsample,fastq_1,fastq_2\r\nA,e.fq,\r\n",
        "sample,fastq_1,fastq_2\rA,e.fq,\r",
        '"sample","fastq_1","fastq_2"\n"A","e.fq",""',
        "\n\nSample , FASTQ_1\n\n A , e.fq \n,,\n\n",
        "sample\tfastq_1\tfastq_2\nA\te.fq\t\n",
        '"sample"\t"input"\n"A"\t"e.fq"\n',
    ],
)
def test_layouts_of_one_sheet(text: str) -> None:
    assert rows(write(text)) == {"A": (("e.fq",),)}
    packed = write(gzip.compress(text.encode()), "sheet.csv.gz")
    assert rows(packed) == {"A": (("e.fq",),)}


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        ("", "the file is empty"),
        ("\n \n", "sheet.csv: is empty; the first line has to name the columns sample,fastq_1,fastq_2 or sample,input"),
        ("sample,input\n", "sheet.csv: names no sample: there is nothing below the header"),
        ("sample,input\n,\n", "names no sample"),
        ("name,fastq_1\nA,e.fq\n", "sheet.csv, line 1: has no column sample; "),
        ("sample,reads\nA,e.fq\n", "sheet.csv, line 1: has no column input or fastq_1; "),
        ("sample,fastq_2\nA,e.fq\n", "line 1: has no column input or fastq_1; "),
        ("A,e.fq\n", "line 1: has no column sample"),
        ("sample;fastq_1\nA;e.fq\n", "line 1: has semicolons between its fields; save it with commas or tabs"),
        ("sample,fastq_1,sample\nA,e.fq,B\n", "line 1: has the column sample 2 times; keep one"),
        ("sample,input,fastq_1\nA,e.fq,\n", "line 1: has columns input and fastq_1; keep one of them"),
        ("sample,input,fastq_2\nA,e.fq,\n", "line 1: has columns input and fastq_2; keep one of them"),
        ("sample,input\nA,c,1.fq\n", "line 2: has 3 fields, and the header 2; quote a field with a comma in it"),
        ("sample,input\n\n,e.fq\n", "line 3: has no name of a sample"),
        ("sample,input\nA/B,e.fq\n", "line 2: sample 'A/B': outputs cannot have this name"),
        ("sample,input\nA\\B,e.fq\n", "outputs cannot have this name"),
        ("sample,input\n..,e.fq\n", "outputs cannot have this name"),
        ('sample,input\n"A\nB",e.fq\n', "line 2: sample 'A\\\\nB': outputs cannot have this name"),
        ('sample,input\n"A\x1bB",e.fq\n', "outputs cannot have this name"),
        ("sample,fastq_1,fastq_2\nA,,\n", "line 2: sample A has no file"),
        ("sample,fastq_1,fastq_2\nA,,e.fq\n", "line 2: sample A has a fastq_2 without a fastq_1"),
        ("sample,fastq_1,fastq_2\nA,e.fq,./e.fq\n", "line 2: e.fq is given for both mates"),
        ("sample,input\nA,none.fq\n", "line 2: there is no file none.fq$"),
        ('sample,input\nA,"e.fq\nB,f.fq"\n', r"line 2: 'e.fq\\nB,f.fq' has a control character in it, such as a line"),
        ("sample,input\nA,-\n", "line 2: standard input cannot be a sample's; name a file"),
        ("sample,input\nA,s3://bucket/a.fq\n", "line 2: s3://bucket/a.fq is not on this machine; download it"),
        ("sample,input\nA,signals\n", "line 2: signals is a folder; name a file"),
        ("sample,input\nA,pipe.fq\n", "line 2: pipe.fq is a pipe or a device"),
        ("sample,fastq_1,fastq_2\nA,a_1.fq,a_2.fq\nB,e.fq,\nA,f.fq,\n",
         "line 4: sample A has mates in line 2 and none in line 4; give them names of their own"),
        ("sample,fastq_1,fastq_2\nA,f.fq,\nA,a_1.fq,a_2.fq\n", "line 3: sample A has mates in line 3 and none in line"),
        ("sample,input\nA,e.fq\nB,e.fq\nA,./e.fq\n", "line 4: sample A has ./e.fq in line 2 already; name each file"),
        ('sample,input\nA,"e.fq\n', "line 2: is no CSV"),
        ('sample,input\nB,e.fq\nA,"e".fq\n', "line 3: is no CSV"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(text: str, trouble: str) -> None:
    with pytest.raises(InputError, match=trouble) as caught:
        read_sheet(write(text))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        ("sample,input\nA,\u00e9.fq\n".encode("latin-1"), "line 2: is not UTF-8; save the sheet as CSV in UTF-8"),
        ("sample,input\nA,e.fq\n".encode("utf-16"), "sheet.csv: is text in UTF-16; store it as UTF-8 or ASCII"),
    ],
)
def test_other_encodings_are_refused(data: bytes, trouble: str) -> None:
    with pytest.raises(InputError, match=trouble):
        read_sheet(write(data))


def test_one_error_lists_the_lines_of_the_others() -> None:
    sheet = write("sample,input\nA,e.fq\nB,no.fq\nC,f.fq\n,e.fq\n" + "D,no.fq\n" * 7)
    with pytest.raises(InputError, match=r"line 3: there is no file no.fq \(there are errors in lines 5, 6, 7, 8, 9, "):
        read_sheet(sheet)
    with pytest.raises(InputError, match=r"line 2: .*\(there are errors in line 3, too\)$"):
        read_sheet(write("sample,input\nA,no.fq\nB,no.fq\n"))


def test_files_are_relative_to_the_working_folder(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    sheet = write("sample,input\nA,e.fq\n")
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    with pytest.raises(InputError, match=r"there is no file e\.fq in the working folder, but in the sheet's; run the"):
        read_sheet(f"../{sheet}")


def test_a_file_may_be_of_two_samples() -> None:
    assert rows(write("sample,input\nA,e.fq\nB,e.fq\n")) == {"A": (("e.fq",),), "B": (("e.fq",),)}


names = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF), min_size=1, max_size=8).filter(
    lambda name: name == name.strip() and name.isprintable() and not name.startswith(".") and not {*name} & {*"/\\"}
)
lanes = st.lists(st.sampled_from(FILES), min_size=1, max_size=4, unique=True)


@settings(max_examples=80)
@given(
    samples=st.lists(st.tuples(names, lanes, st.booleans()), min_size=1, max_size=4, unique_by=lambda one: one[0]),
    order=st.randoms(use_true_random=False),
    end=st.sampled_from(["\n", "\r\n"]),
    tabs=st.booleans(),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    mark=st.sampled_from(["", "\ufeff"]),
)
def test_what_was_written_is_read(
    samples: list[tuple[str, list[str], bool]], order: object, end: str, tabs: bool, quoting: int, mark: str
) -> None:
    """A sheet of rows in any order and layout gives each sample its own rows, in their order."""
    wanted, listed = {}, []
    for name, files, paired in samples:
        mates = paired and len(files) > 1
        its = [(one, two) for one, two in zip(files[::2], files[1::2], strict=False)] if mates else [
            (one,) for one in files
        ]  # fmt: skip
        wanted[name] = tuple(its)
        listed += [(name, number) for number in range(len(its))]
    order.shuffle(listed)  # type: ignore[attr-defined]
    seen: dict[str, int] = {}
    text = io.StringIO(newline="")
    table = csv.writer(text, delimiter="\t" if tabs else ",", lineterminator=end, quoting=quoting)  # type: ignore[arg-type]
    table.writerow(["fastq_2", "other", "sample", "fastq_1"])
    for name, _ in listed:
        row = wanted[name][seen.setdefault(name, 0)]
        seen[name] += 1
        table.writerow([row[1] if len(row) > 1 else "", "", name, row[0]])
    found = read_sheet(write(mark + text.getvalue()))
    assert {sample.name: sample.rows for sample in found} == wanted
    assert [sample.name for sample in found] == list(dict.fromkeys(name for name, _ in listed))
