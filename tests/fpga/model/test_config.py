"""Designs: derived values, presets, files and settings, and one clear line for each bad parameter."""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from hls_model import PRESETS, Config, Memory, ModelError, Operators, change, load, parse_settings

BAD = [
    ("unroll=0", "unroll is 0; it has to be 1 or more"),
    ("unroll=2.5", "unroll is 2.5; it has to be a whole number"),
    ("unroll=true", "unroll is True; it has to be a whole number"),
    ("unroll=many", "unroll is 'many'; it has to be a whole number"),
    ("physical_lanes=5", "physical_lanes is 5; it has to divide the unroll, 32"),
    ("physical_lanes=-1", "physical_lanes is -1; it has to be 0 or more"),
    ("ii=0", "ii is 0; it has to be 1 or more"),
    ("ii=64", "ii is 64; beats further apart than the depth of the pipeline, 37 cycles, would not overlap"),
    ("fsm_cycles=0", "fsm_cycles is 0; it has to be 1 or more"),
    ("clock_mhz=0", "clock_mhz is 0.0; it has to be a positive number"),
    ("clock_mhz=nan", "clock_mhz is nan; it has to be a positive number"),
    ("clock_mhz=inf", "clock_mhz is inf; it has to be a positive number"),
    ("clock_mhz=1e308", "clock_mhz is 1e+308; it has to lie between 1e-12 and 1e+24"),
    ("memory.bank_gbps=1e-320", "memory.bank_gbps is 9.99989e-321; it has to lie between 1e-12 and 1e+24"),
    ("power_watts=1e300", "power_watts is 1e+300; 1e+24 is the most"),
    ("software_rate=-1", "software_rate is -1.0; it has to be a positive number"),
    ("host_gbps=-1", "host_gbps is -1; it has to be 0 or more"),
    ("host_gbps=1e-20", "host_gbps is 1e-20; it has to lie between"),
    ("ld_units=0", "ld_units is 0; it has to be 1 or more"),
    ("ld_word_bits=12", "ld_word_bits is 12; it has to be a multiple of 8"),
    ("ld_tile_snps=70000", "ld_tile_snps is 70000; 65536 is the most"),
    ("ld=cloud", "ld is 'cloud'; choose one of card, published"),
    ("layout=loose", "layout is 'loose'; choose one of repacked, shifted"),
    ("launch=never", "launch is 'never'; choose one of per_position, per_scan"),
    ("matrix_adders=0", "matrix_adders is 0; it has to be 1 or more"),
    ("ld_bits_per_s=0", "ld_bits_per_s is 0.0; it has to be a positive number"),
    ("position_overhead_us=-2", "position_overhead_us is -2; it has to be 0 or more"),
    ("power_watts=nan", "power_watts is nan; it has to be 0 or more"),
    ("lane_map=random", "lane_map is 'random'; choose one of interleaved, blocked"),
    ("rs_prefetch=always", "rs_prefetch is 'always'; choose one of per_position, per_outer, none"),
    ("remainder=lost", "remainder is 'lost'; choose one of software, masked"),
    ("host_transfer=some", "host_transfer is 'some'; choose one of none, incremental, full"),
    ("overlap_outer=1", "overlap_outer is 1; it has to be true or false"),
    ("rs_buffer_words=31", "rs_buffer_words is 31; it has to hold one beat, 32 words"),
    ("memory.latency_ns=-1", "memory.latency_ns is -1; it has to be 0 or more"),
    ("memory.ports=0", "memory.ports is 0; it has to be 1 or more"),
    ("memory.port_bits=16", "memory.port_bits is 16; it has to be 32 or more"),
    ("memory.port_bits=100", "memory.port_bits is 100; it has to be a multiple of 32"),
    ("memory.burst_length=0", "memory.burst_length is 0; it has to be 1 or more"),
    ("memory.burst_gap=-1", "memory.burst_gap is -1; it has to be 0 or more"),
    ("memory.burst_gap=59", "memory.burst_gap is 59; it has to be at most the latency, 58 cycles"),
    ("memory.outstanding=0", "memory.outstanding is 0; it has to be 1 or more"),
    ("memory.fifo_beats=1", "memory.fifo_beats is 1; it has to be 2 or more"),
    ("memory.banks=0", "memory.banks is 0; it has to be 1 or more"),
    ("memory.bank_gbps=0", "memory.bank_gbps is 0.0; it has to be a positive number"),
    ("memory.efficiency=1.5", "memory.efficiency is 1.5; it is a share of the peak, at most 1"),
    ("memory.random_gap_percent=101", "memory.random_gap_percent is 101; it has to be 0 to 100"),
    ("memory.random_stall_percent=-1", "memory.random_stall_percent is -1; it has to be 0 to 100"),
    ("memory.random_gap_seed=-1", "memory.random_gap_seed is -1; it has to be 0 or more"),
    ("operators.fdiv=-1", "operators.fdiv is -1; it has to be 0 or more"),
    ("operators.fdiv=ten", "operators.fdiv is 'ten'; it has to be a whole number"),
    ("memory.speed=1", "memory.speed is no parameter; there are memory.latency_ns"),
    ("speed=1", "speed is no parameter; there are name, board, unroll"),
    ("memory=fast", "memory is a table of parameters; set memory.latency_ns and so on"),
    ("unroll", "'unroll' is no setting; write NAME=VALUE"),
    ("=3", "'=3' is no setting; write NAME=VALUE"),
]


@pytest.mark.parametrize(("setting", "message"), BAD, ids=[setting for setting, _ in BAD])
def test_a_bad_setting_gives_one_clear_line(setting: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        change(load("u200"), parse_settings([setting]))
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["overlap_outer=true", "rs_prefetch=per_outer"], "overlap_outer cannot go with rs_prefetch per_outer"),
        (
            ["memory.ports=1", "memory.port_bits=32", "memory.fifo_beats=31"],
            "memory.fifo_beats is 31; it has to hold the 32",
        ),
        (["ii=2", "ii=3"], "ii is set twice"),
        (["memory.latency_ns=2", "memory.latency_ns=3"], "memory.latency_ns is set twice"),
        (["memory=2", "memory.latency_ns=3"], "memory.latency_ns is set twice"),
        (["memory.latency_ns=3", "memory=2"], "memory is set twice"),
    ],
)
def test_settings_that_do_not_go_together_are_named(settings: list[str], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        change(load("u200"), parse_settings(settings))
    assert str(caught.value).startswith(message)


def test_settings_are_put_in_together() -> None:
    config = change(
        load("u200"), parse_settings(["unroll=64", "physical_lanes=16", "memory.latency_ns=7", "board = u250"])
    )
    assert (config.unroll, config.lanes, config.memory.latency_ns, config.board) == (64, 16, 7.0, "u250")
    assert config.memory == dataclasses.replace(load("u200").memory, latency_ns=7.0)
    assert change(config, {}) == config


def test_whole_numbers_do_where_fractions_are_asked_for() -> None:
    config = change(load("u200"), {"clock_mhz": 100})
    assert isinstance(config.clock_mhz, float)


def test_presets_are_the_boards_of_the_paper() -> None:
    assert all(name == config.name for name, config in PRESETS.items())
    zcu102, u200 = load("zcu102"), load("u200")
    assert (zcu102.unroll, zcu102.clock_mhz, zcu102.ideal_rate) == (4, 100.0, 400e6)
    assert (u200.unroll, u200.clock_mhz, u200.ideal_rate) == (32, 250.0, 8e9)
    assert load("u200_resources16").lanes == 16


def test_the_lane_is_as_deep_as_its_longest_path() -> None:
    assert load("u200").depth == 5 + 5 + 10 + 5 + 10 + 2
    assert Operators(1, 1, 1, 1, 1, 1, 1).at(250.0).depth == max(1, 3) + 1 + 1 + 1
    assert Operators(imul=40).at(250.0).depth == 40 + 4 + 10 + 5 + 10 + 2


def test_derived_widths() -> None:
    narrow = Config(unroll=32, memory=Memory(port_bits=96, ports=2))
    assert (narrow.memory.words_per_beat, narrow.beats_per_issue, narrow.issues_per_beat) == (6, 6, 1)
    wide = Config(unroll=3, rs_prefetch="none", memory=Memory(port_bits=512, ports=1))
    assert (wide.issue_words, wide.beats_per_issue, wide.issues_per_beat) == (6, 1, 2)


def test_slow_banks_set_the_pace() -> None:
    memory = Memory(port_bits=512, ports=3, banks=2, bank_gbps=20.0, efficiency=0.8)
    assert memory.ports_per_bank == 2
    assert Config(memory=memory, clock_mhz=250.0).pace == Fraction(2)
    assert Config(memory=memory, clock_mhz=100.0).pace == 1


def test_a_file_holds_a_design(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('preset = "zcu102"\nunroll = 8\n[memory]\nlatency_ns = 200\n[operators]\nfdiv = 28\n')
    config = load(file)
    assert (config.name, config.board, config.unroll) == ("mine", "zcu102", 8)
    assert (config.latency, config.memory.port_bits) == (20, 128)
    assert config.operators.fdiv == 28
    file.write_text('name = "other"\n')
    assert load(file) == load("u200").but(name="other")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("unroll = ", "is not TOML: "),
        ("unroll = 0", "unroll is 0; it has to be 1 or more"),
        ('preset = "u300"', "preset 'u300' is not known; choose one of zcu102, u200"),
        ("preset = [1]", "preset [1] is not known; choose one of zcu102, u200"),
        ("name = 3", "name is 3; it has to be a text"),
        ('name = "a\\nb"', r"name is 'a\nb'; it has to be a text of one line"),
        ('name = "\\u001b[31m"', r"name is '\x1b[31m'; it has to be a text of one line"),
        ('name = " "', "name is ' '; it has to be a text of one line"),
        ("[memory]\nspeed = 1", "memory.speed is no parameter; there are memory.latency_ns"),
        ("memory = 3", "memory is a table of parameters"),
        ("unroll = [1]", "unroll is [1]; it has to be a whole number"),
        ("operators.fadd = 2.0", "operators.fadd is 2.0; it has to be a whole number"),
    ],
)
def test_a_bad_file_is_named_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    with pytest.raises(ModelError) as caught:
        load(file)
    assert str(caught.value).startswith(f"{file}: {message}")
    assert "\n" not in str(caught.value)


def test_what_is_no_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="'u300' is no known board or design; choose one of zcu102, u200"):
        load("u300")
    with pytest.raises(ModelError, match=r"none\.toml: cannot be read \(No such file"):
        load(tmp_path / "none.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ModelError, match="is not TOML"):
        load(tmp_path / "binary.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / "folder.toml")


@pytest.mark.parametrize("changes", [{"unroll": "8"}, {"clock_mhz": "fast"}, {"ii": None}, {"power_watts": "x"}])
def test_python_callers_get_the_same_errors(changes: dict[str, Any]) -> None:
    with pytest.raises(ModelError):
        load("u200").but(**changes)


def test_a_fifo_may_hold_just_one_beat():
    memory = Memory(port_bits=32, ports=1, fifo_beats=4)
    tight = Config(unroll=4, memory=memory)
    assert tight.beats_per_issue == 4
    with pytest.raises(ModelError, match=r"memory.fifo_beats is 3; it has to hold the 4 port beats that"):
        tight.but(memory=dataclasses.replace(memory, fifo_beats=3))
