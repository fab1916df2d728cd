"""Profiles from the device's clock and, where it has none, from the host's."""

import dataclasses
import json
import time
from pathlib import Path

import numpy as np
import pytest

from oclgenomics.runtime import Device, Engine


def work(engine: Engine) -> None:
    kernel = engine.kernel("common/hash.cl", "hash_numbers")
    numbers = engine.upload(np.arange(1 << 16, dtype=np.uint64))
    hashes = engine.empty(1 << 16, np.uint64)
    for _ in range(3):
        engine.launch(kernel, (1 << 16,), (16,), numbers=numbers, k0=0, k1=0, count=1 << 16, hashes=hashes)
    engine.download(hashes)


@pytest.mark.parametrize("timestamps", [True, False])
def test_table_and_trace(device: Device, tmp_path: Path, timestamps: bool) -> None:
    start = time.perf_counter()
    with Engine(device, profile=True) as engine:
        if not timestamps:
            engine.traits = dataclasses.replace(engine.traits, timestamps=False)
        with engine.profile.mark("everything"):
            work(engine)
        totals = engine.profile.totals()
        milliseconds = (time.perf_counter() - start) * 1e3
        row = totals["hash_numbers"]
        assert row["count"] == 3
        assert 0 < row["min_ms"] <= row["median_ms"] <= row["max_ms"] <= row["total_ms"] < milliseconds
        assert {"host: everything", "transfer: to device", "transfer: to host"} <= set(totals)
        table = engine.profile.table().splitlines()
        assert len(table) == len(totals) + 1
        engine.profile.trace(tmp_path / "trace.json")
        events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
        spans = [event for event in events if event["ph"] == "X"]
        assert len(spans) == sum(row["count"] for row in totals.values())
        whole = next(event for event in spans if event["name"] == "everything")
        for event in spans:  # device and host share one clock, to within a millisecond
            if event["name"] == "hash_numbers":
                assert whole["ts"] - 1000 < event["ts"]
                assert event["ts"] + event["dur"] < whole["ts"] + whole["dur"] + 1000


def test_a_cleared_profile_holds_only_what_follows(device: Device) -> None:
    with Engine(device, profile=True) as engine:
        work(engine)
        assert engine.profile.totals()
        work(engine)
        engine.profile.clear()
        assert engine.profile.totals() == {}
        work(engine)
        assert engine.profile.totals()["hash_numbers"]["count"] == 3


def test_nothing_is_kept_unless_asked(device: Device) -> None:
    with Engine(device) as engine:
        work(engine)
        assert engine.profile.totals() == {}
