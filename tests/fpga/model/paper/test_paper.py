"""What the paper prints against what the model gives, at the accuracy that `docs/how/fpga.md` states."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from hls_model import PRESETS, ModelError, Workload, load, simulate
from hls_model.boards import KINDS
from hls_model.config import Memory
from hls_model.curve import throughput_curve
from hls_model.paper import TABLE1, TABLE3, table1, table3
from hls_model.paper.published import as_simulated, evidence, evidence_text
from hls_model.resources import estimate
from hls_model.workload import even_positions


@pytest.fixture(scope="module")
def rows() -> dict[str, table3.Row]:
    return {row.mix.name: row for row in table3.reproduce(load("u200"))}


@pytest.mark.parametrize(("board", "ideal", "line"), [("zcu102", 400e6, 360e6), ("u200", 8_000e6, 7_200e6)])
def test_ideal_rates_and_90_percent_lines(board, ideal, line):
    assert load(board).ideal_rate == ideal
    assert 0.9 * load(board).ideal_rate == pytest.approx(line)


@pytest.mark.parametrize("board", TABLE1)
def test_curve_rises_and_crosses_90_percent_within_its_figure(board):
    most = TABLE1[board].most_right
    curve = throughput_curve(as_simulated(load(board)), most)
    assert (np.diff(curve.rate) > 0).all()
    assert curve.crossing is not None
    assert most / 2 < curve.crossing <= most
    assert curve.rate[-1] < curve.config.ideal_rate


def test_right_sides_in_between_have_the_rate_of_the_last_full_beat():
    design = load("u200")
    rates = [simulate(Workload.single(1000, right), design).hardware_rate for right in (320, 321, 351)]
    assert rates[0] == rates[1] == rates[2]
    assert simulate(Workload.single(1000, 352), design).hardware_rate > rates[0]


@pytest.mark.parametrize("board", TABLE1)
def test_boards_give_the_percentages_of_table_1(board):
    column = {column.system.board: column for column in table1.reproduce()}[board]
    assert {kind: round(column.percent[kind], 2) for kind in KINDS} == column.system.percent


@pytest.mark.parametrize("board", TABLE1)
def test_calibrated_resources_are_those_of_table_1(board):
    assert estimate(load(board), "paper-calibrated", pipelines_only=True).total == TABLE1[board].used


@pytest.mark.parametrize("unroll", [1, 8, 16, 24, 64])
def test_calibrated_resources_lie_on_the_line(unroll):
    design = load("u200").but(unroll=unroll, memory=load("u250").memory)
    total = estimate(design, "paper-calibrated", pipelines_only=True).total
    assert total.dsp == pytest.approx(24.1 + 5.96 * unroll, abs=1)
    assert total.ff == pytest.approx(6455 + 1387.07 * unroll, abs=1)
    assert total.lut == pytest.approx(7456 + 1347.75 * unroll, abs=1)
    assert total.bram18k == pytest.approx(35.4 + 0.143 * unroll, abs=1)


def test_bottom_up_resources_of_the_zcu102_are_near_table_1():
    shares = estimate(load("zcu102"), pipelines_only=True).total.shares(TABLE1["zcu102"].used)
    assert all(0.65 <= share <= 1.35 for share in shares.values()), shares


def test_logic_of_the_u200_is_that_of_16_lanes_and_its_memory_of_neither():
    used = TABLE1["u200"].used
    all_lanes, half = (
        estimate(load(name), pipelines_only=True).total.shares(used) for name in ("u200", "u200_resources16")
    )
    for kind in ("dsp", "ff", "lut"):
        assert all_lanes[kind] > 1.7
        assert 0.8 < half[kind] < 1.2
    assert min(all_lanes["bram18k"], half["bram18k"]) > 1.5
    sentences = " ".join(table1.contradictions())
    assert all(said in sentences for said in ("6.7 DSP", "13.4 DSP", "30,500", "94 %", "57.1x"))


@pytest.mark.parametrize("name", TABLE3)
def test_ld_rates(rows, name):
    row = rows[name]
    assert row.ld_rate / 1e6 == pytest.approx(row.mix.fpga.ld, rel=0.01)
    assert row.cpu_ld_rate / 1e6 == pytest.approx(row.mix.cpu.ld, rel=0.011)


def test_the_widest_right_side_is_the_workloads_own(rows):
    for row in rows.values():
        positions = even_positions(row.mix.snps, 100_000)  # one by one, from the definition of the windows
        most = 0
        for at in positions[0] + (positions[-1] - positions[0]) * np.arange(1000) / 999:
            inside = (positions > at) & (positions <= int(at + 20_000))
            near = max(int((positions[inside] <= int(at + 1_000)).sum()), 2)
            most = max(most, int(inside.sum()) - near + 1)
        assert row.widest == table3.widest_right(row.mix) == most
        assert row.widest / row.mix.snps == pytest.approx(0.190, abs=0.0005)
    assert rows["50/50"].widest == 2_471


def test_omega_rates_at_the_widest_position(rows):
    off = [row.column_rate / 1e6 / row.mix.fpga.omega - 1 for row in rows.values()]
    assert off == pytest.approx([-0.018, -0.007, 0.180], abs=0.0006)


def test_omega_rates_hang_on_the_memory_latency():
    found = {one.cycles: [rate.deviation for rate in one.rates] for one in table3.by_latency(load("u200"))}
    assert found[1] == pytest.approx([0.459, 0.431, 1.132], abs=0.0006)
    assert found[50] == pytest.approx([0.003, 0.012, 0.216], abs=0.0006)
    assert found[64] == pytest.approx([-0.079, -0.066, 0.083], abs=0.0006)
    for earlier, later in itertools.pairwise(sorted(found)):
        assert all(np.less(found[later], found[earlier]))


def test_the_fitted_latency_is_the_nearest(rows):
    off = {
        cycles: abs(one.rates[0].deviation)
        for cycles in range(40, 61)
        for one in table3.by_latency(load("u200"), "L1", [cycles])
    }
    assert {row.fitted_cycles for row in rows.values()} == {min(off, key=off.get)}


def test_kinds_of_table_3(rows):
    kinds = {name: {key: one.kind for key, one in row.compared().items()} for name, row in rows.items()}
    for name, found in kinds.items():
        assert found == {
            "omega_widest": "calibrated",
            "omega_grid": "calibrated",
            "omega_overhead": "calibrated",
            "omega_board": "predicted",
            "omega_fitted": "calibrated" if name == "50/50" else "predicted",
            "ld_fpga": "calibrated",
            "ld_cpu": "calibrated",
            "speedup_fpga": "restated",
            "speedup_gpu": "restated",
            "speedup_model": "calibrated",
        }


def test_published_numbers_are_those_beside_which_values_stand(rows):
    for row in rows.values():
        found = row.compared()
        for key, one in found.items():
            mix = row.mix
            published = {
                "ld_fpga": mix.fpga.ld,
                "ld_cpu": mix.cpu.ld,
                "speedup_gpu": mix.gpu_speedups["total"],
            }
            other = mix.fpga_speedups["total"] if key.startswith("speedup") else mix.fpga.omega
            assert one.published == published.get(key, other), key
            assert one.value == pytest.approx(one.published, rel=0.3)
            assert one.why


def test_only_predicted_numbers_are_evidence(rows):
    every = table3.compared(list(rows.values()))
    used = evidence(every)
    assert {one.kind for one in used} == {"predicted"}
    assert len(used) == 5
    text = evidence_text(every)
    assert f"{len(every)} numbers" in text
    assert "5 predicted, 19 calibrated, 6 restated" in text
    least, most = (100 * bound(one.deviation for one in used) for bound in (min, max))
    assert f"{least:+.1f} to {most:+.1f} %" in text
    assert evidence_text([one for one in every if one.kind != "predicted"]).endswith("none is evidence")


def test_a_prediction_changes_with_no_published_omega_rate(monkeypatch):
    """What is predicted for a data set may use no omega rate of it: doubling that rate leaves the value as it is."""
    before = {row.mix.name: row.compared() for row in table3.reproduce(load("u200"))}
    for name, mix in TABLE3.items():
        rates = dataclasses.replace(mix.fpga, omega=2 * mix.fpga.omega)
        changed = {**TABLE3, name: dataclasses.replace(mix, fpga=rates)}
        monkeypatch.setattr(table3, "TABLE3", changed)
        after = next(row for row in table3.reproduce(load("u200")) if row.mix.name == name).compared()
        for key, one in after.items():
            if one.kind == "predicted":
                assert one.value == before[name][key].value
    assert after.keys() == before["10/90"].keys()


@pytest.mark.parametrize(
    "change",
    [
        {"unroll": 16},
        {"memory": Memory(latency_ns=256.0)},
        {"clock_mhz": 200.0},
        {"fsm_cycles": 3},
        {"board": "u250"},
    ],
)
def test_another_design_predicts_nothing_about_the_paper(change):
    rows = table3.reproduce(load("u200").but(**change))
    assert not any(row.of_the_paper for row in rows)
    assert {row.fitted_cycles for row in rows} == {None}
    assert evidence(table3.compared(rows)) == []


def test_ld_of_90_10_is_the_constant_by_construction(rows):
    row = rows["90/10"]
    assert load("u200").ld_bits_per_s == 500 * row.mix.fpga.ld * 1e6
    assert row.compared()["ld_fpga"].deviation == pytest.approx(0, abs=1e-12)


def test_kinds_of_table_1():
    for column in table1.reproduce():
        kinds = {name: {one.kind for one in row.values()} for name, row in column.compared().items()}
        lanes = column.system.unroll
        expected = {"percent": {"restated"}, "paper-calibrated": {"calibrated"}}
        expected[f"bottom-up, {lanes} lanes"] = {"predicted"}
        if column.system.board == "u200":
            expected["bottom-up, 16 lanes"] = {"calibrated"}
        assert kinds == expected
        assert all(one.published == getattr(column.system.used, kind)
                   for kind, one in column.compared()["paper-calibrated"].items())  # fmt: skip


def test_bottom_up_deviations_of_the_u200_are_shown_as_they_are():
    column = next(column for column in table1.reproduce() if column.system.board == "u200")
    off = [round(100 * one.deviation) for one in column.compared()["bottom-up, 32 lanes"].values()]
    assert off == [295, 80, 94, 109]


def test_the_board_has_a_range_and_the_likely_rate_in_it(rows):
    for row in rows.values():
        rate = row.board.hardware_rate
        assert rate.low < rate.likely < rate.high
        low, high = row.board_seconds
        assert low < row.board.likely.hardware_seconds + row.model.ld < high


def test_omega_rates_over_the_grid(rows):
    off = [row.grid_rate / 1e6 / row.mix.fpga.omega - 1 for row in rows.values()]
    assert off == pytest.approx([-0.079, -0.066, 0.083], abs=0.003)


def test_a_cost_per_position_explains_all_three(rows):
    for row in rows.values():
        assert row.overhead_rate / 1e6 == pytest.approx(row.mix.fpga.omega, rel=0.013)
    assert all(preset.position_overhead_us == 0 for preset in PRESETS.values())


def test_counts_of_the_data_sets(rows):
    assert [row.omegas for row in rows.values()] == [4_819_608_899, 6_415_767_807, 714_129_675]
    for row in rows.values():
        assert row.omegas / row.ld_scores == pytest.approx(28.5, rel=0.003)


def test_random_positions_give_the_same_counts_within_a_percent(rows):
    for row in rows.values():
        positions = np.sort(np.random.default_rng(1).integers(1, 100_001, row.mix.snps))
        random = Workload.from_positions(positions, grid=1000, minwin=1000, maxwin=20_000)
        assert random.omegas == pytest.approx(row.omegas, rel=0.01)


def test_total_speedups_from_the_published_rates(rows):
    for row in rows.values():
        assert row.fpga_speedup == pytest.approx(row.mix.fpga_speedups["total"], rel=0.006)
        assert row.gpu_speedup == pytest.approx(row.mix.gpu_speedups["total"], rel=0.012)  # two digits are printed


def test_single_speedups_are_those_of_the_published_rates():
    for mix in TABLE3.values():
        assert mix.fpga.omega / mix.cpu.omega == pytest.approx(mix.fpga_speedups["omega"], abs=0.051)
        assert mix.fpga.ld / mix.cpu.ld == pytest.approx(mix.fpga_speedups["ld"], abs=0.051)
        assert mix.gpu.omega / mix.cpu.omega == pytest.approx(mix.gpu_speedups["omega"], abs=0.051)
        assert mix.gpu.ld / mix.cpu.ld == pytest.approx(mix.gpu_speedups["ld"], rel=0.01)


def test_seconds_of_figure_14(rows):
    seconds = [[row.cpu.omega, row.cpu.ld, row.fpga.omega, row.fpga.ld] for row in rows.values()]
    expected = [[67.6, 56.7, 1.377, 4.424], [105.6, 16.2, 1.711, 0.421], [9.85, 61.0, 0.476, 5.556]]
    np.testing.assert_allclose(seconds, expected, rtol=0.004)


def test_four_cores_are_slower_than_both_accelerators(rows):
    for row in rows.values():
        assert row.amd.total > max(row.gpu.total, row.fpga.total)
    assert rows["90/10"].amd.total == pytest.approx(59.2, rel=0.002)


def test_kernels_of_the_gpu(rows):
    assert [row.gpu_kernel_rate / 1e9 for row in rows.values()] == pytest.approx([15.05, 15.75, 11.1])


def test_speedups_with_the_models_rates_stay_near(rows):
    for row in rows.values():
        assert row.model_speedup == pytest.approx(row.mix.fpga_speedups["total"], rel=0.06)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"most": 10}, "unroll, 32"),
        ({"most": 100, "left": 0}, "left borders"),
        ({"most": 100, "share": 1.0}, "share is 1"),
        ({"most": 100, "level": "L9"}, "level is 'L9'"),
    ],
)
def test_curve_refuses_what_is_no_curve(options, said):
    with pytest.raises(ModelError, match=said):
        throughput_curve(load("u200"), **options)


def test_the_curves_picture_marks_table_3_and_draws_the_range():
    pytest.importorskip("matplotlib")
    from oclgenomics.fpga.plots.rates import plot_curve

    for uncertainty in (True, False):
        axes = plot_curve(throughput_curve(load("u200"), 30_500, uncertainty=uncertainty)).axes[0]
        (marks,) = (line for line in axes.lines if line.get_marker() == "D")
        by_snps = sorted(TABLE3.values(), key=lambda mix: mix.snps)
        assert list(marks.get_xdata()) == [table3.widest_right(mix) for mix in by_snps]
        assert list(marks.get_ydata()) == [mix.fpga.omega for mix in by_snps]
        assert bool(axes.collections) == uncertainty


def test_the_platforms_picture_gives_the_models_range(rows):
    pytest.importorskip("matplotlib")
    from oclgenomics.fpga.plots.scans import plot_platforms

    shown = list(rows.values())
    for uncertainty in (True, False):
        for axes, row in zip(plot_platforms(shown, uncertainty=uncertainty).axes, shown, strict=True):
            low, high = row.board_seconds
            said = any(f"({low:.1f}-{high:.1f})" in text.get_text() for text in axes.texts)
            assert said == bool(axes.collections) == uncertainty
