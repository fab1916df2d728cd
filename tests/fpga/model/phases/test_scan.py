"""What a scan keeps in the card's memory: it fits, is done in stretches that fit, or is refused."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from helpers.fpga_command import fpga
from hypothesis import assume, given, strategies as st

from hls_model import PRESETS, Config, ModelError, Workload, load
from hls_model.boards import BOARDS
from hls_model.phases import Phase, card_memory, scan_phases
from hls_model.phases.scan import MOST_STRETCHES
from hls_model.project import project
from hls_model.timing import simulate
from hls_model.timing.passes import split

TRANSFERS = ("none", "incremental", "full")
# 247 GB of M in windows that the lane can count
TOO_LARGE = ["--snps", "600k", "--length", "221000", "--grid", "500"]


@pytest.fixture
def small_card(monkeypatch: pytest.MonkeyPatch) -> object:
    """Make the U200's banks hold so many bytes together (its preset has two)."""

    def shrink(size: int) -> None:
        board = dataclasses.replace(BOARDS["u200"], bank_gib=size / 2 / 2**30)
        monkeypatch.setitem(BOARDS._made, "u200", board)  # type: ignore[attr-defined]

    return shrink


def pairs_of(scan: Workload) -> set[tuple[int, int]]:
    found = set()
    for p in np.flatnonzero(scan.left * scan.right):
        inside = range(int(scan.first[p]), int(scan.last[p]) + 1)
        found |= {(i, j) for i in inside for j in inside if i < j}
    return found


def blocks_of(scan: Workload, config: Config) -> int:
    """Bytes of the largest copied block, position by position."""
    sizes = [0]
    for p in range(len(scan.left)):
        one = Workload.single(int(scan.left[p]), int(scan.right[p]))
        passes = split(one, config)
        beats = -(-passes.beats * config.lanes // config.memory.words_per_beat)
        streamed = config.rs_prefetch == "none"
        columns = passes.columns * 2 if streamed else passes.columns + 1
        sizes.append(int((columns * beats).sum()) * config.memory.words_per_beat * 4)
    return max(sizes) * config.kernels * config.positions_in_flight


def needed_by(scan: Workload, config: Config, pairs: int) -> int:
    words = -(-scan.samples // 64)
    copied = config.layout == "repacked" or config.lane_map == "blocked"
    return 4 * pairs + (8 * words * scan.snps if config.ld == "card" else 0) + blocks_of(scan, config) * copied


scans = st.builds(
    lambda places, grid, reach, samples: Workload.from_positions(
        np.sort(np.array(places)), grid=grid, minwin=20, maxwin=reach, samples=samples
    ),
    places=st.lists(st.integers(1, 5_000), min_size=30, max_size=150),
    grid=st.integers(2, 40),
    reach=st.integers(100, 1_500),
    samples=st.integers(0, 300),
)
designs = st.builds(
    lambda **changes: load("u200").but(unroll=8, **changes),
    layout=st.sampled_from(["repacked", "shifted"]),
    lane_map=st.sampled_from(["interleaved", "blocked"]),
    ld=st.sampled_from(["card", "published"]),
    rs_prefetch=st.sampled_from(["per_position", "none"]),
    positions_in_flight=st.integers(1, 2),
)


@given(scans, designs)
def test_what_has_to_lie_in_memory(scan: Workload, config: Config) -> None:
    found = card_memory(scan, config)
    assert found.needed == needed_by(scan, config, len(pairs_of(scan)))
    assert found.stretches == (scan,)
    assert found.capacity == 32 << 30


@given(scans, designs, st.floats(0.05, 1.1))
def test_stretches_fit_are_as_long_as_possible_and_hold_every_position(
    scan: Workload, config: Config, share: float
) -> None:
    whole = card_memory(scan, config).needed
    assume(scan.omegas and whole)
    with pytest.MonkeyPatch.context() as patch:
        size = max(round(share * whole), 2)
        board = dataclasses.replace(BOARDS["u200"], bank_gib=size / 2 / 2**30)
        patch.setitem(BOARDS._made, "u200", board)  # type: ignore[attr-defined]
        try:
            found = card_memory(scan, config)
        except ModelError:
            found = None
    capacity = 2 * (size // 2) if size % 2 == 0 else size
    blocks = needed_by(scan, config, 0) - (8 * -(-scan.samples // 64) * scan.snps if config.ld == "card" else 0)

    def bytes_of(places: list[int]) -> int:
        inside = set().union(*(_pairs_at(scan, p) for p in places))
        snps = int(scan.last[places[-1]] - scan.first[places[0]]) + 1
        genotypes = 8 * -(-scan.samples // 64) * snps if config.ld == "card" else 0
        return 4 * len(inside) + genotypes + blocks

    places = np.flatnonzero(scan.left * scan.right).tolist()
    if found is None:
        assert any(bytes_of([p]) > capacity for p in places)
        return
    if len(found.stretches) == 1:
        assert found.needed <= capacity or bytes_of(places) <= capacity
        return
    done: list[int] = []
    for stretch in found.stretches:
        count = int((stretch.left * stretch.right > 0).sum())
        mine = places[len(done) : len(done) + count]
        assert bytes_of(mine) <= capacity
        more = places[len(done) : len(done) + count + 1]
        assert len(more) == count or bytes_of(more) > capacity
        for name in ("left", "right"):
            np.testing.assert_array_equal(getattr(stretch, name)[stretch.left > 0], getattr(scan, name)[mine])
        assert len(pairs_of(stretch)) == len(set().union(*(_pairs_at(scan, p) for p in mine))) == stretch.window_pairs
        assert stretch.snps == scan.last[mine[-1]] - scan.first[mine[0]] + 1
        done += mine
    assert done == places


def _pairs_at(scan: Workload, p: int) -> set[tuple[int, int]]:
    inside = range(int(scan.first[p]), int(scan.last[p]) + 1)
    return {(i, j) for i in inside for j in inside if i < j}


SCAN = Workload.uniform(800, grid=40, samples=100)  # windows of 320 SNPs; M takes 798 kB, a block 66 kB


def test_stretches_cost_what_they_do_again(small_card) -> None:  # type: ignore[no-untyped-def]
    design = load("u200")
    before = {phase.name: phase for phase in scan_phases(SCAN, design)}
    small_card(360_000)
    after = {phase.name: phase for phase in scan_phases(SCAN, design)}
    found = card_memory(SCAN, design)
    count = len(found.stretches)
    assert count > 3
    alone: dict[str, Phase] = {}
    for name in ("LD", "build M", "send genotypes"):
        parts = [phase for one in found.stretches for phase in scan_phases(one, design) if phase.name == name]
        alone[name] = parts[0]
        assert after[name].seconds.likely == pytest.approx(sum(part.seconds.likely for part in parts))
        assert after[name].seconds.high == pytest.approx(sum(part.seconds.high for part in parts))
        assert after[name].operations == sum(part.operations for part in parts)
        assert after[name].bytes == sum(part.bytes for part in parts)
        assert after[name].seconds.likely > before[name].seconds.likely
        assert f"In {count} stretches" in after[name].assumptions[-1]
    for name in ("pack genotypes", "repack blocks of M", "omega pipelines", "remainder", "fetch results"):
        assert after[name] == before[name]
    assert after["start kernels"].operations == before["start kernels"].operations + 2 * (count - 1)
    assert after["LD"].operations == found.pairs > SCAN.window_pairs


def test_published_ld_is_computed_once_and_its_r2_is_sent_again(small_card) -> None:  # type: ignore[no-untyped-def]
    design = load("u200").but(ld="published")
    before = {phase.name: phase for phase in scan_phases(SCAN, design, all_pairs=True)}
    small_card(360_000)
    after = {phase.name: phase for phase in scan_phases(SCAN, design, all_pairs=True)}
    assert after["LD"] == before["LD"]
    assert after["send r2"].bytes == 4 * card_memory(SCAN, design).pairs > before["send r2"].bytes


@pytest.mark.parametrize(("kernels", "flight"), [(1, 1), (2, 1), (1, 2)])
def test_kernels_are_started_in_each_stretch(kernels: int, flight: int, small_card) -> None:  # type: ignore[no-untyped-def]
    memory = dataclasses.replace(load("u200").memory, ports=1)
    design = load("u200").but(launch="per_scan", kernels=kernels, positions_in_flight=flight, memory=memory)
    before = {phase.name: phase for phase in scan_phases(SCAN, design)}
    small_card(400_000)
    after = {phase.name: phase for phase in scan_phases(SCAN, design)}
    count = len(card_memory(SCAN, design).stretches)
    assert count > 2
    assert before["start kernels"].operations == kernels + 2
    assert after["start kernels"].operations == count * (kernels + 2)
    one = design.hardware.launch_us.likely * 1e-6
    assert after["start kernels"].seconds.likely == pytest.approx(count * 3 * one)
    pipelines = after["omega pipelines"].seconds
    alone = sum(simulate(one, design).hardware_seconds for one in card_memory(SCAN, design).stretches)
    assert pipelines.likely == before["omega pipelines"].seconds.likely
    assert pipelines.low * (1 - 1e-9) <= alone <= pipelines.high * (1 + 1e-9)
    assert (pipelines.high > pipelines.likely) == (kernels * flight > 1)


def test_what_the_host_builds_needs_two_windows_or_the_blocks(small_card) -> None:  # type: ignore[no-untyped-def]
    bare = Workload.uniform(240, grid=40)
    design = load("u200").but(unroll=8, host_transfer="incremental")
    windows = [len(_pairs_at(bare, p)) for p in range(40)]
    new = [len(_pairs_at(bare, p) - _pairs_at(bare, p - 1)) if p else 0 for p in range(40)]
    most = max(window + more for window, more in zip(windows, [*new[1:], 0], strict=True))
    assert card_memory(bare, design).needed == 4 * most + blocks_of(bare, design)
    full = design.but(host_transfer="full")
    assert card_memory(bare, full).needed == 2 * blocks_of(bare, full)
    assert card_memory(bare, full.but(host_overlap=False)).needed == blocks_of(bare, full)
    small_card(2 * blocks_of(bare, full) - 2)
    card_memory(bare, full.but(host_overlap=False))
    for one in (full, design):
        with pytest.raises(ModelError, match=r"have to lie in the card.s memory at a time; memory.banks=2 of u"):
            card_memory(bare, one)


def test_memory_that_software_shares_is_not_all_the_designs() -> None:
    assert card_memory(SCAN, load("zcu102")).capacity == 3 << 30
    assert card_memory(SCAN, load("u280_hbm")).capacity == 4 << 30
    banks = dataclasses.replace(load("u200").memory, banks=4)
    assert card_memory(SCAN, load("u200").but(memory=banks)).capacity == 64 << 30


# refusals


def test_m_that_no_card_holds_is_not_projected_as_if_it_fitted(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["project", *TOO_LARGE, "--no-measure", "--set", "memory.banks=4"]) == 0
    assert "247 GB do not fit the 68.7 GB of memory.banks=4: done in 7 stretches" in capsys.readouterr().out
    assert fpga(["project", *TOO_LARGE, "--no-measure", "--board", "u280_hbm"]) == 2
    assert "have to lie in the card's memory at a time; memory.banks=16 of u280_hbm" in capsys.readouterr().err


def test_stretches_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["project", "--snps", "600k", "--length", "10M", "--maxwin", "200k", "--grid", "500", "--no-measure"]
    assert fpga([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)["projections"][0]
    memory = record["card_memory"]
    assert memory["capacity_bytes"] == 32 << 30 < memory["needed_bytes"]
    assert memory["stretches"] == 2
    assert fpga([*words]) == 0
    out = capsys.readouterr().out
    assert "do not fit the 34.4 GB of memory.banks=2: done in 2 stretches of positions, which compute 1.02 times" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--snps", "60k", "--board", "u280_hbm", "--length", "30000", "--grid", "21"],
         "a window has up to 60,000 SNPs, and 6.84 GB have to lie in the card's memory at a time; memory.banks=16 of "
         "u280_hbm hold 4.29 GB: take a smaller maxwin, or more banks (u280 has 32)"),
        (["--snps", "30000", "--board", "zcu102", "--all-pairs", "--samples", "90"],
         "r2 of all pairs of 30,000 SNPs takes 3.73 GB with the other data on the card; memory.banks=1 of zcu102 hold "
         "3.22 GB, 75 % of them: count the pairs that windows hold (leave out all_pairs), or take ld=published"),
        (["--snps", "600k", "--no-measure"], "the 32-bit counters of the hardware take 65,536: take a smaller maxwin"),
    ],
)  # fmt: skip
def test_what_no_stretch_helps_is_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["project", *words]) == 2
    assert said in capsys.readouterr().err


def test_too_many_stretches_are_refused(small_card) -> None:  # type: ignore[no-untyped-def]
    scan = Workload.uniform(3_000, grid=2_900, minwin=100, maxwin=1_000)
    config = load("u200").but(layout="shifted")
    widest = max(int(scan.last[p] - scan.first[p]) + 1 for p in np.flatnonzero(scan.left * scan.right))
    small_card(2 * widest * (widest - 1))
    with pytest.raises(ModelError, match=f"in more than {MOST_STRETCHES:,} stretches"):
        card_memory(scan, config)


def test_a_total_that_does_not_fit_is_left_out(small_card, capsys: pytest.CaptureFixture[str]) -> None:  # type: ignore[no-untyped-def]
    """Without the copy of blocks a window fits; with it, it does not."""
    bare = Workload.uniform(240, grid=40)
    window = 4 * max(len(_pairs_at(bare, p)) for p in range(40))
    small_card(window + 2)
    with pytest.raises(ModelError, match="have to lie in the card's memory"):
        project(bare, load("u200"))
    one = project(bare, load("u200"), accounting="paper")
    assert set(one.totals) == {"paper"}
    assert fpga(["project", "--snps", "240", "--grid", "40", "--accounting", "paper"]) == 0
    assert "does not fit" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(PRESETS))
@pytest.mark.parametrize("transfer", TRANSFERS)
def test_scans_of_the_paper_fit_at_once(name: str, transfer: str) -> None:
    design = load(name).but(host_transfer=transfer)
    for snps, samples in ((13_000, 7_000), (15_000, 500), (5_000, 60_000)):
        found = card_memory(Workload.uniform(snps, samples=samples), design)
        assert found.needed <= found.capacity
        assert len(found.stretches) == 1
