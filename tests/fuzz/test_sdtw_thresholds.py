"""Files of thresholds that are damaged: refused in one line, or read as what they say."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from helpers.fuzzing import SECONDS, inputs, limited

from oclgenomics.errors import InputError
from oclgenomics.sdtw.decisions.stages import Stage, parse_stages
from oclgenomics.sdtw.decisions.thresholds import Thresholds, read_thresholds, write_thresholds
from oclgenomics.sdtw.options import CRESCENT, AlignOptions

pytestmark = pytest.mark.fuzz

SAMPLES = {
    "one": Thresholds(
        parse_stages("1000:5500,2000:-3.5..1e4"), AlignOptions(bits=7), "difference", ("a", "b"), {"x": [1]}
    ),
    "two": Thresholds((Stage(500, 1e300),), CRESCENT),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_thresholds(tmp_path: Path, name: str) -> None:
    path = tmp_path / "x"
    refused = 0
    for number, data in inputs(texts(), name, SECONDS / 4):
        path.write_bytes(data)
        with limited(data, f"thresholds {name}, number {number}"):
            found = read(path)
            if found is None:
                refused += 1
            else:
                write_thresholds(path, found)
                assert read_thresholds(path) == replace(found, options=found.options.resolved())
    assert refused


def read(path: Path) -> Thresholds | None:
    """Read a file; None if it is refused, which is in one line."""
    try:
        return read_thresholds(path)
    except InputError as error:
        message = str(error)
    assert "\n" not in message
    return None


def texts() -> dict[str, bytes]:
    """The files of all samples."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x"
        found = {}
        for name, thresholds in SAMPLES.items():
            write_thresholds(path, thresholds)
            found[name] = path.read_bytes()
    return found
