"""The phases of a whole scan: bounds from first principles, sums, what follows what, and what each design needs."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from helpers.fpga_command import fpga
from hypothesis import given, settings, strategies as st

from hls_model import PRESETS, Config, ModelError, Workload, load
from hls_model.paper.published import OVERHEAD_US
from hls_model.phases import Phase, added, find_scan_bottleneck, scan_phases, total
from hls_model.phases.pipelines import block_bytes
from hls_model.phases.preparation import build_columns, time_matrix
from hls_model.phases.rates import bank_seconds, link_seconds, stream_seconds
from hls_model.project import project
from hls_model.ranges import Range
from hls_model.resources import estimate
from hls_model.resources.engines import engine_parts, shifter_stages
from hls_model.timing import simulate
from hls_model.timing.passes import split

SCAN = Workload.uniform(3_000, grid=60, samples=500)
LARGE = Workload.uniform(13_000, samples=7_000)
TRANSFERS = ("none", "incremental", "full")


def named(workload: Workload, config: Config, **options: bool) -> dict[str, Phase]:
    phases = scan_phases(workload, config, **options)
    found = {phase.name: phase for phase in phases}
    assert len(found) == len(phases)
    return found


ranges = st.lists(st.floats(0, 1e6), min_size=3, max_size=3).map(lambda values: Range(*sorted(values)))
designs = st.builds(
    lambda name, **changes: load(name).but(**changes),
    name=st.sampled_from(sorted(PRESETS)),
    layout=st.sampled_from(["repacked", "shifted"]),
    launch=st.sampled_from(["per_position", "per_scan"]),
    ld=st.sampled_from(["card", "published"]),
    host_transfer=st.sampled_from(TRANSFERS),
    lane_map=st.sampled_from(["interleaved", "blocked"]),
    host_overlap=st.booleans(),
    software_overlap=st.booleans(),
    remainder=st.sampled_from(["software", "masked"]),
)


# how phases add up


@given(st.lists(ranges, max_size=5), ranges, st.lists(ranges, max_size=4))
def test_phases_follow_each_other_and_the_longest_of_a_group_counts(
    serial: list[Range], main: Range, beside: list[Range]
) -> None:
    phases = [Phase(f"serial {number}", "card", seconds) for number, seconds in enumerate(serial)]
    phases += [Phase("main", "card", main)]
    phases += [Phase(f"beside {n}", "host", seconds, beside="main") for n, seconds in enumerate(beside)]
    found = total(phases)
    for bound in ("low", "likely", "high"):
        group = max(getattr(one, bound) for one in (main, *beside))
        assert getattr(found, bound) == pytest.approx(sum(getattr(one, bound) for one in serial) + group)


def test_what_would_run_beside_nothing_counts_in_full() -> None:
    assert total([Phase("alone", "host", Range.exactly(2.0), beside="main")]) == Range.exactly(2.0)
    assert total([]) == Range.exactly(0.0)


@given(designs)
def test_scans_that_follow_each_other_add_up(design: Config) -> None:
    one, other = scan_phases(SCAN, design), scan_phases(Workload.uniform(2_000, grid=30, samples=40), design)
    both = {phase.name: phase for phase in added([one, other])}
    for name, phase in both.items():
        parts = [part for part in (*one, *other) if part.name == name]
        assert phase.bytes == sum(part.bytes for part in parts)
        assert phase.operations == sum(part.operations for part in parts)
        assert phase.seconds.likely == pytest.approx(sum(part.seconds.likely for part in parts))
    assert total(tuple(both.values())).likely <= (total(one) + total(other)).likely * (1 + 1e-12)


# what the card cannot beat


@settings(max_examples=30)
@given(designs)
def test_no_phase_is_faster_than_what_carries_it(design: Config) -> None:
    memory = design.memory
    banks = memory.bank_gbps * 1e9 * memory.banks
    for phase in scan_phases(SCAN, design):
        low = phase.seconds.low * (1 + 1e-9)
        if phase.where == "card":
            assert low >= phase.bytes / banks or phase.name == "shift columns"
        if phase.where == "link":
            assert low >= phase.bytes / (design.host_rate.high * 1e9)
        if phase.name == "LD" and phase.where == "card":
            bits = phase.operations * SCAN.samples
            assert low >= bits / (design.ld_units * design.ld_word_bits * design.clock_mhz * 1e6)
            assert phase.bytes >= 4 * phase.operations
        if phase.name == "build M" and phase.where == "card":
            assert low >= phase.operations / 2 / (design.matrix_adders * design.clock_mhz * 1e6)
            assert phase.bytes >= 8 * SCAN.window_pairs
        assert phase.assumptions
        assert all(sentence.endswith(".") for sentence in phase.assumptions)


@settings(max_examples=30)
@given(designs)
def test_the_total_holds_the_omegas_and_every_phase(design: Config) -> None:
    one = project(SCAN, design)
    assert one.total.likely >= one.omega_seconds
    assert all(one.total.likely >= phase.seconds.likely for phase in one.phases)
    assert one.seconds == one.total.likely
    assert one.ld_seconds == next(phase.seconds.likely for phase in one.phases if phase.name == "LD")
    longest = one.scan_bottleneck
    assert longest is not None
    assert longest.phase.seconds.likely == max(phase.seconds.likely for phase in one.phases)
    assert 0 < longest.share <= 1


@settings(max_examples=30)
@given(designs)
def test_the_omegas_group_takes_what_the_timing_says(design: Config) -> None:
    """But for setting up transfers, and without a remainder that is fetched and blocks that the host copies."""
    timing = simulate(SCAN, design)
    phases = [phase for phase in scan_phases(SCAN, design) if phase.name in ("omega pipelines", "send M", "remainder")]
    setup = 20e-6 * len(SCAN.left) if design.host_transfer != "none" else 0.0
    assert timing.seconds <= total(phases).likely * (1 + 1e-12)
    assert total(phases).likely <= timing.seconds + setup + 1e-12


# the parts by themselves


def test_columns_are_those_of_equation_3() -> None:
    random = np.random.default_rng(5)
    snps = 24
    r2 = np.triu(random.random((snps, snps)), 1)
    built = build_columns(r2)
    for left in range(snps):
        for right in range(left, snps):
            assert built[left, right] == pytest.approx(r2[left : right + 1, left : right + 1].sum())
            if right - left > 1:  # Eq. (3), with i = right and j = left
                before = built[left + 1, right] + built[left, right - 1] - built[left + 1, right - 1]
                assert built[left, right] == pytest.approx(before + r2[left, right])


@given(st.integers(1, 40), st.integers(200, 2_000))
def test_cycles_of_m_lie_between_its_elements_and_its_columns(adders: int, snps: int) -> None:
    scan = Workload.uniform(snps, grid=20)
    design = load("u200").but(matrix_adders=adders)
    found = time_matrix(scan, design)
    assert found.elements == scan.window_pairs
    assert found.bytes_written == 4 * found.elements
    assert 4 * found.elements <= found.bytes_read <= 8 * found.elements
    assert found.cycles * adders >= found.elements
    together = adders * design.latencies.fadd
    longest = int((scan.last - scan.first).max())
    groups = -(-snps // together) + 1
    assert found.cycles <= groups * (
        design.latencies.fadd * (longest + together) + design.latency + 2 * design.latencies.fadd
    )


@pytest.mark.parametrize("prefetch", ["per_position", "none"])
@pytest.mark.parametrize("words", [512, 32_768])
def test_blocks_are_whole_port_beats(prefetch: str, words: int) -> None:
    design = load("u200").but(rs_prefetch=prefetch, rs_buffer_words=words)
    passes = split(SCAN, design)
    read = written = columns = 0
    for left, beats in zip(passes.columns.tolist(), passes.beats.tolist(), strict=True):
        for _ in range(2 * left if prefetch == "none" else left + 1):
            port_beats = -(-beats * 32 // 32)
            columns, read, written = columns + 1, read + 128 * (port_beats + 1), written + 128 * port_beats
    found = block_bytes(SCAN, design)
    assert (found.columns, found.read, found.written) == (columns, read, written)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_memory_takes_the_slower_of_ports_and_banks(read: int, written: int) -> None:
    design = load("u200")
    found = stream_seconds(design, read, written)
    assert found.likely == pytest.approx(max(max(read, written) / 32e9, (read + written) / (38.4e9 * 0.84)))
    assert found.low == pytest.approx(max(max(read, written) / 32e9, (read + written) / (38.4e9 * 0.94)))
    assert found.high == pytest.approx(max((read + written) / 32e9, (read + written) / (38.4e9 * 0.68 * 0.75)))
    assert bank_seconds(design, read).likely == pytest.approx(read / (38.4e9 * 0.84))
    known = design.but(memory=dataclasses.replace(design.memory, efficiency=0.5))
    assert bank_seconds(known, read).low == bank_seconds(known, read).likely == pytest.approx(read / 19.2e9)


def test_a_link_that_is_set_overrides_the_boards() -> None:
    board = load("u200")
    assert board.host_rate == board.hardware.host_gbps
    moved = 10**9
    assert link_seconds(board.but(host_gbps=2.0), moved).likely == pytest.approx(0.5 + 20e-6)
    assert link_seconds(board.but(host_gbps=2.0), moved).high == pytest.approx(0.5 + 100e-6)
    assert named(SCAN, board.but(host_gbps=0.5))["send genotypes"].seconds.likely > (
        named(SCAN, board)["send genotypes"].seconds.likely
    )


def at_rates(moved: int, slowest: float, usual: float, fastest: float) -> tuple[float, float, float]:
    """Seconds at least, as is likely and at most of bytes at these rates in GB/s."""
    return moved / (fastest * 1e9), moved / (usual * 1e9), moved / (slowest * 1e9)


def bounds(seconds: Range) -> tuple[float, float, float]:
    return seconds.low, seconds.likely, seconds.high


@pytest.mark.parametrize(
    ("name", "pack", "copy"),
    [("u200", (1.0, 4.0, 8.0), (4.0, 10.0, 20.0)), ("zcu102", (0.2, 0.8, 2.0), (1.0, 3.0, 6.0))],
)
def test_what_the_host_does_goes_by_its_bytes(
    name: str, pack: tuple[float, float, float], copy: tuple[float, float, float]
) -> None:
    design = load(name).but(host_transfer="full")
    phases = named(SCAN, design)
    genotypes, words = 3_000 * 500, -(-500 // 64)  # a byte each, and words of 64 bits a SNP
    packing, sending = phases["pack genotypes"], phases["send genotypes"]
    assert bounds(packing.seconds) == pytest.approx(at_rates(genotypes, *pack))
    assert (packing.operations, packing.bytes) == (genotypes, genotypes + 3_000 * words * 8)
    assert sending.bytes == 3_000 * words * 8
    building, copying = phases["build M"], phases["repack blocks of M"]
    assert bounds(building.seconds) == pytest.approx(at_rates(12 * SCAN.window_pairs, *copy))
    assert bounds(copying.seconds) == pytest.approx(at_rates(copying.bytes, *copy))
    assert copying.bytes == 2 * block_bytes(SCAN, design).written


def test_a_link_takes_its_bytes_and_a_setup_for_each_transfer() -> None:
    design = load("u200")
    link = design.hardware.host_gbps
    moving = at_rates(10**6, link.low, link.likely, link.high)
    expected = [seconds + 3 * setup for seconds, setup in zip(moving, (5e-6, 20e-6, 100e-6), strict=True)]
    assert bounds(link_seconds(design, 10**6, 3)) == pytest.approx(expected)
    positions = int((simulate(SCAN, design).position_cycles > 0).sum())
    assert named(SCAN, design)["fetch results"].bytes == 12 * positions  # a maximum and its two places


def test_a_shifter_beside_slow_banks_waits_for_its_beat_at_most() -> None:
    memory = dataclasses.replace(load("u200").memory, banks=1, efficiency=0.5)
    design = load("u200").but(layout="shifted", memory=memory)
    columns, pace = block_bytes(SCAN, design).columns, float(design.pace)
    assert pace > 2
    found = named(SCAN, design)["shift columns"].seconds
    assert bounds(found) == pytest.approx([columns * cycles / 250e6 for cycles in (3, 1 + 3, pace + 3)])


@pytest.mark.parametrize("adders", [1, 3])
def test_cycles_of_m_are_those_of_its_groups_of_columns(adders: int) -> None:
    design = load("u200").but(matrix_adders=adders)
    scan = Workload.uniform(700, grid=10)
    furthest = np.arange(scan.snps)  # the last SNP with which each shares a window
    for first, last, scores in zip(scan.first, scan.last, scan.left * scan.right, strict=True):
        if scores:
            furthest[first : last + 1] = np.maximum(furthest[first : last + 1], last)
    adder = design.latencies.fadd
    cycles = read = 0
    for start in range(0, scan.snps, adder * adders):
        group = range(start, min(start + adder * adders, scan.snps))
        with_partner = [snp for snp in group if furthest[snp] > snp]
        if with_partner:
            longest = int(furthest[with_partner].max()) - with_partner[0]
            cycles += adder * longest + design.latency + 2 * adder
            read += longest
    found = time_matrix(scan, design)
    assert found.elements == int((furthest - np.arange(scan.snps)).sum())
    assert (found.cycles, found.bytes_read) == (cycles, 4 * (found.elements + read))


def test_m_may_read_a_neighbour_for_every_column() -> None:
    design = load("u200").but(matrix_adders=64)
    pairs = SCAN.window_pairs
    assert named(SCAN, design)["build M"].seconds.high == stream_seconds(design, 8 * pairs, 4 * pairs).high


# which phases there are


def test_m_on_the_card_and_m_on_the_host() -> None:
    design = load("u200")
    card = named(SCAN, design)
    assert card["build M"].where == "card"
    assert card["fetch remainder of M"].bytes == 4 * card["remainder"].operations
    assert not {"send M", "fetch r2"} & set(card)
    for transfer in ("incremental", "full"):
        host = named(SCAN, design.but(host_transfer=transfer))
        assert host["build M"].where == "host"
        assert host["fetch r2"].bytes == 4 * SCAN.window_pairs
        assert host["send M"].beside == "omega pipelines"
        assert "fetch remainder of M" not in host
        assert host["repack blocks of M"].where == ("host" if transfer == "full" else "card")
    assert named(SCAN, design.but(host_transfer="full", host_overlap=False))["send M"].beside is None


def test_published_ld_is_the_constant_and_leaves_the_card_free() -> None:
    published = load("u200").but(ld="published")
    phases = named(SCAN, published)
    assert phases["LD"].where == "elsewhere"
    assert phases["LD"].seconds == Range.exactly(SCAN.window_pairs * 500 / 267.5e9)
    assert "Convey" in phases["LD"].assumptions[0]
    assert phases["send r2"].bytes == 4 * SCAN.window_pairs
    assert not {"pack genotypes", "send genotypes"} & set(phases)
    assert named(SCAN, published, all_pairs=True)["LD"].operations == 3_000**2
    assert estimate(published).total.lut < estimate(load("u200")).total.lut


def test_blocked_lanes_are_free_with_a_copy_and_a_pass_without() -> None:
    blocked = load("u200").but(lane_map="blocked")
    assert total(scan_phases(SCAN, blocked)) == total(scan_phases(SCAN, load("u200")))
    shifted = named(SCAN, blocked.but(layout="shifted"))
    assert shifted["permute for blocked lanes"].bytes == 2 * block_bytes(SCAN, blocked).written
    assert "permute for blocked lanes" not in named(SCAN, load("u200").but(layout="shifted"))


def test_a_shifter_costs_a_beat_a_column_and_logic() -> None:
    design = load("u200").but(layout="shifted")
    assert shifter_stages(design) == 3  # 32 places, 4 at a level
    columns = block_bytes(SCAN, design).columns
    found = named(SCAN, design)["shift columns"]
    assert found.seconds.likely == pytest.approx(columns * (1 + 3) / 250e6)
    overlapped = named(SCAN, design.but(overlap_outer=True))["shift columns"]
    assert overlapped.seconds.likely == pytest.approx(columns / 250e6)
    assert overlapped.seconds.low == 0
    part = next(part for part in engine_parts(design) if part.name.startswith("shifter"))
    assert part.total.lut == 1024 * 4
    assert total(scan_phases(SCAN, design)).likely < total(scan_phases(SCAN, load("u200"))).likely


def test_starts() -> None:
    design = load("u200")
    positions = int((simulate(SCAN, design).position_cycles > 0).sum())
    assert named(SCAN, design)["start kernels"].operations == positions + 2  # and LD and M
    assert named(SCAN, design.but(launch="per_scan"))["start kernels"].operations == 3
    assert named(SCAN, design.but(position_overhead_us=100.0))["start kernels"].operations == 3
    assert named(SCAN, design.but(ld="published"))["start kernels"].operations == positions + 1


def test_nothing_to_do_has_no_phases() -> None:
    none = dataclasses.replace(SCAN, left=np.zeros_like(SCAN.left), right=np.zeros_like(SCAN.right))
    one = project(none, load("u200"))
    assert one.phases == ()
    assert one.total == Range.exactly(0.0)
    assert one.scan_bottleneck is None
    assert one.ld_seconds == 0.0


# what should grow, and what should differ


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"host_gbps": 12.0}, {"host_gbps": 2.0}),
        ({"ld_units": 512}, {"ld_units": 64}),
        ({"ld_r2_units": 16}, {"ld_r2_units": 1}),
        ({"matrix_adders": 8}, {"matrix_adders": 1}),
        ({"launch": "per_scan"}, {"launch": "per_position"}),
        ({"host_overlap": True}, {"host_overlap": False}),
        ({"software_overlap": True}, {"software_overlap": False}),
        ({"ld_bits_per_s": 1e12, "ld": "published"}, {"ld_bits_per_s": 1e11, "ld": "published"}),
    ],
)
def test_more_of_it_never_takes_longer(better: dict[str, object], worse: dict[str, object]) -> None:
    for name in ("zcu102", "u200"):
        fast, slow = (total(scan_phases(SCAN, load(name).but(**changes))) for changes in (better, worse))
        assert fast.low <= slow.low
        assert fast.likely <= slow.likely
        assert fast.high <= slow.high
        assert fast != slow


@settings(max_examples=20)
@given(st.integers(2, 5_000), st.integers(2, 5_000))
def test_more_samples_never_take_less(one: int, other: int) -> None:
    few, many = (dataclasses.replace(SCAN, samples=samples) for samples in sorted((one, other)))
    assert total(scan_phases(few, load("u200"))).likely <= total(scan_phases(many, load("u200"))).likely


def test_boards_differ_by_more_than_their_ranges() -> None:
    few = dataclasses.replace(LARGE, samples=100)  # the range of LD, whose engine nobody has built, spans boards
    zcu102, u200, u280 = (project(few, load(name)).total for name in ("zcu102", "u200", "u280_hbm"))
    assert u280.high < u200.low < u200.high < zcu102.low
    ld = [project(LARGE, load(name).but(clock_met=True)).ld_seconds for name in ("zcu102", "u280_hbm")]
    assert ld[0] is not None
    assert ld[1] is not None
    assert ld[0] > 20 * ld[1]


def test_the_longest_phase_is_said_in_a_sentence() -> None:
    found = project(LARGE, load("u280_hbm")).scan_bottleneck
    assert found is not None
    assert found.sentence.startswith("repack blocks of M (card) takes ")
    assert found.advice == "a shifter at the ports instead (layout=shifted)"
    pipelines = project(LARGE, load("u280_hbm").but(layout="shifted"))
    longest, inner = pipelines.scan_bottleneck, pipelines.bottleneck
    assert longest is not None
    assert inner is not None
    assert (longest.phase.name, longest.advice) == ("omega pipelines", inner.advice)
    near = [Phase("LD", "card", Range(1, 3, 4)), Phase("build M", "card", Range(1, 2, 3))]
    said = find_scan_bottleneck(near)
    assert said is not None
    assert said.sentence.endswith("within the bounds it may be build M")


# the pipelines' range


@pytest.mark.parametrize("launch", ["per_position", "per_scan"])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("rate", [71e6, 1e5])
def test_a_range_of_the_omegas_reaches_the_total(launch: str, overlap: bool, rate: float) -> None:
    """Each position's cost is counted once: with the pipelines, or as its start."""
    design = load("u200").but(software_overlap=overlap, software_rate=rate, launch=launch, clock_met=True)
    one = project(SCAN, design)
    assert one.band is not None
    phases = {phase.name: phase for phase in one.phases}
    group = total([phases["omega pipelines"], phases["remainder"]])
    start, positions = design.hardware.launch_us, int((one.timing.position_cycles > 0).sum())
    engines = start.times(2e-6)  # LD and M
    if launch == "per_scan":
        assert group == one.omega_range
        assert phases["start kernels"].seconds.high == pytest.approx(start.times(1e-6).high + engines.high)
        return
    starts = phases["start kernels"].seconds
    for bound, cost in (("low", start.low), ("likely", start.likely), ("high", OVERHEAD_US)):
        assert getattr(starts, bound) == pytest.approx(cost * 1e-6 * positions + getattr(engines, bound))
    assert (group.low, group.likely) == (one.omega_range.low, one.omega_range.likely)
    together = phases["omega pipelines"].seconds.high + starts.high - engines.high
    assert together == pytest.approx(one.band.hardware_seconds.high)


def test_starts_of_kernels_go_on_side_by_side_and_beside_other_positions() -> None:
    scan = Workload.joined([Workload.single(40, 4_000)] * 12)
    design = load("u250").but(unroll=16)
    start = design.hardware.launch_us
    shares = {"one": {}, "two": {"kernels": 2}, "held": {"positions_in_flight": 3}}
    found = {name: named(scan, design.but(**changes))["start kernels"] for name, changes in shares.items()}
    engine = start.likely * 1e-6  # M, which has no LD without samples
    assert found["one"].seconds.likely == pytest.approx(12 * start.likely * 1e-6 + engine)
    assert found["two"].seconds.likely == pytest.approx(6 * start.likely * 1e-6 + engine)
    assert found["held"].seconds.likely == pytest.approx(1 * start.likely * 1e-6 + engine)
    assert {phase.operations for phase in found.values()} == {13}
    once = named(scan, design.but(kernels=2, launch="per_scan"))["start kernels"]
    assert once.operations == 3
    assert once.seconds.likely == pytest.approx(2 * engine)
    assert once.seconds.high == pytest.approx(3 * start.high * 1e-6)


@pytest.mark.parametrize("launch", ["per_position", "per_scan"])
def test_pipelines_that_have_nothing_to_do_are_not_started(launch: str) -> None:
    design = load("u200").but(launch=launch)
    starts = named(Workload.single(3, 31), design)["start kernels"]
    assert starts.operations == 1  # M
    assert starts.seconds == design.hardware.launch_us.times(1e-6)


def test_each_kernel_has_a_shifter_and_its_share_of_the_columns() -> None:
    one = load("u250").but(unroll=16, layout="shifted")
    two = one.but(kernels=2)
    shifter, shifters = (next(part for part in engine_parts(d) if part.name.startswith("shifter")) for d in (one, two))
    assert (shifter.count, shifters.count) == (1, 2)
    assert shifters.each == shifter.each
    alone, shared = (named(SCAN, design)["shift columns"].seconds.likely for design in (one, two))
    assert shared == pytest.approx(alone / 2)


# the command


def test_the_command_shows_every_phase(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["project", "--snps", "2000", "--grid", "30", "--samples", "50", "--compare", "zcu102"]
    assert fpga(words) == 0
    text = capsys.readouterr().out
    assert fpga([*words, "--json"]) == 0
    records = json.loads(capsys.readouterr().out)["projections"]
    for record in records:
        assert f"{record['design']}: the whole scan in" in text
        low, likely, high = (record["total_seconds"][bound] for bound in ("low", "likely", "high"))
        assert low <= likely == record["seconds"] <= high
        for phase in record["phases"]:
            assert phase["name"] in text
            assert phase["assumptions"]
        assert record["scan_bottleneck"]["sentence"] in text


def test_ld_is_asked_for_by_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["project", "--snps", "2000", "--grid", "30", "--samples", "50", "--compare", "zcu102", "--json"]
    assert fpga([*words, "--ld-engine", "published"]) == 0
    records = json.loads(capsys.readouterr().out)["projections"]
    assert [record["ld"] for record in records] == ["published", "published"]
    assert fpga([*words, "--ld-engine", "published", "--set", "ld=card"]) == 2
    error = capsys.readouterr().err
    assert "--ld-engine published and --set ld=card: give one of them" in error


def test_engines_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ModelError, match="ld_units is 100000; 65536 is the most"):
        load("u200").but(ld_units=100_000)
