"""The systolic array: its scores, its cycles against a machine that is stepped, and against published hardware."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from helpers import stream_oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from hls_model.boards import find_board
from hls_model.cli import main
from hls_model.errors import ModelError
from hls_model.sdtw import SystolicArray, time_read
from hls_model.sdtw.functional import scores
from hls_model.sdtw.resources import array_resources, check_fits, largest_array
from hls_model.sdtw.timing import Stage, _flows, pass_cycles, time_stages
from oclgenomics.sdtw import AlignOptions
from oclgenomics.sdtw.reference import last_row

LEVELS = st.lists(st.integers(0, 127), min_size=1, max_size=30).map(lambda given: np.array(given, np.int64))

# SquiggleFilter, github.com/TimD1/SquiggleFilter at 11ddd72, sDTW.sv, PE.sv and last_col.sv in Verilator 5.006: (PEs,
# columns, cycle in which the last PE takes its sample, cycles of the first and the last column in PE 0 and in the last
# PE). To be compiled, sDTW.sv lost connections to a port that PE has not, and the reset of a wire.
SQUIGGLEFILTER = [(8, 40, 15, 1, 40, 8, 47), (16, 100, 31, 1, 100, 16, 115), (32, 200, 63, 1, 200, 32, 231)]


@st.composite
def arrays(draw: st.DrawFn) -> SystolicArray:
    return SystolicArray(
        board=draw(st.sampled_from(["zcu102", "u250"])),
        pes=draw(st.integers(1, 12)),
        clock_mhz=draw(st.sampled_from([50.0, 250.0, 2500.0])),
        stages=draw(st.integers(1, 3)),
        load_stages=draw(st.integers(1, 2)),
        reference=draw(st.sampled_from(["chip", "memory"])),
        row=draw(st.sampled_from(["chip", "memory"])),
        port_bits=draw(st.sampled_from([32, 128, 512])),
        burst_length=draw(st.integers(1, 16)),
        outstanding=draw(st.integers(1, 4)),
        fifo_beats=draw(st.integers(2, 8)),
        arrays=draw(st.integers(1, 8)),
    )


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 9), LEVELS, LEVELS)
def test_scores_are_those_of_the_software(pes: int, query: np.ndarray, reference: np.ndarray) -> None:
    score, row = scores(SystolicArray(pes=pes), query, reference)
    expected = last_row(query, reference, AlignOptions(arithmetic="uint16", cost="absolute", bonus="none"))
    assert row.tolist() == expected.tolist()
    assert score == expected.min()


def stepped(array: SystolicArray, columns: int, rows: int, *, kept: bool) -> int:
    """Step through a pass: columns enter when the memory's machine issues them, and move on PE by PE."""
    flows = _flows(array, kept=kept)
    ready = rows * array.load_stages
    enters = stream_oracle.issues(flows, 1, columns, 1, ready) if flows else list(range(ready, ready + columns))
    waiting, inside, done, now = set(enters), [], 0, 0
    while done < columns:
        inside = [(place + 1, column) for place, column in inside]
        done += sum(place == rows * array.stages for place, _ in inside)
        inside = [one for one in inside if one[0] < rows * array.stages]
        if now in waiting:
            inside.append((0, now))
        now += 1
    return now


@settings(max_examples=100, deadline=None)
@given(arrays(), st.integers(1, 150), st.integers(1, 30))
def test_cycles_are_those_of_the_stepped_array(array: SystolicArray, columns: int, samples: int) -> None:
    rows = array.passes(samples)
    assert sum(rows) == samples
    passes = [stepped(array, columns, n, kept=number > 0) for number, n in enumerate(rows)]
    assert [pass_cycles(array, columns, n, kept=number > 0) for number, n in enumerate(rows)] == passes
    timed, bound = time_read(array, columns, samples), time_read(array, columns, samples, "L0")
    assert timed.busy == sum(passes)
    assert bound.busy <= timed.busy
    if array.reference == "chip" and (array.row == "chip" or len(rows) == 1):
        assert bound == timed
        assert timed.busy == samples * (array.load_stages + array.stages) + len(rows) * columns


@pytest.mark.parametrize(("pes", "columns", "loaded", "first", "last", "first_out", "last_out"), SQUIGGLEFILTER)
def test_cycles_are_those_of_squigglefilters_circuit(
    pes: int, columns: int, loaded: int, first: int, last: int, first_out: int, last_out: int
) -> None:
    timed = time_read(SystolicArray(pes=pes, load_stages=2), columns, pes)
    assert timed.load == loaded + 1
    assert timed.stream == last - first + 1
    assert timed.drain == last_out - last + 1 == first_out - first + 1


def test_published_figures_of_squigglefilter() -> None:
    """2,000 PEs at 2.5 GHz over both strands of lambda: 40.8 us, and 23,364 reads/s of 107,000 cycles each."""
    array = SystolicArray(clock_mhz=2_500.0, load_stages=2)
    timed = time_read(array, 97_004, 2_000)
    assert timed.busy == 97_004 + 4_000 + 2_000
    assert timed.busy / 2.5e9 == pytest.approx(40.8e-6, rel=0.011)
    assert timed.normalise + timed.busy == pytest.approx(107_000, rel=0.001)
    assert timed.reads_per_s == pytest.approx(23_364, rel=0.04)
    assert timed.cells_per_s == pytest.approx(4.5e12, rel=0.06)


def test_memory_bounds_arrays_that_share_a_bank() -> None:
    array = SystolicArray(board="zcu102", pes=100, clock_mhz=300.0, reference="memory", port_bits=128)
    alone = time_read(array, 50_000, 100)
    many = time_read(dataclasses.replace(array, arrays=100), 50_000, 100)
    assert alone.stall == 0
    given_, asked = 19.2e9 * find_board("zcu102").efficiency, 100 * 300e6  # bytes a second
    assert many.busy == pytest.approx(50_000 * asked / given_, rel=0.02)
    assert many.samples_per_s == pytest.approx(100 * given_ / 50_000, rel=0.02)


def test_a_row_in_memory_is_read_and_written() -> None:
    array = SystolicArray(board="zcu102", pes=100, clock_mhz=300.0, row="memory", port_bits=128, arrays=50)
    timed = time_read(array, 50_000, 200)
    second = (
        50_000 * (50 * 2 * 2 * 300e6) / (19.2e9 * find_board("zcu102").efficiency)
    )  # two bytes each way a column, of 50 arrays
    assert timed.stall == pytest.approx(second - 50_000, rel=0.02)


def test_stages_go_on_from_the_last_row() -> None:
    array = SystolicArray(pes=1_000)
    (_, one), (_, two) = time_stages(array, 10_000, [Stage(1_000, 1.0), Stage(3_000, 0.25)])
    assert (one.samples, two.samples) == (1_000, 2_000)
    assert two.busy == 2 * one.busy
    with pytest.raises(ModelError, match="samples have to grow"):
        time_stages(array, 10_000, [Stage(1_000, 1.0), Stage(1_000, 0.5)])


def test_resources_count_every_part_and_refuse_what_is_too_large() -> None:
    array = SystolicArray(board="zcu102", pes=100)
    one, more = (array_resources(dataclasses.replace(array, pes=pes), 5_000, 200).total for pes in (100, 101))
    assert (more.lut - one.lut, more.ff - one.ff) == (16 + 16 + 8 + 16, 24 + 32 + 1)
    most = largest_array(array, 5_000, 200)
    assert not array_resources(dataclasses.replace(array, pes=most), 5_000, 200).short
    with pytest.raises(ModelError, match=f"zcu102 has 274,080; the largest array that fits has {most:,} PEs"):
        check_fits(dataclasses.replace(array, pes=most + 1), 5_000, 200)
    with pytest.raises(ModelError, match="BRAM18K and zcu102 has 1,824; stream it from memory"):
        check_fits(array, 10_000_000, 200)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pes": 0}, "pes is 0; it has to be a whole number"),
        ({"clock_mhz": 0.0}, "clock_mhz is 0.0; it has to lie between"),
        ({"reference": "disk"}, "reference is 'disk'; choose one of chip, memory"),
        ({"port_bits": 48}, "port_bits is 48; AXI"),
        ({"score_bits": 64}, "score_bits is 64; it has to be 2 to 32"),
        ({"board": "u9"}, "board 'u9' is not known"),
    ],
)
def test_bad_designs_are_refused(changes: dict[str, object], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        SystolicArray(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(("columns", "samples", "level"), [(0, 5, "L1"), (5, 0, "L1"), (10**9, 5, "L1"), (5, 5, "L2")])
def test_bad_reads_are_refused(columns: int, samples: int, level: str) -> None:
    with pytest.raises(ModelError):
        time_read(SystolicArray(), columns, samples, level)  # type: ignore[arg-type]


def test_the_command_says_what_the_model_says(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    picture = tmp_path / "array.png"
    words = ["sdtw", "--pes", "500", "--stages", "500:1,1500:0.5", "--columns", "3000"]
    assert main([*words, "--set", "arrays=2", "--set", "reference=memory", "--json", "--plot", str(picture)]) == 0
    record = json.loads(capsys.readouterr().out)
    array = SystolicArray(pes=500, arrays=2, reference="memory")
    first, second = (time_read(array, 3_000, samples, before=before) for samples, before in ((500, 0), (1_500, 500)))
    assert record["reads_per_s"] == 2 * 250e6 / (first.period + 0.5 * second.period)
    assert [stage["period_cycles"] for stage in record["stages"]] == [first.period, second.period]
    assert record["resources"] == vars(array_resources(array, 3_000, 1_500, kept=True).total)
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert main(words) == 0
    assert f"{record['stages'][0]['cycles']['load']:,}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "speed=3"], "speed is no parameter; there are board, pes"),
        (["--set", "pes=3"], "--set pes=3: give --pes"),
        (["--set", "clock_mhz=fast"], "clock_mhz is 'fast'; it has to be like 250.0"),
        (["--pes", "200000"], "the largest array that fits has"),
        (["--stages", "10:0.5,20:0.9"], "samples have to grow"),
    ],
)
def test_wrong_words_give_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sdtw", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
