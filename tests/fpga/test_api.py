"""`oclgenomics fpga run`: against the lane read one float32 operation at a time, and what it says of the scan."""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers.alignments import correlated_states, make_alignment, make_multiallelic, random_positions
from hypothesis import given, settings, strategies as st

from hls_model import Config, ModelError, load
from oclgenomics.app.run import Run
from oclgenomics.cli.main import main
from oclgenomics.errors import UsageError
from oclgenomics.fpga import RUN_COLUMNS, AlignmentRun, ScanRun, hardware, run_scan
from oclgenomics.fpga.hardware import Place, run_position
from oclgenomics.fpga.options import MATRICES
from oclgenomics.omega import ScanOptions, reference
from oclgenomics.omega.api import scan
from oclgenomics.omega.plan.windows import find_windows
from oclgenomics.omega.result import Scan
from oclgenomics.omega.sites.filters import prepare
from oclgenomics.variation import Alignment, ReadOptions

DATA = Path(__file__).parents[1] / "data" / "omega"
EDGE = DATA / "edge"
WINDOWS = ["--grid", "50", "--minwin", "100", "--maxwin", "50000"]
OPTIONS = ScanOptions(grid=50, minwin=100, maxwin=50_000)
F = np.float32

designs = st.builds(
    lambda lanes, times, **rest: load("u200").but(unroll=lanes * times, physical_lanes=lanes, **rest),
    st.sampled_from([1, 2, 3, 4, 8]),
    st.sampled_from([1, 2]),
    lane_map=st.sampled_from(["interleaved", "blocked"]),
    remainder=st.sampled_from(["software", "masked"]),
)
kinds = st.sampled_from(["complete", "missing", "unphased", "unphased missing"])


def fpga(*words: object) -> int:
    return main(["fpga", "run", *map(str, words)])


# The oracle: plain loops over float32 scalars.


def states_of(alignment: Alignment) -> tuple[np.ndarray, np.ndarray]:
    """States and where they are observed, (sites, haplotypes), read bit by bit."""

    def unpacked(words: np.ndarray) -> np.ndarray:
        return np.array(
            [
                [int(words[h // 32, s]) >> (h % 32) & 1 for h in range(alignment.haplotypes)]
                for s in range(words.shape[1])
            ]
        )

    ones = unpacked(alignment.bits)
    return ones, np.ones_like(ones) if alignment.valid is None else unpacked(alignment.valid)


def pair_value(x: list[int], y: list[int], ploidy: int, complete: bool) -> np.float32:
    """n r^2 of the states (or dosages; -1 is missing) of two sites, in the scan's order of operations."""
    both = [(a, b) for a, b in zip(x, y, strict=True) if a >= 0 and b >= 0]
    n, a, b = len(both), sum(a for a, _ in both), sum(b for _, b in both)
    spread_a = n * sum(a * a for a, _ in both) - a * a
    spread_b = n * sum(b * b for _, b in both) - b * b
    d = F(n * sum(a * b for a, b in both) - a * b)
    if not (spread_a and spread_b):
        return F(0)
    if complete:
        return F(F(F(d * F(1 / spread_a)) * F(d * F(1 / spread_b))) * F(ploidy * n))
    return F(F(F(d * d) * F(ploidy * n)) / F(F(spread_a) * F(spread_b)))


def pair_table(alignment: Alignment) -> list[list[np.float32]]:
    """Values of all pairs; the entry (s, t) of s < t."""
    ones, seen = states_of(alignment)
    ploidy = 2 if alignment.unphased else 1
    units = []
    for site, there in zip(ones, seen, strict=True):
        groups = range(0, len(site), ploidy)
        units.append([int(site[g : g + ploidy].sum()) if there[g : g + ploidy].all() else -1 for g in groups])
    count, complete = len(units), alignment.valid is None
    return [
        [pair_value(units[s], units[t], ploidy, complete) if s < t else F(0) for t in range(count)]
        for s in range(count)
    ]


def matrix_table(values: list[list[np.float32]], how: str) -> dict[tuple[int, int], np.float32]:
    """M by the recurrence, or from exact sums rounded once; keys are the first and the last site."""
    count = len(values)
    M = {(i, i): F(0) for i in range(count)}
    for away in range(1, count):
        for i in range(count - away):
            j = i + away
            if how == "exact":
                M[i, j] = F(math.fsum(float(values[s][t]) for s in range(i, j) for t in range(s + 1, j + 1)))
            elif away == 1:
                M[i, j] = values[i][j]
            else:
                M[i, j] = F(F(F(values[i][j] + M[i, j - 1]) + M[i + 1, j]) - M[i + 1, j - 1])
    return M


def lane_omega(ls: np.float32, rs: np.float32, ts: np.float32, k: int, m: int) -> np.float32:
    """Fig. 8, an operator at a time."""

    def flush(x: np.float32) -> np.float32:
        return F(math.copysign(0.0, x)) if abs(x) < F(2.0**-126) else F(x)

    with np.errstate(all="ignore"):
        above = flush(flush(ls + rs) / F(k * (k - 1) // 2 + m * (m - 1) // 2))
        below = flush(flush(flush(flush(ts - ls) - rs) / F(k * m)) + F(1e-5))
        return flush(above / below)


def lane_at(j: int, right: int, config: Config) -> int:
    """The lane of a right-side iteration; -1 is the remainder."""
    inside = right if config.remainder == "masked" else right // config.unroll * config.unroll
    if j >= inside:
        return -1
    if config.lane_map == "interleaved":
        return j % config.lanes
    short, longer = divmod(inside, config.lanes)
    return next(lane for lane in range(config.lanes) if j < (lane + 1) * short + min(lane + 1, longer))


def best_of_lanes(
    M: dict[tuple[int, int], np.float32], window: reference.Window, config: Config
) -> tuple[float, int, int, str]:
    """Omega, borders and finder of a position: running maxima of the lanes, and their merge."""
    maxima: dict[int, tuple[np.float32, int, int]] = {}
    right = window.last - window.inner_right + 1
    c = window.centre
    for i in range(window.inner_left, window.first - 1, -1):
        for number in range(right):
            j = window.inner_right + number
            omega = lane_omega(M[i, c], M[c + 1, j], M[i, j], c - i + 1, j - c)
            lane = lane_at(number, right, config)
            if not np.isnan(omega) and (lane not in maxima or omega > maxima[lane][0]):
                maxima[lane] = (omega, i, j)
    if not maxima:
        return 0.0, -1, -1, ""
    lane, (omega, i, j) = min(maxima.items(), key=lambda one: (-one[1][0], -one[1][1], one[1][2]))
    return (float(omega), i, j, "remainder" if lane < 0 else "lanes") if omega > 0 else (0.0, -1, -1, "")


def check_run(alignment: Alignment, options: ScanOptions, config: Config, how: str, engine: object) -> int:
    """Compare every position of a run with the oracle; how many have a window."""
    used = prepare(alignment).alignment
    (run,) = run_scan(alignment, options, config, matrix=how, engine=engine).alignments
    if used.sites < 4:
        assert len(run.omega) == 0
        return 0
    values = pair_table(used)
    M, exact = matrix_table(values, how), np.array(values, np.float64)
    exact += exact.T
    rows = run.records()
    at_all = reference.grid_positions(used.positions, options.grid, compat=False)
    found = 0
    for index, (row, at) in enumerate(zip(rows, at_all, strict=True)):
        window = reference.window_at(used.positions, at, options.minwin, options.maxwin, options.minsnps, compat=False)
        if window is None:
            assert row["hardware_omega"] is None
            assert run.omega[index] == 0
            continue
        found += 1
        omega, i, j, by = best_of_lanes(M, window, config)
        assert row["hardware_omega"] == omega
        if not omega:
            assert row["hardware_left"] is row["hardware_right"] is row["found_by"] is None
            continue
        assert (row["hardware_left"], row["hardware_right"]) == tuple(used.positions[[i, j]].tolist())
        assert row["found_by"] == by
        window_omega = reference.omega_of_window(exact, window.centre, i, j)
        assert row["window_omega"] == pytest.approx(window_omega, rel=1e-9)
        assert window_omega <= row["scan_omega"] * (1 + 1e-6)
    return found


@settings(max_examples=40)
@given(config=designs, kind=kinds, how=st.sampled_from(MATRICES), data=st.data())
def test_runs_are_the_oracles(config: Config, kind: str, how: str, data: st.DataObject, engine: object) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    sites, haplotypes = data.draw(st.integers(2, 26)), 2 * data.draw(st.integers(1, 20))
    states = correlated_states(rng, sites, haplotypes)
    observed = rng.random(states.shape) < 0.9 if "missing" in kind else None
    alignment = make_alignment(states, random_positions(rng, sites, 10_000), observed, unphased="unphased" in kind)
    options = ScanOptions(
        grid=data.draw(st.integers(2, 6)), minwin=data.draw(st.integers(0, 1_000)),
        maxwin=data.draw(st.integers(1_000, 9_000)), minsnps=data.draw(st.integers(1, 4)),
    )  # fmt: skip
    check_run(alignment, options, config, how, engine)


@pytest.mark.parametrize("how", MATRICES)
def test_a_run_with_many_windows(how: str, engine: object) -> None:
    rng = np.random.default_rng(5)
    alignment = make_alignment(correlated_states(rng, 60, 40), random_positions(rng, 60, 10_000))
    options = ScanOptions(grid=6, minwin=200, maxwin=4_000, minsnps=2)
    assert check_run(alignment, options, load("u200").but(unroll=4), how, engine) >= 4


def test_sites_of_three_states(engine: object) -> None:
    rng = np.random.default_rng(8)
    states = rng.integers(0, 3, (30, 40))
    observed = rng.random(states.shape) < 0.95
    alignment = prepare(make_multiallelic(states, random_positions(rng, 30), observed)).alignment
    values = hardware.pair_values(alignment, hardware.Stretch(0, 29, np.zeros(0, np.int64)), engine)
    expected = np.triu(reference.allele_values(np.where(observed, states, -1)), 1)
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    found = run_scan(alignment, ScanOptions(grid=9, minwin=5_000, maxwin=60_000), matrix="exact", engine=engine)
    assert found.summary()["positions"] > 3
    assert found.summary()["largest_error"] < 1e-5


def test_another_window_and_what_it_loses(engine: object) -> None:
    """Sums of much linkage beside rare states: float32 takes a window that is worth a little less."""
    rng = np.random.default_rng(3)
    states = rng.random((200, 8_000)) < rng.choice([0.001, 0.5], (200, 1))
    states[::2] = rng.random(8_000) < 0.5
    states[:, 0], states[:, 1] = False, True
    positions = np.arange(200) * 100 + 1
    options = ScanOptions(grid=20, minwin=200, maxwin=12_000, minsnps=2)
    alignment = make_alignment(states.astype(np.uint8), positions)
    run, exact = (run_scan(alignment, options, matrix=how, engine=engine).alignments[0] for how in ("float32", "exact"))
    others = [row for row in run.records() if row["same_window"] is False]
    assert len(others) == run.summary()["other_windows"] > exact.summary()["other_windows"]
    values = reference.pair_values(states)
    for row in others:
        centre = int(np.searchsorted(positions, int(row["position"]), side="right")) - 1
        i, j = np.searchsorted(positions, [row["hardware_left"], row["hardware_right"]]).tolist()
        omega = reference.omega_of_window(values, centre, i, j)
        (best,) = (
            one[1]
            for one in reference.scan(values, positions, grid=20, minwin=200, maxwin=12_000, minsnps=2)
            if one[0] == row["position"]
        )
        assert row["loss"] == pytest.approx(1 - omega / best, abs=3e-7)
        assert row["loss"] > 1e-6
        assert row["hardware_omega"] > row["window_omega"]
    assert 0 < exact.summary()["largest_error"] < run.summary()["largest_error"] < 1e-4


@pytest.mark.parametrize("whole", [0.5, 0.0, np.nan])
def test_a_maximum_that_is_not_above_0_is_none(whole: float) -> None:
    """As rounding may leave it: the whole window sums to less than its parts."""
    M = np.zeros((6, 6), np.float32)
    M[1, 2], M[3, 4], M[1, 4] = whole, whole, -whole
    found = run_position(M, M.astype(np.float64), Place(2, 1, 1, 4, 4), load("zcu102"))
    assert (found.omega, found.left, found.right, found.window_omega, found.software) == (0.0, -1, -1, 0.0, False)
    assert found.hardware_omegas + found.software_omegas == 1


# M


def test_recurrence_is_omegapluss() -> None:
    rng = np.random.default_rng(1)
    values = np.triu(rng.gamma(0.3, 1.0, (70, 70)), 1).astype(np.float32)
    expected = reference.compat_sums(values.T.copy()).T
    for reach in (None, 70, 200, 12, 2, 1):
        got = hardware.recurrence_sums(values.copy(), reach)
        within = np.triu(np.ones((70, 70)), 0) - np.triu(np.ones((70, 70)), reach or 70) > 0
        np.testing.assert_array_equal(got[within], expected[within])
    assert (np.tril(got) == 0).all()


def test_exact_sums_are_sums() -> None:
    rng = np.random.default_rng(2)
    values = np.triu(rng.gamma(0.3, 1.0, (40, 40)), 1).astype(np.float32)
    expected = [[values[i : j + 1, i : j + 1].sum(dtype=np.float64) for j in range(40)] for i in range(40)]
    for reach in (None, 40, 60, 9, 1):
        sums = np.triu(expected) - np.triu(expected, reach or 40)
        np.testing.assert_allclose(hardware.exact_sums(values, reach), sums, rtol=1e-14)


@pytest.mark.parametrize(("short", "long"), [(1, 1), (1, 30), (40, 1), (1_024, 6_144)])
def test_stretches_hold_the_windows(short: int, long: int, monkeypatch: pytest.MonkeyPatch) -> None:
    positions = random_positions(np.random.default_rng(3), 400)
    windows = find_windows(positions, ScanOptions(grid=90, minwin=500, maxwin=5_000))
    monkeypatch.setattr(hardware, "SHORT", short)
    monkeypatch.setattr(hardware, "LONG", long)
    parts = list(hardware.stretches(windows))
    np.testing.assert_array_equal(np.concatenate([part.grid for part in parts]), np.flatnonzero(windows.valid))
    for part in parts:
        assert part.first == windows.first[part.grid].min()
        assert part.last == windows.last[part.grid].max()
        assert part.last - part.first < max(windows.span, short, min(2 * windows.span, long))
    assert len(parts) > 1 or short > 400


def test_stretches_and_threads_change_nothing(engine: object, monkeypatch: pytest.MonkeyPatch) -> None:
    options, reading = ScanOptions(grid=40, minwin=1_000, maxwin=10_000), ReadOptions(length=1_000_000)

    def rows(threads: int) -> list[dict[str, object]]:
        return run_scan(DATA / "a50x5k.ms", options, reading=reading, engine=engine, run=Run(threads)).records()

    whole = rows(1)
    monkeypatch.setattr(hardware, "SHORT", 1)
    monkeypatch.setattr(hardware, "LONG", 1)
    assert rows(3) == whole
    assert sum(row["hardware_omega"] is not None for row in whole) > 30


# What is said of the comparison


def test_maxima_do_not_depend_on_the_design(engine: object) -> None:
    one, other = (run_scan(EDGE / "twochrom.vcf", OPTIONS, name, engine=engine) for name in ("u200", "u200_overlap"))
    for first, second in zip(one.alignments, other.alignments, strict=True):
        np.testing.assert_array_equal(first.omega, second.omega)
        np.testing.assert_array_equal(first.left, second.left)
        assert first.omegas == second.omegas == second.hardware_omegas == first.scan.stats.scores
        assert first.software_omegas > second.software_omegas == 0
    assert one.summary()["from_remainder"] > other.summary()["from_remainder"] == 0


def test_the_scan_is_the_scans_own(engine: object) -> None:
    found = run_scan(EDGE / "twochrom.vcf", OPTIONS, engine=engine)
    for run, alone in zip(found.alignments, scan(EDGE / "twochrom.vcf", OPTIONS, engine=engine), strict=True):
        for name in ("positions", "omega", "left", "right", "valid"):
            np.testing.assert_array_equal(getattr(run.scan, name), getattr(alone, name))
        assert dict(run.discarded) == dict(alone.discarded)
    assert repr(found).startswith("<ScanRun of 2 scans on u200: largest error ")
    with pytest.raises(FrozenInstanceError):
        found.matrix = "exact"  # type: ignore[misc]


def test_a_table_of_the_positions(engine: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oclgenomics.fpga.result.to_frame", dict)
    found = run_scan(EDGE / "twochrom.vcf", OPTIONS, engine=engine)
    assert tuple(found.to_frame()) == RUN_COLUMNS
    assert len(found.to_frame()["loss"]) == 100


def made_run() -> AlignmentRun:
    """Positions with: the same window, a worse one, an equal one, no window, zeros, only one's, infinity, negative."""
    omega = np.array([2.0, 5.0, 3.0, 0.0, 0.0, 0.0, 4.0, np.inf])
    scanned = np.array([2.5, 4.0, 3.0, 0.0, 0.0, 1.0, 0.0, 8.0])
    grid = len(omega)
    left, right = np.full(grid, 10), np.full(grid, 20)
    made = Scan(
        "c", 3, np.arange(grid) * 10.0, scanned, left, right, np.arange(grid) != 3, 9, 4, {}, True, 100
    )  # fmt: skip
    moved = np.array([0, 1, 1, 0, 0, 0, 0, 1])
    window_omega = np.array([2.5, 3.0, 3.0, 0.0, 0.0, 0.0, 0.0, 6.0])
    software = np.arange(grid) == 1
    return AlignmentRun(made, omega, left, right + moved, window_omega, software, 70, 7, {})


def test_errors_losses_and_ties() -> None:
    run = made_run()
    np.testing.assert_allclose(run.error, [-0.2, 0.25, 0, 0, 0, -1, np.inf, np.inf])
    assert run.same_window.tolist() == [True, False, False, True, True, False, False, False]
    assert run.ties.tolist() == [False, False, True, False, False, False, False, False]
    np.testing.assert_allclose(run.loss, [0, 0.25, 0, 0, 0, 1, 0, 0.25])


def test_the_summary_counts_positions_with_a_window() -> None:
    run = made_run()
    found = run.summary()
    finite = replace(run, omega=np.minimum(run.omega, 5.0))
    assert (found["positions"], found["omegas"], found["software_omegas"]) == (7, 77, 7)
    assert (found["other_windows"], found["ties"], found["from_remainder"]) == (5, 1, 1)
    assert (found["largest_error"], found["largest_error_at"]) == (math.inf, ("c", 3, 60.0))
    assert (found["greatest_loss"], found["greatest_loss_at"]) == (1.0, ("c", 3, 50.0))
    assert found["median_error"] == 0.25
    assert found["largest_window_error"] == math.inf
    # largest of the scan: 7, 1, 2, 0, 5; of the hardware: 7, 1, 6, 2, 0
    assert (found["top"], found["top_kept"], found["same_peak"]) == (5, 4, True)
    assert not finite.summary()["same_peak"]


def test_rows_of_the_comparison() -> None:
    rows = made_run().records()
    assert [row["found_by"] for row in rows] == ["lanes", "remainder", "lanes", None, None, None, "lanes", "lanes"]
    assert rows[3]["hardware_omega"] is rows[3]["error"] is rows[3]["same_window"] is rows[3]["loss"] is None
    assert rows[5]["hardware_left"] is None
    assert rows[5]["scan_left"] == 10
    assert (rows[1]["hardware_right"], rows[1]["scan_right"], rows[1]["loss"]) == (21, 20, 0.25)


# Refusals


@pytest.mark.parametrize(
    ("change", "given", "message"),
    [
        ({"border": 3}, {}, "^border=3: the pipeline tries every pair"),
        ({"ld": "D"}, {}, "^ld='?D'?: the pipeline sums r2"),
        ({"precision": "compat"}, {}, "compared with the scan in accurate precision"),
        ({}, {"matrix": "float16"}, "choose one of float32, exact"),
        ({}, {"design": "u999"}, "no known board"),
        ({}, {"design": load("zcu102").but(unroll=128)}, "largest unroll that fits"),
    ],
)
def test_what_is_not_modelled(change: dict[str, object], given: dict[str, object], message: str) -> None:
    with pytest.raises((UsageError, ModelError), match=message):
        run_scan(EDGE / "twochrom.vcf", replace(OPTIONS, **change), **given, engine="no such device")  # type: ignore


def test_windows_of_too_many_sites_are_refused_before_a_device_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"^x: a window has 20,001 sites and M is built of 20,000 at most; narrow"):
        hardware.check_span(SimpleNamespace(span=20_001), "x")  # type: ignore[arg-type]
    hardware.check_span(SimpleNamespace(span=20_000), "x")  # type: ignore[arg-type]
    monkeypatch.setattr(hardware, "LARGEST_SPAN", 20)
    with pytest.raises(UsageError, match="chrA: a window has"):
        run_scan(EDGE / "twochrom.vcf", OPTIONS, engine="no such device")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ([*WINDOWS, "--border", 5], 2, "--border 5: the pipeline tries every pair of borders; leave the option out"),
        ([*WINDOWS, "--ld", "dom"], 2, "--ld DOM: the pipeline sums r2"),
        ([*WINDOWS, "--precision", "compat"], 2, "--precision compat: the hardware is compared"),
        ([*WINDOWS, "--board", "u999"], 2, "no known board"),
        ([*WINDOWS, "--board", "zcu102", "--unroll", 128], 2, "largest unroll"),
        ([*WINDOWS, "--matrix", "float16"], 2, "--matrix"),
        ([*WINDOWS, "--plot", "x.gif"], 2, ".png, .svg or .pdf"),
        ([*WINDOWS, "--format", "xml"], 2, "--format xml: choose one of text, tsv, json"),
        ([*WINDOWS, "--format", "tsv", "--json"], 2, "--json and --format tsv contradict each other"),
        ([*WINDOWS, "-o", EDGE / "twochrom.vcf"], 2, "the same file as the input"),
        ([*WINDOWS, "-d", "nosuch"], 4, "nosuch"),
        ([*WINDOWS, "-o", "/nowhere/x"], 5, "/nowhere"),
        ([*WINDOWS, "--exclude", "/nowhere/x.bed"], 3, "/nowhere"),
        (["--grid", 5], 2, "--minwin"),
    ],
)
def test_errors_are_one_line(words: list[object], status: int, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(EDGE / "twochrom.vcf", *words) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert said in captured.err


# The command


def test_summary_table_json_and_figure(device: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    words = [EDGE / "twochrom.vcf", *WINDOWS, "-d", device.index, "-q"]  # type: ignore[attr-defined]
    assert fpga(*words, "-o", tmp_path / "x.tsv", "--plot", tmp_path / "x.svg") == 0
    out = capsys.readouterr().out
    assert "MHz asked for, which it reaches in one region; no clock changes an omega\n" in out
    head, *_ = out.splitlines()
    assert head.startswith("2 alignments, ")
    assert [line.split()[0] for line in out.splitlines()[3:7]] == ["alignment", "chrA", "chrB", "all"]
    lines = [line for line in (tmp_path / "x.tsv").read_text().splitlines() if not line.startswith("#")]
    assert lines[0].split("\t") == list(RUN_COLUMNS)
    assert len(lines) == 101
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")
    assert fpga(*words, "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["clock_mhz"] == record["clock_mhz_range"]["low"] > 0
    assert record["summary"]["positions"] == sum(one["positions"] for one in record["alignments"])
    assert record["provenance"]["device"]["name"] == device.name  # type: ignore[attr-defined]
    for row, line in zip(record["positions"], lines[1:], strict=True):
        field = line.split("\t")[3]
        assert field == ("NA" if row["hardware_omega"] is None else f"{row['hardware_omega']:.9g}")
    assert fpga(*words, "-o", "-") == 0
    assert capsys.readouterr().out.startswith("# program: oclgenomics\n")


def test_formats_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file gets the table unless another format is asked for, and the summary standard output if that is free."""
    words, path = [EDGE / "twochrom.vcf", *WINDOWS, "-q"], tmp_path / "x"

    def printed(*more: object) -> str:
        path.unlink(missing_ok=True)
        assert fpga(*words, *more) == 0
        # only the words that were given differ
        return "".join(line for line in capsys.readouterr().out.splitlines(True) if line[:11] not in PROVENANCE)

    def written() -> str:
        return "".join(line for line in path.read_text().splitlines(True) if line[:11] not in PROVENANCE)

    summary, table, whole = printed(), printed("-o", "-"), json.loads(printed("--json"))
    assert summary.startswith("2 alignments, ")
    assert printed("--format", "text") == summary
    assert printed("--format", "tsv") == table
    assert json.loads(printed("--format", "json"))["positions"] == whole["positions"]
    assert (printed("-o", path), written()) == (summary, table)
    assert (printed("-o", path, "--format", "tsv"), written()) == (summary, table)
    assert printed("-o", path, "--json") == summary
    assert json.loads(path.read_text())["positions"] == whole["positions"]
    assert (printed("-o", path, "--format", "text"), written()) == ("", summary)


PROVENANCE = ("# command: ", "# parameter")


def test_an_alignment_without_a_window(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib")
    plot = tmp_path / "x.png"
    assert fpga(EDGE / "few.ms", "--length", "1M", *WINDOWS, "--plot", plot) == 0
    out, err = capsys.readouterr()
    assert "warning: 1: no window holds enough of its" in err
    assert " 0 omegas (0 by 32 lanes, 0 remainder)" in out
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_pictures_of_runs() -> None:
    pytest.importorskip("matplotlib")
    run = made_run()
    finite = replace(run, omega=np.array([2.0, 5, 3, 0, 0, 0, 0, 5]))
    shown = (run.scan.valid & (run.scan.omega > 0)).sum()
    for runs, headline, points in (
        ((run,), "off without bound; 5 of 7 windows differ", shown - 1),
        ((finite,) * 12, "off by 100 % at most", 12 * shown),
    ):
        along, against = ScanRun(runs, load("u200"), "exact").plot().axes
        assert headline in along.get_title(loc="left")
        for axes in (along, against):
            assert sum(len(drawn.get_offsets()) for drawn in axes.collections) == points
