"""Level L2 with a DRAM behind the ports: it adds what the DRAM costs, and nothing else."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator

import numpy as np
import pytest
from helpers.fpga_command import fpga
from hypothesis import given, settings, strategies as st

from hls_model import Config, ModelError, Workload, change, load, parse_settings, simulate
from hls_model.config import Memory
from hls_model.extras.dram import PARTS, PortMemory, memory as dram_memory
from hls_model.extras.dram.bench import bandwidth, in_step
from hls_model.extras.dram.memory import shares
from hls_model.extras.recording import record
from hls_model.timing import machine
from hls_model.timing.machine import Probe, ReadPath

BOARDS = (("zcu102", "ddr4_2133"), ("u200", "ddr4_2400"), ("u280_hbm", "hbm2"))


def with_dram(name: str, dram: str, *settings_: str) -> Config:
    return change(load(name), parse_settings([f"memory.dram={dram}", *settings_]))


def fixed(config: Config, **changes: object) -> Config:
    """The same design without a DRAM, whose banks always keep up."""
    return config.but(memory=dataclasses.replace(config.memory, dram="none", bank_gbps=1e6, **changes))


class Constant(PortMemory):
    """A memory that has every burst a fixed number of cycles after it is asked for."""

    def __init__(self, latency: int) -> None:
        self.latency = latency
        self.asked: list[tuple[int, int]] = []

    def burst(self, cycle: int, beat: int, beats: int) -> list[int]:
        self.asked.append((beat, beats))
        return [cycle + self.latency] * beats


def probe_into(events: list[tuple[str, int]]) -> Probe:
    def keep(name: str):  # type: ignore[no-untyped-def]
        return lambda cycle: events.append((name, cycle))

    return Probe(lambda state, cycle, column: None, keep("requested"), keep("taken"), keep("blocked"), keep("issued"))


@settings(max_examples=60, deadline=None)
@given(
    unroll=st.sampled_from((1, 4, 6, 8, 32)),
    ii=st.integers(1, 3),
    latency=st.integers(1, 70),
    burst=st.integers(1, 20),
    outstanding=st.integers(1, 5),
    room=st.integers(0, 6),
    ports=st.integers(1, 2),
    port_bits=st.sampled_from((32, 128, 256)),
    columns=st.integers(1, 4),
    beats=st.integers(1, 60),
    start=st.integers(0, 9),
    streamed=st.booleans(),
)
def test_a_constant_memory_is_the_machine_without_dram(
    unroll, ii, latency, burst, outstanding, room, ports, port_bits, columns, beats, start, streamed
):
    words = unroll * (2 if streamed else 1)
    needed = -(-words // (ports * port_bits // 32))
    memory = Memory(
        latency_ns=4.0 * latency, port_bits=port_bits, ports=ports, banks=ports, burst_length=burst,
        outstanding=outstanding, fifo_beats=max(2, needed + room), bank_gbps=1e6,
    )  # fmt: skip
    config = Config(unroll=unroll, ii=ii, memory=memory, rs_prefetch="none" if streamed else "per_position")
    path = ReadPath.to_lanes(config, beats)
    found: list[tuple[str, int]] = []
    expected: list[tuple[str, int]] = []
    source = Constant(config.latency)
    got = machine._stream(path, columns, start, probe_into(found), source, 100)
    wanted = machine._stream(path, columns, start, probe_into(expected), None, 0)
    assert got == wanted
    assert found == expected
    apart = -(-len(path.offers) // burst) * burst
    starts = [100 + column * apart for column in range(columns)]
    assert source.asked == [
        (begin + at, min(burst, len(path.offers) - at)) for begin in starts for at in range(0, len(path.offers), burst)
    ]


@pytest.mark.parametrize(("name", "dram"), BOARDS)
@settings(max_examples=30, deadline=None)
@given(clock=st.floats(60, 490), latency=st.floats(60, 900), beat=st.integers(0, 5_000), seed=st.integers(0, 9))
def test_an_idle_read_of_an_open_row_takes_the_latency_of_the_design(name, dram, clock, latency, beat, seed):
    memory = {"latency_ns": latency, "dram_seed": seed, "ports": 1, "banks": 1}  # others would refresh at other times
    config = change(with_dram(name, dram), {"clock_mhz": clock, "memory": memory})
    dram_behind = PortMemory(config)
    waits = []
    for asked in (0, 1_000, 2_100, 3_300, 4_600):  # a refresh can close the row in between
        dram_behind.burst(asked, beat, 1)
        later = asked + int(clock / 2)
        waits.append(dram_behind.burst(later, beat, 1)[0] - later)
    assert min(waits) == config.latency
    split = shares(config)
    assert split.dram_ns + split.path_ns == pytest.approx(config.latency * 1e3 / config.clock_mhz)
    part = PARTS[dram]
    assert split.dram_ns == part.ns(part.cl + part.burst + 1)


def bursts(config: Config, count: int) -> Iterator[tuple[int, list[int]]]:
    memory, length = PortMemory(config), config.memory.burst_length
    for number in range(count):
        yield 20 * number, memory.burst(20 * number, number * length, length)


@pytest.mark.parametrize(("name", "dram"), BOARDS)
def test_beats_come_in_order_and_never_before_the_latency(name, dram):
    config = with_dram(name, dram)
    last = 0
    for asked, cycles in bursts(config, 200):
        assert len(cycles) == config.memory.burst_length
        assert cycles == sorted(cycles)
        assert cycles[0] >= max(last, asked + config.latency)
        last = cycles[-1]


def test_the_slowest_port_decides():
    both, one = with_dram("u200", "ddr4_2400"), with_dram("u200", "ddr4_2400", "memory.ports=1", "memory.banks=1")
    together, alone = list(bursts(both, 400)), list(bursts(one, 400))
    assert all(a[1][-1] >= b[1][-1] for a, b in zip(together, alone, strict=True))
    assert any(a[1][-1] > b[1][-1] for a, b in zip(together, alone, strict=True))  # the other channel's refreshes
    shared = list(bursts(with_dram("u200", "ddr4_2400", "memory.banks=1"), 400))
    assert shared[-1][1][-1] > 1.2 * alone[-1][1][-1]  # 32 beats in 20 cycles are more than one channel has


@pytest.mark.parametrize(("name", "dram"), BOARDS)
@pytest.mark.parametrize("overlap", [False, True])
def test_a_dram_costs_time_and_no_more_than_it_can(name, dram, overlap):
    config = with_dram(name, dram, f"overlap_outer={str(overlap).lower()}")
    work = Workload.single(40, 3_000)
    plain, found = simulate(work, fixed(config), "L2"), simulate(work, config, "L2")
    assert found.cycles > plain.cycles
    assert found.phases["stream"] == plain.phases["stream"]
    assert found.phases["drain"] == plain.phases["drain"]
    # Each column opens at most two rows on each port before its first beat, and a refresh hits one in tREFI.
    part = PARTS[dram]
    per_column = part.ns(2 * (part.rp + part.rcd + part.ras)) * config.clock_mhz / 1e3
    refreshes = found.seconds * 1e9 / part.ns(part.refi) + 2
    each = part.ns(part.rfc + part.ras + part.rp + part.rcd) * config.clock_mhz / 1e3 * config.memory.ports
    assert found.cycles - plain.cycles < 41 * per_column + refreshes * each


def test_a_design_that_waits_for_its_dram_gets_the_bandwidth_of_it():
    config = with_dram("u200", "ddr4_2400", "overlap_outer=true", "clock_mhz=400", "memory.outstanding=64")
    timing = simulate(Workload.single(60, 6_016), config, "L2")
    cycles = sum(int(timing.phases[name].sum()) for name in ("stream", "stall"))
    read = 60 * 6_016 * 4 / (cycles / 400e6) / 1e9
    expected = 2 * bandwidth(PARTS["ddr4_2400"], 1024, 1024).gbps
    assert read == pytest.approx(expected, rel=0.02)
    gbps, roof = in_step(config)
    assert roof == 2 * 19.2
    assert gbps == pytest.approx(read, rel=0.02)
    slow, ports = in_step(with_dram("u200", "ddr4_2400", "clock_mhz=100"))
    assert ports == 100e6 * 128 / 1e9
    assert slow == pytest.approx(ports, rel=0.02)
    assert in_step(with_dram("u200", "ddr4_2400", "memory.outstanding=1"))[0] < 0.3 * 32


def test_refreshes_start_anywhere_and_every_position_is_stepped():
    work = Workload.uniform(300, grid=6)
    config = with_dram("u200", "ddr4_2400")
    timing = simulate(work, config, "L2")
    assert timing.bound == "exact"
    assert simulate(work, config, "L2").cycles == timing.cycles
    seeds = {simulate(work, with_dram("u200", "ddr4_2400", f"memory.dram_seed={n}"), "L2").cycles for n in range(4)}
    assert len(seeds) > 1
    busy = timing.position_cycles[timing.position_cycles > 0]
    assert len(busy) == np.count_nonzero((work.left > 0) & (work.right >= 32))


@pytest.mark.parametrize("prefetch", ["per_position", "per_outer", "none"])
def test_a_recording_has_the_cycles_of_the_level(prefetch):
    config = with_dram("u200", "ddr4_2400", f"rs_prefetch={prefetch}", "rs_buffer_words=1024")
    work = Workload.single(3, 2_500)
    from hls_model.timing.passes import split

    passes = split(work, config)
    recording = record(config, passes.columns, passes.beats)
    timing = simulate(work, config, "L2")
    assert recording.cycles == timing.cycles
    assert recording.phases == {name: int(timing.phases[name].sum()) for name in recording.phases}


@pytest.mark.parametrize("level", ["L1"])
def test_other_levels_refuse(level):
    with pytest.raises(ModelError, match=r"memory.dram is hbm2, which level L2 alone models; take --level L2"):
        simulate(Workload.single(3, 300), with_dram("u280_hbm", "hbm2"), level)


def test_too_many_cycles_are_refused(monkeypatch):
    monkeypatch.setattr(dram_memory, "MAX_CYCLES", 1_000)
    with pytest.raises(ModelError, match="1,000 at most with memory"):
        simulate(Workload.single(30, 3_000), with_dram("u200", "ddr4_2400"), "L2")
    monkeypatch.undo()
    monkeypatch.setattr(dram_memory, "MAX_READS", 30 * 2_976 // 16 - 1)
    with pytest.raises(ModelError, match="would read the DRAM 5,580 times, 5,579 at most; take fewer positions"):
        simulate(Workload.single(30, 3_000), with_dram("u200", "ddr4_2400"), "L2")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["timing", "--level", "L2", "--set", "memory.dram=ddr5"], "memory.dram is 'ddr5'; choose one of ddr4_2133"),
        (["timing", "--level", "L2", "--set", "memory.dram=hbm2"], "memory.dram is hbm2; u200 has DDR4"),
        (["timing", "--set", "memory.dram=ddr4_2400"], "level L2 alone models"),
        (["project", "--set", "memory.dram=ddr4_2400"], "level L2 alone models"),
        (["timing", "--level", "L2", "--set", "memory.dram=ddr4_2400", "--set", "memory.latency_ns=10"], "18.3 ns"),
        (["timing", "--set", "memory.dram=ddr4_2400", "--set", "memory.burst_gap=2"], "memory.burst_gap is 2; with"),
        (["timing", "--set", "memory.dram_seed=-1"], "memory.dram_seed is -1"),
        (["memory", "--burst", "100"], "the burst is 100 bytes"),
        (["memory", "--stride", "100"], "the stride is 100 bytes"),
        (["memory", "--stride", "32"], "--stride 32 is less than every burst"),
    ],
)
def test_errors_are_one_line(words, said, capsys):
    assert fpga(words) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert said in error


def test_commands_take_a_dram(capsys, tmp_path):
    dram = ["--set", "memory.dram=ddr4_2400"]
    assert fpga(["timing", "--level", "L2", "--left", "10", *dram, "--json"]) == 0
    timing = json.loads(capsys.readouterr().out)
    config = with_dram("u200", "ddr4_2400")
    assert timing["cycles"] == simulate(Workload.single(10, 1_000), config, "L2").cycles
    assert fpga(["project", "--level", "L2", "--snps", "300", "--grid", "5", *dram]) == 0
    assert "u200" in capsys.readouterr().out
    path = tmp_path / "trace.vcd"
    assert fpga(["trace", "--left", "3", *dram, "--vcd", str(path)]) == 0
    assert "prefetch" in capsys.readouterr().out
    assert path.stat().st_size > 1_000


@pytest.mark.parametrize(("board", "part"), [("zcu102", "ddr4_2133"), ("u250", "ddr4_2400"), ("u280_hbm", "hbm2")])
def test_memory_prints_what_the_board_has(board, part, capsys):
    assert fpga(["memory", "--board", board, "--burst", "256", "--stride", "256"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{part} behind {board}")
    assert "level L1 takes" in text
    assert fpga(["memory", "--board", board, "--burst", "256", "--stride", "256", "--json"]) == 0
    record_ = json.loads(capsys.readouterr().out)
    assert record_["dram"] == part
    assert len(record_["bandwidth"]) == 1
    assert record_["bandwidth"][0]["share"] == bandwidth(PARTS[part], 256, 256).share


def test_memory_compares_what_is_reached_in_bytes(capsys):
    """The ZCU102's bank is taken at 2,400 MT/s and its DRAM runs at 2,133: shares of two peaks do not subtract."""
    assert fpga(["memory", "--board", "zcu102", "--burst", "1024", "--stride", "1024"]) == 0
    text = capsys.readouterr().out
    reached = bandwidth(PARTS["ddr4_2133"], 1024, 1024).gbps
    taken = load("zcu102").efficiency * 19.2
    assert f"reach {reached:.2f} GB/s of a channel, 94.1 % of its peak" in text
    assert f"takes {taken:.2f} GB/s, 75 % of 19.2: the {reached - taken:.2f} GB/s between are lost elsewhere" in text
    assert fpga(["memory", "--board", "zcu102", "--burst", "1024", "--set", "memory.efficiency=0.9"]) == 0
    assert "takes 17.28 GB/s, 90 % of 19.2, more than the DRAM gives" in capsys.readouterr().out
