"""Power, energy and cost: sums worked by hand, growth with what takes power, and the limit of the board."""

from __future__ import annotations

import dataclasses
import json

import pytest
from helpers.fpga_command import fpga
from hypothesis import given, strategies as st

from hls_model import Memory, ModelError, Workload, load
from hls_model.boards import Amount, find_board
from hls_model.extras.power import Power, cost_per_million, logic_watts, memory_watts, power_of, price_per_hour
from hls_model.project import project
from hls_model.ranges import Range
from hls_model.text import joules_text, range_text

SCAN = Workload.uniform(2_000, grid=50, samples=100)
WIDE = Memory(ports=16, banks=4, fifo_beats=512)
BOUNDS = ("low", "likely", "high")


def test_the_report_s_own_design_gives_the_report_s_watts():
    """Its 129,927 LUT, 226,298 registers, 189 tiles and 1,040 DSP slices at 300 MHz: each row of the table once."""
    rows = {"clocks": 1.342, "logic": 0.525, "ram": 0.266, "shift": 0.166, "register": 0.092, "carry": 0.010}
    rows |= {"signals": 0.947, "block RAM": 0.719, "DSPs": 0.627}
    found = logic_watts(Amount(bram18k=2 * 189, dsp=1_040, ff=226_298, lut=129_927), 300.0)
    assert found.likely == pytest.approx(sum(rows.values()))
    assert (found.low, found.high) == pytest.approx((found.likely / 2, 2 * found.likely))


def test_reading_19_2_gb_a_second_at_25_pj_a_bit_takes_3_84_w():
    assert find_board("u200").memory_pj_per_bit.likely == 25
    assert memory_watts(find_board("u200"), 19.2).likely == pytest.approx(19.2e9 * 8 * 25e-12)


@given(st.integers(1, 180), st.floats(50, 450), st.floats(0, 70))
def test_power_grows_with_unroll_clock_and_reads(unroll, clock, gbps):
    # A bank of the RS buffer is one block RAM at any unroll: of a deeper buffer more lanes may need fewer blocks.
    design = load("u200").but(unroll=unroll, clock_mhz=clock, memory=WIDE, rs_buffer_words=512)
    base = power_of(design, gbps).busy
    for more in (
        power_of(design.but(unroll=unroll + 1), gbps),
        power_of(design.but(clock_mhz=clock * 1.01), gbps),
        power_of(design, gbps + 1),
    ):
        for bound in BOUNDS:
            assert getattr(base, bound) < getattr(more.busy, bound) <= find_board("u200").max_watts


def test_no_board_draws_more_than_it_may():
    power = Power(Range(20, 40, 60), Range(10, 100, 300), Range(1, 2, 3), 225.0)
    assert power.busy == Range(31, 142, 225)


def test_watts_that_are_given_take_the_place_of_the_model():
    power = power_of(load("u200").but(power_watts=50.0), 30.0)
    assert power.busy == power.idle == Range.exactly(50.0)


@given(st.floats(0, 1e4), st.floats(0, 1))
def test_energy_lies_between_rest_and_work(seconds, share):
    power = power_of(load("u200"), 20.0)
    found = power.joules(Range.exactly(seconds), Range.exactly(share * seconds))
    for bound in BOUNDS:
        idle, busy = getattr(power.idle, bound), getattr(power.busy, bound)
        expected = seconds * (idle + share * (busy - idle))
        assert getattr(found, bound) == pytest.approx(expected)


def test_a_design_does_not_work_longer_than_there_is_time():
    with pytest.raises(ModelError, match="cannot work for 2 s of 1 s"):
        power_of(load("u200")).joules(Range.exactly(1.0), Range.exactly(2.0))


def test_energy_of_a_projection():
    design = load("u200").but(software_rate=1e6)  # the board rests while software computes the remainder
    one = project(SCAN, design)
    assert one.busy.likely < one.seconds / 2
    power, moved = one.power, memory_watts(find_board("u200"), one.moved / 1e9)
    for bound in BOUNDS:
        seconds, busy, idle, logic, reads = (
            getattr(value, bound) for value in (one.total, one.busy, power.idle, power.logic, moved)
        )
        assert getattr(one.energy, bound) == pytest.approx(idle * seconds + logic * busy + reads)
    assert one.total.low < one.total.likely < one.total.high
    assert one.record()["joules"] == {bound: getattr(one.energy, bound) for bound in BOUNDS}
    without = project(SCAN, load("u200").but(rs_prefetch="none", unroll=16))
    assert without.power.memory.likely == pytest.approx(
        memory_watts(find_board("u200"), 8 * without.timing.hardware_rate / 1e9).likely
    )


def test_ld_of_another_platform_costs_the_board_no_work():
    published, none = (project(dataclasses.replace(SCAN, samples=samples), load("u200").but(ld="published"))
                       for samples in (SCAN.samples, 0))  # fmt: skip
    longer = published.seconds - none.seconds
    assert published.ld_seconds > 0
    assert published.energy.likely - none.energy.likely == pytest.approx(longer * published.power.idle.likely)


def test_cost_of_a_million_scans():
    found = cost_per_million(Range(1_800.0, 3_600.0, 7_200.0), Range(9.0, 10.0, 12.0), per_kwh=0.5, per_hour=2.0)
    hours = 1e6 * 10 / 3600
    assert found.low == pytest.approx(500 * 0.5 + 0.9 * hours * 2)
    assert found.likely == pytest.approx(1_000 * 0.5 + hours * 2)
    assert found.high == pytest.approx(2_000 * 0.5 + 1.2 * hours * 2)


def test_the_card_works_in_all_of_its_phases_and_rests_while_ld_is_elsewhere():
    here, elsewhere = (project(SCAN, load("u200").but(ld=ld)) for ld in ("card", "published"))
    seconds = {phase.name: phase.seconds.likely for phase in here.phases}
    works = [seconds[name] for name in ("LD", "build M", "repack blocks of M", "omega pipelines")]
    assert here.busy.likely == pytest.approx(sum(works))
    assert elsewhere.busy.likely == pytest.approx(sum(works[1:]))
    read = 4 * here.timing.hardware_omegas
    assert here.moved == read + sum(phase.bytes for phase in here.phases if phase.where == "card")


@pytest.mark.parametrize("watts", [0.0, 100.0])
def test_energy_has_the_bounds_of_time_and_power(watts):
    design = load("u200").but(power_watts=watts)
    one = project(SCAN, design)
    alone = one.power.joules(*(Range.exactly(value.likely) for value in (one.total, one.busy)))
    assert one.energy.low < alone.low or watts
    assert one.energy.low < one.energy.likely < one.energy.high
    if watts:
        for bound in BOUNDS:
            assert getattr(one.energy, bound) == pytest.approx(watts * getattr(one.total, bound))


def test_price_of_an_hour_of_a_bought_board():
    assert price_per_hour(8_766.0, 2.0) == pytest.approx(0.5)
    for wrong in ({"price": -1.0, "years": 1.0}, {"price": 1.0, "years": 0.0}):
        with pytest.raises(ModelError):
            price_per_hour(**wrong)
    with pytest.raises(ModelError, match="price per kWh is -1"):
        cost_per_million(Range.exactly(1.0), Range.exactly(1.0), per_kwh=-1.0)


ARGUMENTS = ["project", "--snps", "2000", "--grid", "50", "--board", "u200", "--compare", "zcu102"]


def shown(capsys, *options):
    status = fpga([*ARGUMENTS, *options])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_cost_is_shown_where_a_price_is_given_only(capsys):
    assert "cost" not in shown(capsys)[1]
    status, text, _ = shown(capsys, "--price-per-hour", "1", "--price-per-hour", "zcu102=0.1", "--json")
    record = json.loads(text)
    seconds = {one["design"]: one["seconds"] for one in record["projections"]}
    assert status == 0
    for design, price in (("u200", 1.0), ("zcu102", 0.1)):
        assert record["cost"]["million"][design]["likely"] == pytest.approx(1e6 * seconds[design] / 3600 * price)
    text = shown(capsys, "--price-per-kwh", "0.3")[1]
    assert text.split("cost of a million scans:\n")[1].count("-") == 2


@pytest.mark.parametrize(
    ("option", "said"),
    [
        (("--price-per-hour", "u200=1"), "no price for zcu102; add zcu102=PRICE"),
        (("--price-per-hour", "u999=1"), "'u999' is no known board or design"),
        (("--price-per-hour", "=1"), "'=1' has no board"),
        (("--price-per-hour", "-1"), "'-1' is no price"),
        (("--price-per-kwh", "nan"), "'nan' is no price"),
        (("--price-per-kwh", "cheap"), "'cheap' is no price"),
    ],
)
def test_a_price_that_is_none(capsys, option, said):
    try:
        status, _, error = shown(capsys, f"{option[0]}={option[1]}")
    except SystemExit as stopped:
        status, error = stopped.code, capsys.readouterr().err
    assert status != 0
    assert said in error


@pytest.mark.parametrize(
    ("joules", "text"),
    [
        (Range(33.8, 59.3, 100.04), "59.3 J (33.8-100)"),
        (Range(0.0004, 0.0005, 0.002), "0.5 mJ (0.4-2)"),
        (Range(900.0, 1_234.5, 4_000.0), "1.23 kJ (0.9-4)"),
        (Range(1e6, 2.5e6, 1.2345e9), "2.5 MJ (1-1,234)"),
        (Range.exactly(50.0), "50 J"),
        (Range.exactly(0.0), "0 mJ"),
    ],
)
def test_energies_as_people_read_them(joules, text):
    assert joules_text(joules) == text


def test_a_cost_has_no_unit():
    assert range_text(Range(1.0, 2.0, 3_000.0), "") == "2 (1-3,000)"
