"""The vendor's log of read rates on a U200 beside the event engine."""

from __future__ import annotations

import json

import pytest
from helpers.fpga_command import fpga

from hls_model import validate as burst_log
from hls_model.boards import find_board
from hls_model.validate import LOG, best_efficiency, compared, modelled

# The log once more, row by row as the vendor's README has it: READ, buffer_size = 16.00 MB, GB/sec.
README = """
256 4 4 2.02206
256 16 4 6.80909
256 32 4 8.59958
256 4 32 8.68773
256 16 32 8.93942
256 32 32 8.93942
512 4 4 3.92988
512 16 4 13.1114
512 32 4 16.8218
512 4 32 16.8222
512 16 32 16.8295
512 32 32 16.8219
"""


def test_the_log_is_the_vendors() -> None:
    rows = [f"{row.port_bits} {row.burst_length} {row.outstanding} {row.gib_per_s}" for row in LOG]
    assert rows == README.split("\n")[1:-1]


def test_one_efficiency_and_one_latency_fit_all_rates() -> None:
    assert best_efficiency() == pytest.approx(0.941, abs=0.0005)
    deviations = [100 * one.deviation for one in compared(best_efficiency())]
    assert min(deviations) == pytest.approx(-3.1, abs=0.06)
    assert max(deviations) == pytest.approx(3.96, abs=0.06)
    board = find_board(burst_log.BOARD)
    assert board.efficiency_range.high == pytest.approx(best_efficiency(), abs=0.002)
    wide = compared(board.efficiency)[8:]  # reads that the bank bounds
    assert all(one.deviation < -0.1 for one in wide)


def test_what_was_used_is_no_evidence() -> None:
    kinds = [one.kind for one in compared(best_efficiency())]
    assert kinds.count("predicted") == 9
    assert [row.name for row, kind in zip(LOG, kinds, strict=True) if kind == "calibrated"] == [
        "256 bit, 4 bursts of 4", "512 bit, 4 bursts of 4", "512 bit, 32 bursts of 16",
    ]  # fmt: skip
    assert [one.kind for one in compared(0.84)].count("predicted") == 10


def test_rates_follow_latency_and_efficiency() -> None:
    few, many = LOG[6], LOG[11]
    assert modelled(few, 0.94, 460.0) == pytest.approx(modelled(few, 0.94, 230.0) / 2, rel=0.06)
    assert modelled(many, 0.94, 460.0) == pytest.approx(modelled(many, 0.94, 230.0), rel=0.001)
    assert modelled(many, 0.47) == pytest.approx(modelled(many, 0.94) / 2, rel=0.001)
    assert modelled(LOG[5], 0.47) == pytest.approx(0.47 * 19.2, rel=0.001)
    assert modelled(LOG[5], 0.94) == pytest.approx(9.6, rel=0.003)  # a port of 256 bit


def test_validate_shows_all_rates(capsys: pytest.CaptureFixture[str]) -> None:
    assert fpga(["validate", "--lanes", "1"]) == 0
    out = capsys.readouterr().out
    for row in LOG:
        assert f"\n{row.name} " in out
        assert f" {row.gbps:.2f} " in out
    assert "with efficiency 0.941 the 12 rates deviate by -3.1 to +4.0 %; 3 of them were used for latency and" in out
    assert fpga(["validate", "--lanes", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["burst_log"]
    assert found["source"] == burst_log.SOURCE.url
    assert len(found["fitted"]["rates"]) == len(found["board"]["rates"]) == 12
