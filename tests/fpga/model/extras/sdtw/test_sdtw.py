"""The systolic array: its scores, its cycles against a machine that is stepped, the Verilog, and published hardware."""

from __future__ import annotations

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from helpers import stream_oracle
from helpers.fpga_command import fpga
from helpers.shared_builds import alone_in, shared_folder
from hypothesis import given, settings, strategies as st

from hls_model.boards import Amount, find_board
from hls_model.choices import ASIC
from hls_model.errors import ModelError
from hls_model.extras.sdtw import SystolicArray, time_read, twin
from hls_model.extras.sdtw.design import CROSSING_CYCLES
from hls_model.extras.sdtw.resources import (
    PE_LUTS,
    PE_SOURCE,
    array_resources,
    check_fits,
    largest_array,
    largest_arrays,
    pe_luts,
    placed,
)
from hls_model.extras.sdtw.timing import RTL_RUNS, Stage, _flows, compared, pass_cycles, time_stages
from hls_model.extras.sdtw.twin import scores
from hls_model.paper.published import evidence
from oclgenomics.sdtw import AlignOptions
from oclgenomics.sdtw.reference import last_row

LEVELS = st.lists(st.integers(0, 127), min_size=1, max_size=30).map(lambda given: np.array(given, np.int64))

needs_verilator = pytest.mark.skipif(shutil.which("verilator") is None, reason="verilator is not installed")
CIRCUITS = [
    {"pes": 4, "score_bits": 9},
    {"pes": 5, "stages": 2, "load_stages": 2, "crossings": 2, "crossing_cycles": 1},
]


@st.composite
def arrays(draw: st.DrawFn) -> SystolicArray:
    board, widths, most, borders = draw(st.sampled_from([("zcu102", (32, 128), 3, 0), ("u250", (32, 128, 512), 2, 3)]))
    return SystolicArray(
        board=board,
        pes=draw(st.integers(1, 12)),
        clock_mhz=draw(st.sampled_from([50.0, 250.0, 500.0])),
        stages=draw(st.integers(1, 3)),
        load_stages=draw(st.integers(1, 2)),
        reference=draw(st.sampled_from(["chip", "memory"])),
        row=draw(st.sampled_from(["chip", "memory"])),
        port_bits=draw(st.sampled_from(widths)),
        burst_length=draw(st.sampled_from([1, 2, 4, 8, 16])),
        outstanding=draw(st.integers(1, 4)),
        fifo_beats=draw(st.integers(2, 8)),
        latency_ns=draw(st.sampled_from([0.0, 10.0, 400.0])),
        efficiency=draw(st.sampled_from([0.0, 0.05, 1.0])),
        arrays=draw(st.integers(1, most)),
        crossings=draw(st.integers(0, borders)),
        crossing_cycles=draw(st.integers(0, 4)),
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
    registers = sum([array.stages] * array.pes + [array.crossing_cycles] * array.crossings)
    while done < columns:
        inside = [(place + 1, column) for place, column in inside]
        done += sum(place == registers for place, _ in inside)
        inside = [one for one in inside if one[0] < registers]
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
        through = array.pes * array.stages + array.crossings * array.crossing_cycles
        assert timed.busy == samples * array.load_stages + len(rows) * (columns + through)


@pytest.mark.parametrize(("pes", "columns", "loaded", "first", "last", "first_out", "last_out"), RTL_RUNS)
def test_cycles_are_those_of_squigglefilters_circuit(
    pes: int, columns: int, loaded: int, first: int, last: int, first_out: int, last_out: int
) -> None:
    timed = time_read(SystolicArray(pes=pes, load_stages=2), columns, pes)
    assert timed.load == loaded + 1
    assert timed.stream == last - first + 1
    assert timed.drain == last_out - last + 1 == first_out - first + 1


@pytest.fixture(scope="module", params=CIRCUITS, ids=lambda changes: f"{changes['pes']}")
def circuit(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[SystolicArray, Path]:
    array = SystolicArray(**request.param)
    folder = shared_folder(tmp_path_factory, "sdtw")
    with alone_in(folder):
        return array, twin.build(array, folder)


def there(array: SystolicArray, columns: int, samples: int) -> list[list[int]]:
    """Cycles from which each pass's columns are there, as the engine has them come from memory."""
    passes = array.passes(samples)
    return [stream_oracle.issues(_flows(array, kept=number > 0), 1, columns, 1) for number in range(len(passes))]


@needs_verilator
@pytest.mark.parametrize("seed", range(12))
def test_the_verilog_has_the_scores_and_cycles_of_the_model(circuit: tuple[SystolicArray, Path], seed: int) -> None:
    array, bench = circuit
    rng = np.random.default_rng(seed)
    query, reference = (rng.integers(0, 256, rng.integers(1, most)) for most in (4 * array.pes, 120))
    score, row = scores(array, query, reference)
    timed = time_read(array, len(reference), len(query))
    passes = twin.run(bench, array, query, reference)
    assert passes[-1].score == score
    assert passes[-1].row.tolist() == row.tolist()
    assert sum(one.cycles for one in passes) == timed.busy
    slow = dataclasses.replace(array, reference="memory", latency_ns=400.0, efficiency=0.01)
    late = twin.run(bench, array, query, reference, there(slow, len(reference), len(query)))
    assert late[-1].row.tolist() == row.tolist()
    assert [one.cycles for one in late] == [
        pass_cycles(slow, len(reference), n, kept=False) for n in array.passes(len(query))
    ]
    assert sum(one.cycles for one in late) == time_read(slow, len(reference), len(query)).busy > timed.busy


@needs_verilator
def test_the_verilog_saturates_and_refuses_what_it_cannot_hold(circuit: tuple[SystolicArray, Path]) -> None:
    array, bench = circuit
    most = (1 << array.score_bits) - 1
    (*_, last) = twin.run(bench, array, np.full(12, 255), np.zeros(9, np.int64))
    assert last.row.tolist() == scores(array, np.full(12, 255), np.zeros(9, np.int64))[1].tolist()
    assert last.score == min(most, 11 * 255)
    with pytest.raises(ModelError, match=r"2,000 columns; the circuit takes 1 to 1,024"):
        twin.run(bench, array, np.zeros(3, np.int64), np.zeros(2_000, np.int64))


@needs_verilator
def test_the_verilog_is_clean() -> None:
    lint = ["verilator", "--lint-only", "-Wall", "--top-module", "sdtw_array", *map(str, twin.SOURCES)]
    for changes in ([], ["-GP=5", "-GLOAD_STAGES=2", "-GSTAGES=3", "-GSPAN=2", "-GCROSSING=2"]):
        done = subprocess.run([*lint, *changes], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


def test_published_figures_of_squigglefilter(capsys: pytest.CaptureFixture[str]) -> None:
    """2,000 PEs at 2.5 GHz over both strands of lambda: 40.8 us, and 23,364 reads/s of 107,000 cycles each."""
    array = SystolicArray(board=ASIC, clock_mhz=2_500.0, load_stages=2)
    timed = time_read(array, 97_004, 2_000)
    assert timed.busy == 97_004 + 4_000 + 2_000
    rows = compared()
    assert [row.kind for row in rows] == ["predicted", "calibrated", "restated", *["predicted"] * 3]
    assert [row.value for row in rows[:3]] == pytest.approx([timed.busy / 2.5e3, timed.busy + 4_040, timed.reads_per_s])
    assert [row.published for row in rows[:3]] == pytest.approx([40.8, 107_000, 23_364])
    assert pytest.approx(2.5e9 / 107_000, abs=1) == 23_364
    assert all(abs(row.deviation) < 0.011 for row in evidence(rows))
    assert all(row.deviation == 0 for row in rows[3:])
    assert fpga(["sdtw", "--published"]) == 0
    text = capsys.readouterr().out
    assert "6 numbers compared with theirs: 4 predicted, 1 calibrated, 1 restated" in text
    assert "41.2 (+1.0 %) p" in text
    assert fpga(["sdtw", "--published", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["compared"] == [row.record() for row in rows]


BANK = 19.2e9 * find_board("zcu102").efficiency  # bytes a second


def test_memory_bounds_arrays_that_share_a_bank() -> None:
    array = SystolicArray(
        board="zcu102", pes=100, clock_mhz=775.0, reference="memory", sample_bits=32, score_bits=32, outstanding=64,
        fifo_beats=2_000, burst_length=256,
    )  # fmt: skip
    alone = time_read(array, 50_000, 100)
    many = time_read(dataclasses.replace(array, arrays=7), 50_000, 100)
    assert alone.stall < 1_000
    asked = 7 * 4 * 775e6  # bytes a second
    assert many.busy == pytest.approx(50_000 * asked / BANK, rel=0.02)
    assert many.samples_per_s == pytest.approx(100 * BANK / 4 / 50_000, rel=0.02)


def test_a_row_in_memory_is_read_and_written() -> None:
    array = SystolicArray(
        board="zcu102",
        pes=100,
        clock_mhz=700.0,
        row="memory",
        score_bits=32,
        arrays=7,
        outstanding=64,
        burst_length=256,
    )
    timed = time_read(array, 50_000, 200)
    second = 50_000 * (7 * 2 * 4 * 700e6) / BANK  # four bytes each way a column, of 7 arrays
    assert timed.stall == pytest.approx(second - 50_000, rel=0.02)


def test_ranges_are_those_of_memory_and_borders() -> None:
    array = SystolicArray(reference="memory", crossings=2, clock_mhz=500.0)
    fast, likely, slow = array.within_bounds()
    board = find_board("u250")
    assert likely == array
    assert (fast.latency_ns, slow.latency_ns) == (board.latency_ns.low, board.latency_ns.high)
    assert (fast.efficiency, slow.efficiency) == (board.efficiency_range.high, board.efficiency_range.low)
    assert (fast.crossing_cycles, slow.crossing_cycles) == (CROSSING_CYCLES.low, CROSSING_CYCLES.high)
    times = [time_read(one, 500, 10).busy for one in (fast, likely, slow)]
    assert times[0] < times[1] < times[2]
    given_ = dataclasses.replace(array, latency_ns=200.0, efficiency=0.7, crossing_cycles=3)
    assert given_.within_bounds() == (given_,) * 3
    assert SystolicArray().within_bounds() == (SystolicArray(),) * 3
    assert likely.latency == dataclasses.replace(array, latency_ns=board.latency_ns.likely).latency == 115


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
    assert (more.lut - one.lut, more.ff - one.ff) == (61, (8 + 1) + (8 + 16 + 1) + 16)
    by_hand = array_resources(array, 5_000, 200, by_hand=True).total
    assert one.lut - by_hand.lut == 100 * (61 - (16 + 16 + 8 + 16))
    most = largest_array(array, 5_000, 200)
    assert not array_resources(dataclasses.replace(array, pes=most), 5_000, 200).short
    limit = f"zcu102 has 274,080, of which 191,856 can be placed .70 %.; the largest array that fits has {most:,} PEs"
    with pytest.raises(ModelError, match=limit):
        check_fits(dataclasses.replace(array, pes=most + 1), 5_000, 200)
    assert largest_arrays(array, 5_000, 200).low == most < largest_arrays(array, 5_000, 200).high
    with pytest.raises(ModelError, match=r"BRAM18K; zcu102 has 1,824, of which 1,459 .*; stream it from memory"):
        check_fits(array, 10_000_000, 200)


def test_the_synthesised_pe_is_what_is_counted() -> None:
    """Flip-flops follow from the registers of `sdtw_pe.v`; LUTs of widths that were not synthesised lie on a plane."""
    assert PE_SOURCE.startswith("Yosys ")
    assert len(PE_LUTS) == 8
    for (w, s), luts in PE_LUTS.items():
        array = SystolicArray(sample_bits=w, score_bits=s)
        assert array_resources(array, 100, 100).parts[0].each == Amount(ff=(w + 1) + (w + s + 1) + s, lut=luts)
        assert pe_luts(array).likely == luts
        assert 0 <= 4 * w + 2 * s - 3 - luts <= 6
    staged = SystolicArray(stages=2, load_stages=2)  # 84 FF as synthesised
    assert array_resources(staged, 100, 100).parts[0].each.ff == 84
    assert pe_luts(SystolicArray()).record() == {"low": 56, "likely": 61, "high": 61}


@pytest.mark.parametrize(
    ("board", "pes", "arrays", "crossings"),
    [("u250", 2_000, 1, 0), ("u250", 3_900, 1, 0), ("u250", 6_000, 1, 1), ("u250", 15_000, 1, 3), ("u200", 6_000, 1, 2),
     ("u250", 3_000, 5, 1), ("zcu102", 3_000, 1, 0)],
)  # fmt: skip
def test_a_chain_crosses_the_borders_of_the_regions_that_it_fills(
    board: str, pes: int, arrays: int, crossings: int
) -> None:
    array = SystolicArray(board=board, pes=pes, arrays=arrays)
    found = placed(array, 97_004, 2_000)
    assert found.crossings == crossings
    resources = check_fits(found, 97_004, 2_000)
    regions = resources.placement.regions
    assert sum(one.lanes for one in regions) == pes * arrays
    assert all(one.used.within(one.room) for one in regions)
    homes = [index for index, one in enumerate(regions) for _ in range(one.lanes)]
    steps = [sum(homes[pe + 1] - homes[pe] for pe in range(k * pes, (k + 1) * pes - 1)) for k in range(arrays)]
    assert max(steps) == resources.crossings == crossings
    one, other = (time_read(each, 97_004, 2_000).busy for each in (array, found))
    assert other - one == crossings * CROSSING_CYCLES.likely * -(-2_000 // pes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pes": 0}, "pes is 0; it has to be a whole number"),
        ({"clock_mhz": 0.0}, "clock_mhz is 0.0; it has to lie between"),
        ({"clock_mhz": 501.0}, r"clock_mhz is 501; u250 allows 500 MHz at most .*UG1393"),
        ({"clock_mhz": 20_000.0, "board": ASIC}, "clock_mhz is 20000.0; it has to lie between"),
        ({"board": ASIC, "reference": "memory"}, "asic has no external memory"),
        ({"arrays": 5, "reference": "memory"}, "arrays x memory ports is 5 x 1; u250 has 4 ports"),
        ({"arrays": 3, "reference": "memory", "row": "memory"}, "arrays x memory ports is 3 x 2; u250 has 4 ports"),
        ({"board": "zcu102", "port_bits": 512}, "port_bits is 512; zcu102 has 128"),
        ({"burst_length": 24}, "burst_length is 24; bursts of 1,536 bytes would cross"),
        ({"burst_length": 512, "port_bits": 32}, "burst_length is 512; an AXI burst has 256 beats at most"),
        ({"latency_ns": 20_000.0}, "latency_ns is 20000.0; it has to lie between 0 and 10,000"),
        ({"latency_ns": float("nan")}, "latency_ns is nan"),
        ({"efficiency": 1.1}, "efficiency is 1.1; it has to lie between 0 and 1"),
        ({"crossings": 4}, "crossings is 4; u250 has 3 borders"),
        ({"score_bits": 4}, "score_bits is 4; a score has to hold the 8 bits"),
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
    assert fpga([*words, "--set", "arrays=2", "--set", "reference=memory", "--json", "--plot", str(picture)]) == 0
    record = json.loads(capsys.readouterr().out)
    array = SystolicArray(pes=500, arrays=2, reference="memory")
    first, second = (time_read(array, 3_000, samples, before=before) for samples, before in ((500, 0), (1_500, 500)))
    assert record["reads_per_s"] == 2 * 250e6 / (first.period + 0.5 * second.period)
    assert [stage["period_cycles"] for stage in record["stages"]] == [first.period, second.period]
    assert record["resources"] == vars(array_resources(array, 3_000, 1_500, kept=True).total)
    assert record["largest_pes"] == largest_arrays(array, 3_000, 1_500, kept=True).record()
    assert sum(region["pes"] for region in record["regions"]) == 1_000
    assert set(record["kinds"]) == {"predicted", "calibrated", "synthesised", "assumed"}
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert fpga(words) == 0
    assert f"{record['stages'][0]['cycles']['load']:,}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "speed=3"], "speed is no parameter; there are board, pes"),
        (["--set", "pes=3"], "--set pes=3: give --pes"),
        (["--set", "crossings=1"], "--set crossings=1: it follows from where the PEs go"),
        (["--published", "--plot", "a.png"], "--published has no figure"),
        (["--set", "clock_mhz=fast"], "clock_mhz is 'fast'; it has to be like 250.0"),
        (["--pes", "200000"], "the largest array that fits has"),
        (["--stages", "10:0.5,20:0.9"], "samples have to grow"),
    ],
)
def test_wrong_words_give_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["sdtw", *words]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_command_gives_ranges_where_memory_matters(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sdtw", "--pes", "10", "--samples", "10", "--columns", "50", "--set", "reference=memory"]
    assert fpga([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    array = SystolicArray(pes=10, reference="memory")
    slow, fast = (
        time_read(dataclasses.replace(array, latency_ns=latency, efficiency=efficiency), 50, 10)
        for latency, efficiency in ((450.0, 0.6), (150.0, 0.94))
    )
    rates, seconds = record["ranges"]["reads_per_s"], record["stages"][0]["latency_range"]
    assert (rates["low"], rates["high"]) == (slow.reads_per_s, fast.reads_per_s)
    assert (seconds["low"], seconds["high"]) == (fast.latency, slow.latency)
    assert rates["low"] < rates["likely"] == record["reads_per_s"] < rates["high"]
    assert fpga([*words, "--set", "latency_ns=200", "--set", "efficiency=0.7"]) == 0
    text = capsys.readouterr().out
    assert "latency of 200 ns, as set; efficiency of 0.7 of the memory's peak, as set" in text
    assert " reads/s, " in text


def test_an_asic_makes_no_claim_about_a_board(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    words = ["sdtw", "--board", "asic", "--set", "clock_mhz=2500", "--plot", str(tmp_path / "asic.png")]
    assert fpga(words) == 0
    text = capsys.readouterr().out
    assert "an ASIC, whose clock is not checked and whose area is not counted" in text
    assert "LUT" not in text
    assert fpga([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert not {"resources", "share", "regions", "largest_pes"} & set(record)


def test_a_chain_over_borders_and_a_bound_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["sdtw", "--pes", "6000", "--set", "reference=memory", "--level", "L0"]) == 0
    text = capsys.readouterr().out
    assert "the chain crosses a border between regions: each pass is 2 cycles (0-4) longer" in text
    assert "predicted: cycles, a lower bound: the closed form" in text
    assert "latency of 230 ns (150-450) (Vitis_Accel_Examples" in text
    assert "2 cycles (0-4) a border" in text
