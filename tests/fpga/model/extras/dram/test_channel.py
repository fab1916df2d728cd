"""A channel keeps every rule of its part, and takes the clocks that a DRAM simulator takes."""

from __future__ import annotations

import csv
import dataclasses
import functools
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from hls_model import ModelError
from hls_model.extras.dram import PARTS, Channel, Command, Mapping, Part, find_part
from hls_model.extras.dram.bench import STATES, bandwidth, idle_ns, sweep
from hls_model.extras.dram.channel import MAX_SKIPPED
from tests.helpers.dram_oracle import violations
from tests.helpers.dram_traces import comparable_map, trace

GOLDEN = Path(__file__).parents[4] / "data" / "hls_model" / "dramsim3.csv"
# The simulator reorders among its banks; these are the traces where that makes a difference, and our window for them.
REORDERED = {"random": 64, "banks in turn": 16, "random runs of 16": 64}
# Greatest deviation from the simulator's clocks. It serves its bank queues in turn, and not what is ready first.
LOOSE = {
    ("hbm2", "stride 2"): 0.05,
    ("hbm2", "banks in turn"): 0.02,
    ("ddr4_2133", "banks in turn"): 0.05,
    ("ddr4_2133", "random"): 0.06,
    ("ddr4_2400", "random"): 0.03,
    ("hbm2", "random"): 0.02,
    ("ddr4_2133", "random runs of 16"): 0.15,
    ("hbm2", "random runs of 16"): 0.02,
}
TIGHT = 0.008


def test_a_request_is_not_passed_without_end():
    part = PARTS["ddr4_2400"]
    mapping = Mapping(part)
    hits = [(0, mapping.access(column=column % part.columns)) for column in range(200)]
    requests = [hits[0], (0, mapping.access(row=1)), *hits[1:]]  # a conflict among hits of its bank
    ends = Channel(mapping, first_refresh=part.refi).read_all(requests, reorder=True)
    before = sum(end < ends[1] for end in ends)
    assert before == 1 + MAX_SKIPPED


@functools.cache
def golden() -> tuple[dict[str, str], ...]:
    lines = [line for line in GOLDEN.read_text().splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines))


def run(part: Part, requests: list[tuple[int, int]], **options: object) -> tuple[list[int], list[Command]]:
    commands: list[Command] = []
    reorder = bool(options.pop("reorder", False))
    mapping = options.pop("mapping", None) or Mapping(part)
    channel = Channel(mapping, commands=commands, **options)  # type: ignore[arg-type]
    ends = channel.read_all(requests, reorder=reorder)
    assert channel.hits + channel.closed + channel.conflicts == len(requests)
    return ends, commands


def requests_of(part: Part) -> st.SearchStrategy[list[tuple[int, int]]]:
    mapping = Mapping(part)
    few = st.builds(
        mapping.access,
        row=st.integers(0, 2),
        column=st.integers(0, part.columns - 1),
        bank=st.integers(0, part.banks - 1),
        group=st.integers(0, part.groups - 1),
    )
    anywhere = st.integers(0, 2 * mapping.accesses)
    mixed = st.one_of(st.just(0), st.integers(0, 60), st.integers(0, 1_000))
    lists = [
        st.lists(st.tuples(gaps, accesses), max_size=40)
        for gaps, accesses in ((st.just(0), anywhere), (st.just(0), few), (mixed, st.one_of(few, anywhere)))
    ]
    return st.one_of(lists).map(
        lambda pairs: [(sum(each for each, _ in pairs[: n + 1]), access) for n, (_, access) in enumerate(pairs)]
    )


@pytest.mark.parametrize("name", PARTS)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_every_schedule_keeps_every_rule(name: str, data: st.DataObject) -> None:
    part = PARTS[name]
    requests = data.draw(requests_of(part))
    first = data.draw(st.integers(0, part.refi - 1))
    reorder = data.draw(st.booleans())
    window = data.draw(st.integers(1, 20))
    ends, commands = run(part, requests, window=window, first_refresh=first, reorder=reorder)
    assert violations(part, commands, first) == []
    mapping = Mapping(part)
    served = sorted((command.bank, command.row) for command in commands if command.name == "READ")
    assert served == sorted(mapping.locate(access) for _, access in requests)
    own = part.cl + part.burst
    assert sorted(ends) == sorted(command.clock + own for command in commands if command.name == "READ")
    for (when, _), end in zip(requests, ends, strict=True):
        assert end >= when + own
    if not reorder:
        assert ends == sorted(ends)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_rules_of_any_part_are_kept(data: st.DataObject) -> None:
    base = PARTS[data.draw(st.sampled_from(sorted(PARTS)))]
    times = {
        name: data.draw(st.integers(1, 40), label=name)
        for name in ("rcd", "rp", "ras", "rtp", "ccd_s", "ccd_l", "rrd_s", "rrd_l", "faw", "rfc")
    }
    part = dataclasses.replace(base, **times, refi=400, split_bus=data.draw(st.booleans()))
    first = data.draw(st.integers(0, 399))
    ends, commands = run(part, data.draw(requests_of(part)), first_refresh=first)
    assert violations(part, commands, first) == []
    assert ends == sorted(ends)


BROKEN = {
    "rcd": "tRCD", "rp": "tRP", "ras": "tRAS", "rtp": "tRTP", "ccd_l": "tCCD_L", "rrd_s": "tRRD_S", "rrd_l": "tRRD_L",
    "faw": "tFAW", "rfc": "tRFC",
}  # fmt: skip


@pytest.mark.parametrize("field", BROKEN)
def test_the_checker_sees_a_controller_that_ignores_a_rule(field: str) -> None:
    part = find_part("ddr4_2400")
    mapping = Mapping(part)
    if field == "ras":
        requests = [(0, mapping.access(row=i)) for i in range(8)]
    elif field in ("rtp", "rcd", "rp"):
        requests = [(0, mapping.access(row=i // 12)) for i in range(60)]  # the last READ of a row decides on tRTP
    elif field == "rrd_l":
        requests = [(0, mapping.access(row=i, bank=i % 4)) for i in range(8)]
    elif field == "ccd_l":
        requests = [(0, mapping.access(column=i)) for i in range(8)]
    elif field == "rfc":
        requests = [(20 * i, i) for i in range(60)]
    else:
        requests = [(0, mapping.access(row=1, group=i % 4, bank=i // 4)) for i in range(16)]
    careless = dataclasses.replace(part, **{field: 0}, **({"rrd_s": 3, "rrd_l": 3} if field == "faw" else {}))
    _, commands = run(careless, requests, first_refresh=500)
    assert any(BROKEN[field] in found for found in violations(part, commands))
    _, commands = run(part, requests, first_refresh=500)
    assert violations(part, commands, 500) == []


def test_the_checker_sees_what_no_controller_here_does() -> None:
    part = find_part("ddr4_2400")
    act, read = Command(10, "ACT", 0, 7), Command(10 + part.rcd, "READ", 0, 7)
    assert violations(part, [act, read]) == []
    assert violations(part, [read]) != []
    assert violations(part, [act, dataclasses.replace(read, row=8)]) != []
    assert violations(part, [act, Command(10, "ACT", 4, 7)]) != []
    assert violations(part, [act, Command(100, "ACT", 0, 7)]) != []
    assert violations(part, [act, Command(100, "REF", -1, -1)]) != []
    assert violations(part, [act, Command(100, "WRITE", 0, 7)]) != []
    assert violations(part, [Command(10, "PRE", 0, 7)]) != []
    often = dataclasses.replace(part, refi=100)
    late = [act, Command(1_000, "READ", 0, 7)]
    assert violations(often, late) == []
    assert "refreshes are owed" in violations(often, late, 0)[0]


@pytest.mark.parametrize("row", golden(), ids=lambda row: f"{row['part']}-{row['trace']}")
def test_clocks_are_those_of_a_dram_simulator(row: dict[str, str]) -> None:
    part, name, reads, last = find_part(row["part"]), row["trace"], int(row["reads"]), int(row["last"])
    mapping = comparable_map(part)
    requests = trace(name, mapping, reads)
    window = REORDERED.get(name, 16)
    reorder = name in REORDERED and (part.name, name) in LOOSE
    ends, commands = run(part, requests, mapping=mapping, window=window, first_refresh=part.refi, reorder=reorder)
    assert max(ends) == pytest.approx(last, rel=LOOSE.get((part.name, name), TIGHT))
    if name.startswith("slow"):  # single READs: the simulator's queues take a clock or two each
        waited = (sum(ends) - sum(when for when, _ in requests)) / reads
        assert 0 <= int(row["waited"]) / reads - waited <= 2.5
    if name == "slow sequential":
        assert violations(part, commands[:400]) == []


def test_golden_clocks_are_complete() -> None:
    assert {row["part"] for row in golden()} == set(PARTS)
    assert len(golden()) == 33


@pytest.mark.parametrize("name", PARTS)
def test_map_and_its_inverse(name: str) -> None:
    part = PARTS[name]
    mapping = Mapping(part)
    assert mapping.accesses * part.access_bytes == {"ddr4_2400": 16, "ddr4_2133": 4, "hbm2": 0.25}[name] * 2**30
    for access in (0, 1, 2, 37, 4_711, mapping.accesses - 1):
        fields = mapping.fields(access)
        assert mapping.access(**fields) == access
        assert mapping.locate(access) == (fields["group"] * part.banks + fields["bank"], fields["row"])
        assert mapping.fields(access + mapping.accesses) == fields
    block = {(*mapping.locate(access), mapping.fields(access)["column"]) for access in range(4_096)}
    assert len(block) == 4_096


def test_wrong_maps_are_refused() -> None:
    part = find_part("ddr4_2400")
    with pytest.raises(ModelError, match="3 bits of row"):
        Mapping(part, (("row", 3), ("column", 7), ("bank", 2), ("group", 2)))
    with pytest.raises(ModelError, match="names rank"):
        Mapping(part, (("rank", 1), ("row", 17), ("column", 7), ("bank", 2), ("group", 2)))
    with pytest.raises(ModelError, match="window of a channel is 0"):
        Channel(Mapping(part), window=0)


@pytest.mark.parametrize("name", PARTS)
def test_idle_reads_take_what_the_part_says(name: str) -> None:
    part = PARTS[name]
    own = part.cl + part.burst
    expected = (own, own + part.rcd, own + part.rp + part.rcd)
    assert [idle_ns(part, state) for state in STATES] == [part.ns(clocks) for clocks in expected]


def test_times_of_parts_are_those_of_their_standards() -> None:
    ddr4, hbm2 = find_part("ddr4_2400"), find_part("hbm2")
    assert (ddr4.cl, ddr4.rcd, ddr4.rp, ddr4.ras, ddr4.rfc, ddr4.refi) == (17, 17, 17, 39, 420, 9_360)
    assert (ddr4.ccd_s, ddr4.ccd_l, ddr4.rrd_s, ddr4.rrd_l, ddr4.faw, ddr4.rtp) == (4, 6, 4, 6, 16, 9)
    assert (ddr4.peak_gbps, hbm2.peak_gbps) == (19.2, 14.4)
    slow = find_part("ddr4_2133")
    assert (slow.ras, slow.rfc, slow.refi, slow.ccd_l, slow.rrd_s, slow.rrd_l, slow.faw) == (
        36,
        374,
        8_320,
        6,
        6,
        7,
        32,
    )


def test_hbm_reaches_what_was_measured_on_a_u280() -> None:
    # Wang et al., "Benchmarking High Bandwidth Memory on FPGAs" (FCCM 2020, arXiv 2005.04324): up to 425 GB/s.
    all_channels = 32 * bandwidth(find_part("hbm2"), 1024, 1024).gbps
    assert all_channels == pytest.approx(425, rel=0.01)


def test_bandwidth_falls_with_the_stride_and_rises_with_the_burst() -> None:
    part = find_part("ddr4_2400")
    by_pair = {(one.burst, one.stride): one.share for one in sweep(part, (64, 1024), (64, 1024, 1 << 20), reads=4_000)}
    assert set(by_pair) == {(64, 64), (64, 1024), (64, 1 << 20), (1024, 1024), (1024, 1 << 20)}
    # Half a tRFC in every tREFI is the least that a sequence loses, and rows that are never hit cost tRC each.
    assert 0.93 < by_pair[64, 64] < 1 - part.rfc / part.refi
    assert by_pair[64, 1 << 20] == pytest.approx(part.burst / (part.ras + part.rp), rel=0.06)
    assert by_pair[64, 1 << 20] < by_pair[64, 1024] < by_pair[64, 64]


@pytest.mark.parametrize(
    ("burst", "stride", "said"),
    [(63, 64, "burst is 63"), (0, 64, "burst is 0"), (64, 100, "stride is 100"), (128, 64, "at least the burst")],
)
def test_wrong_measurements_are_refused(burst: int, stride: int, said: str) -> None:
    with pytest.raises(ModelError, match=said):
        bandwidth(find_part("ddr4_2400"), burst, stride)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ModelError, match="choose one of"):
        find_part("ddr5")
    with pytest.raises(ModelError, match="choose one of hit"):
        idle_ns(find_part("hbm2"), "miss")
