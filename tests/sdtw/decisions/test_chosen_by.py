"""Sketches of the reads that chose thresholds: counted where all are kept, else estimated, in any order."""

from __future__ import annotations

import pytest

from oclgenomics.errors import InputError, ParameterError
from oclgenomics.sdtw import AlignOptions
from oclgenomics.sdtw.decisions.chosen_by import CHOSEN_BY, MAX_HASHES, ChosenBy
from oclgenomics.sdtw.decisions.thresholds import Stage, Thresholds
from oclgenomics.sdtw.formats.thresholds import read_thresholds, write_thresholds

NAMES = [f"read-{number}" for number in range(100)]


def test_reads_are_counted_each_once_and_in_any_order() -> None:
    sketch = ChosenBy.of(NAMES + NAMES[:7])
    assert sketch == ChosenBy.of(NAMES[::-1]) == ChosenBy.from_made({CHOSEN_BY: sketch.record()})
    found = sketch.shared([*NAMES[90:], *NAMES[95:], "another", "one more"])
    assert (found.shared, found.reads, found.exact) == (10, 12, True)
    assert sketch.shared(["another"]).shared == 0
    assert ChosenBy.from_made({}) is None


def test_of_many_reads_the_share_is_estimated() -> None:
    names = [f"read-{number}" for number in range(3 * MAX_HASHES)]
    sketch = ChosenBy.of(names)
    assert (sketch.reads, len(sketch.hashes)) == (len(names), MAX_HASHES)
    found = sketch.shared([*names[:2000], *(f"other-{number}" for number in range(2000))])
    assert (found.reads, found.exact) == (4000, False)
    assert found.shared == pytest.approx(2000, abs=200)
    assert sketch.shared(names).shared == len(names)
    assert any(sketch.shared([name]).shared is None for name in names[:100])
    assert str(sketch.shared(names[:1000])).startswith("about 1,000 of 1,000 of these reads")


@pytest.mark.parametrize(
    "made",
    [
        *(3, {}, {"reads": 1}, {"reads": 0, "hashes": ""}, {"reads": 1, "hashes": "00"}),
        *({"reads": 1, "hashes": "x" * 16}, {"reads": True, "hashes": "0" * 16}),
        *({"reads": 2, "hashes": "0" * 16}, {"reads": 2, "hashes": "0" * 32}),
    ],
)
def test_what_is_no_sketch_is_refused(tmp_path, made) -> None:
    with pytest.raises(ParameterError, match="is no sketch of reads"):
        ChosenBy.from_made({CHOSEN_BY: made})
    write_thresholds(tmp_path / "t", Thresholds((Stage(100, 500),), AlignOptions(), made={CHOSEN_BY: made}))
    with pytest.raises(InputError, match=r"t: chosen_by.*is no sketch of reads"):
        read_thresholds(tmp_path / "t")
