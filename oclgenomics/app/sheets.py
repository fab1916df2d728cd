"""Sample sheets: tables of samples and their files, as nf-core's pipelines take them.

A sheet has a header with the columns `sample`, `fastq_1` and `fastq_2`, or `sample` and `input`; other columns say
nothing here. Rows of one sample are its runs or lanes, which are read one after the other.
"""

from __future__ import annotations

import csv
import io
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from oclgenomics.app.streams import printable
from oclgenomics.errors import InputError
from oclgenomics.io.text_file import read_text

MAX_BYTES = 1 << 26
SAMPLE, INPUT, MATES = "sample", "input", ("fastq_1", "fastq_2")
BYTE_ORDER_MARK = "\ufeff"
NO_UTF8 = "\ufffd"  # in the place of bytes that are none
SHOWN_LINES = 5  # with further errors, that a message lists


@dataclass(frozen=True)
class Sample:
    """A sample of a sheet.

    Attributes
    ----------
    name : str
        Fit to begin the names of files.
    rows : tuple of tuple of str
        Its files, row by row: in each one file, or in each two files of mates.
    line : int
        Of the sheet, where it comes first.
    """

    name: str
    rows: tuple[tuple[str, ...], ...]
    line: int

    @property
    def paired(self) -> bool:
        """Whether its files are of mates, two and two."""
        return len(self.rows[0]) > 1

    @property
    def files(self) -> list[str]:
        """All files, in the order in which they are read."""
        return [name for row in self.rows for name in row]


@dataclass(frozen=True)
class _Row:
    line: int
    sample: str
    files: tuple[str, ...]


def read_sheet(path: str | os.PathLike[str], *, mates: bool = True, folders: bool = False) -> list[Sample]:
    """Read a sample sheet.

    Fields are separated by commas or, if the header has tabs, by tabs, and may be quoted. Files are named as in a
    command: relative to the working folder.

    Parameters
    ----------
    path : path
        Uncompressed or compressed; "-" is standard input.
    mates : bool
        Columns `fastq_1` and `fastq_2` may stand in the place of `input`.
    folders : bool
        An input may be a folder.

    Returns
    -------
    list of Sample
        At least one, in the order in which they come first.

    Raises
    ------
    InputError
        The sheet cannot be read, lacks a column or names no sample; or a row has no sample or no file, or a name that
        no file can have, or a file that is not there or named before, or is paired where another one of its sample is
        not. It is about the first such line, and lists the others.
    """
    text, name = read_text(path, MAX_BYTES)
    lines = _fields_of(text.removeprefix(BYTE_ORDER_MARK), name)
    header = next(lines, None)
    if header is None:
        raise InputError(f"is empty; {_wanted(mates)}", source=name)
    places = _columns(header[1], mates, name, header[0])
    faults: dict[int, str] = {}
    rows: list[_Row] = []
    for line, fields in lines:
        values = {column: fields[place] if place < len(fields) else "" for column, place in places.items()}
        row = _Row(line, values[SAMPLE], tuple(value for column, value in values.items() if column != SAMPLE and value))
        trouble = _row_trouble(row, values, len(fields), len(header[1])) or _file_trouble(row, folders, os.fspath(path))
        if trouble:
            faults[line] = trouble
        rows.append(row)
    if not rows:
        raise InputError("names no sample: there is nothing below the header", source=name)
    samples = list(_joined(rows, faults))
    if faults:
        first, *others = sorted(faults)
        raise InputError(faults[first] + _also(others), source=name, line=first)
    return samples


def _wanted(mates: bool) -> str:
    either = f"columns {SAMPLE},{','.join(MATES)} or {SAMPLE},{INPUT}"
    return f"the first line has to name the {either if mates else f'columns {SAMPLE},{INPUT}'}"


def _fields_of(text: str, name: str) -> Iterator[tuple[int, list[str]]]:
    """The fields of each line that has any, and its number; of a quoted field with line breaks that of the first."""
    if NO_UTF8 in text:
        line = text[: text.index(NO_UTF8)].count("\n") + 1
        raise InputError("is not UTF-8; save the sheet as CSV in UTF-8", source=name, line=line)
    first = next((line for line in text.splitlines() if line.strip()), "")
    table = csv.reader(io.StringIO(text, newline=None), delimiter="\t" if "\t" in first else ",", strict=True)
    before = 0
    while True:
        try:
            fields = [field.strip() for field in next(table)]
        except StopIteration:
            return
        except csv.Error as error:
            told = f"is no CSV ({error}); a field with quotes has to begin and end with one, and has two for one"
            raise InputError(told, source=name, line=before + 1) from error
        if any(fields):
            yield before + 1, fields
        before = table.line_num


def _columns(header: Sequence[str], mates: bool, name: str, line: int) -> dict[str, int]:
    """The place of each column that is read."""
    names = [field.lower() for field in header]
    if len(header) == 1 and ";" in header[0]:
        raise InputError("has semicolons between its fields; save it with commas or tabs", source=name, line=line)
    known = (INPUT, *MATES) if mates else (INPUT,)
    found = {column: names.index(column) for column in (SAMPLE, *known) if column in names}
    for column in found:
        if names.count(column) > 1:
            told = f"has the column {column} {names.count(column)} times; keep one"
            raise InputError(told, source=name, line=line)
    if SAMPLE not in found:
        raise InputError(f"has no column {SAMPLE}; {_wanted(mates)}", source=name, line=line)
    if INPUT in found and len(found) > 2:
        other = next(column for column in MATES if column in found)
        raise InputError(f"has columns {INPUT} and {other}; keep one of them", source=name, line=line)
    if INPUT not in found and MATES[0] not in found:
        raise InputError(
            f"has no column {INPUT}{f' or {MATES[0]}' if mates else ''}; {_wanted(mates)}", source=name, line=line
        )
    return found


def _row_trouble(row: _Row, values: dict[str, str], fields: int, columns: int) -> str:
    """What is wrong with a row by itself, or ""."""
    if fields > columns:
        return f"has {fields} fields, and the header {columns}; quote a field with a comma in it"
    if not row.sample:
        return "has no name of a sample"
    if row.sample.startswith(".") or not row.sample.isprintable() or {"/", "\\"} & {*row.sample}:
        return (
            f"sample {row.sample!r}: outputs cannot have this name; take one without slashes and control characters, "
            "and without a dot in front"
        )
    if not row.files:
        return f"sample {row.sample} has no file"
    if values.get(MATES[1]) and not values.get(MATES[0]):
        return f"sample {row.sample} has a {MATES[1]} without a {MATES[0]}"
    return ""


def _file_trouble(row: _Row, folders: bool, sheet: str) -> str:
    """What is wrong with the files of a row, or ""."""
    for file in row.files:
        if printable(file) != file:
            return f"{file!r} has a control character in it, such as a line break; look for a quote that is too much"
        try:
            kind = os.stat(file).st_mode
        except (OSError, ValueError):
            return _missing(file, sheet)
        if stat.S_ISDIR(kind) and not folders:
            return f"{file} is a folder; name a file"
        if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
            return f"{file} is a pipe or a device, which cannot be read again; name a file"
    if len(row.files) > 1 and os.path.realpath(row.files[0]) == os.path.realpath(row.files[1]):
        return f"{row.files[0]} is given for both mates; name the second mates' file as {MATES[1]}"
    return ""


def _missing(file: str, sheet: str) -> str:
    if file == "-":
        return "standard input cannot be a sample's; name a file"
    if "://" in file:
        return f"{file} is not on this machine; download it, and name the file"
    told = f"there is no file {file}"
    if sheet != "-" and os.path.exists(os.path.join(os.path.dirname(sheet), file)):
        told += " in the working folder, but in the sheet's; run the command there, or name whole paths"
    return told


def _joined(rows: Sequence[_Row], faults: dict[int, str]) -> Iterator[Sample]:
    """The samples that rows make; what is wrong with rows together is noted in `faults`."""
    together: dict[str, list[_Row]] = {}
    for row in rows:
        if row.line not in faults:
            together.setdefault(row.sample, []).append(row)
    for name, its in together.items():
        first, lines = its[0], dict[str, int]()
        for row in its:
            if len(row.files) != len(first.files):
                paired, single = (row, first) if len(row.files) > 1 else (first, row)
                faults[row.line] = (
                    f"sample {name} has mates in line {paired.line} and none in line {single.line}; give them names of "
                    "their own"
                )
                continue
            for file in row.files:
                before = lines.setdefault(os.path.realpath(file), row.line)
                if before != row.line:
                    faults[row.line] = f"sample {name} has {file} in line {before} already; name each file once"
        yield Sample(name, tuple(row.files for row in its), first.line)


def _also(lines: Sequence[int]) -> str:
    """The end of a message, that lists further lines with errors."""
    if not lines:
        return ""
    listed = ", ".join(map(str, lines[:SHOWN_LINES])) + (", ..." if len(lines) > SHOWN_LINES else "")
    return f" (there are errors in line{'s' if len(lines) > 1 else ''} {listed}, too)"
