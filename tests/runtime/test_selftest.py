"""The self-test of devices: its idioms, how it tells what a broken device does, and what follows from it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
import pytest
from helpers.devices import devices_under_test, unknown_processor
from helpers.products import on_one_cpu

from oclgenomics import notices
from oclgenomics.classify import BuildOptions, reference as classify_reference
from oclgenomics.classify.plan import SMALL, WIDE
from oclgenomics.cli.main import main
from oclgenomics.errors import DeviceError, NoDeviceError, UntrustedDeviceError
from oclgenomics.runtime import Device, Engine, diskcache, list_devices, pocl, program, select_device, selection, trust
from oclgenomics.runtime.source import load_source, source_folder
from oclgenomics.runtime.trust import Verdict
from oclgenomics.runtime.tuning import tuning_for
from oclgenomics.sdtw.reference import align, normalised_levels
from oclgenomics.selftest import examination, golden_classify, golden_jobs, idioms
from oclgenomics.selftest.idiom_values import ITEMS, RECIPROCAL_ERROR
from oclgenomics.selftest.idioms import SOURCES, Trial, idioms_for

FINE = Verdict({})
SCAN = ("x.ms", "--grid", "5", "--length", "100", "--minwin", "1", "--maxwin", "50", "-d", "0")
BAD = Verdict({"groups": "3 of 8 values are wrong (result 0)", "siphash": "ended by SIGABRT"}, time.time())


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is known of any device, on disk, in the process or from its parent."""
    monkeypatch.setenv(diskcache.VARIABLE, str(tmp_path / "cache"))
    monkeypatch.setenv(trust.TRUSTED, "")
    monkeypatch.setattr(trust, "_known", {})
    monkeypatch.setattr(notices, "_told", set())
    return tmp_path


# The idioms


def test_all_idioms_are_right(device: Device) -> None:
    trial = Trial(device)
    assert {idiom.name: wrong for idiom in idioms_for(device) if (wrong := trial.run(idiom))} == {}


def leave_as_written(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Intel's compiler leave out to optimise, which takes most of the time."""
    if device.family == "intel":
        options = idioms.build_options
        monkeypatch.setattr(idioms, "build_options", lambda *args: [*options(*args), "-cl-opt-disable"])


def test_each_idiom_builds_alone(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_as_written(device, monkeypatch)
    trial = Trial(device, alone=True)
    assert {idiom.name: wrong for idiom in idioms_for(device) if (wrong := trial.run(idiom))} == {}


def test_every_wrong_value_is_seen(device: Device) -> None:
    """A flipped bit anywhere in what is compared to the bit is told, with the number of its result."""
    rng = np.random.default_rng(3)
    for idiom in idioms_for(device):
        case = idiom.case()
        assert not any(case.wrong(case.after))
        if case.tolerance is not None:
            continue
        for number, array in enumerate(case.after):
            found = [other.copy() for other in case.after]
            place = int(rng.integers(array.size))
            found[number].view(f"u{array.itemsize}")[place] ^= 1
            assert sum(case.wrong(found)) == 1, idiom.name


# What a compiler may make of vectors that it does not expect, and the kernel whose results tell.
MISCOMPILED = [
    ("vector_shorts", "a > (shorts)~b ? (shorts)((ushort)65535) : a + b", "a + b"),
    ("vector_shorts", "lesser > (shorts)~cost", "lesser > level"),
    ("vector_shorts", "difference * difference >> 4", "(shorts)(difference * difference >> 3) >> 2"),
    ("vector_shorts", "level > low ?", "(level ^ (ushort)0x4000) > low ?"),
    ("vector_shorts", "score[c] < score[c - 1] ? score[c] : score[c - 1]", "score[c]"),
    ("vector_shorts", "(shorts)(row) :", "(shorts)((ushort)1) :"),
    ("vector_shorts", "((ushort *)&turned)[lane] =", "((ushort *)&turned)[lane & 7] ="),
    ("vector_columns", "a.s3, b.s3", "b.s3, a.s3"),
    ("vector_columns", "a.sd, b.sd", "a.sd, b.se"),
    ("vector_columns", "<< (31 - (bit))) >> 31", "<< (31 - (bit))) >> 30"),
    ("vector_columns", "(SPREAD(letters, 6) & x[i + 3])", "(AS_V(uint, letters >> 6) & x[i + 3])"),
    ("vector_columns", "(level - (equal & ~level))", "(level ^ (equal & ~level))"),
    ("vector_columns", "& ~less", "& less"),
    ("vector_columns", "* 0x01010101u >> 24", ">> 24"),
    ("vector_columns", "sum >= (uint_v)", "sum > (uint_v)"),
    ("vector_columns", "eight.lo | eight.hi", "eight.lo & eight.hi"),
    ("vector_scores", "AS_V(int, off) & 0x7fffffff", "AS_V(int, off)"),
    ("vector_scores", "(floats)((float)row) :", "(floats)(1.0f) :"),
    ("vector_scores", "apart * apart + g", "fma(apart, apart, g)"),
    ("vector_scores", "a > b ? difference", "AS_V(uint, a) > AS_V(uint, b) ? difference"),
    ("vector_scores", "((int *)&turned)[lane] =", "((int *)&turned)[lane & 3] ="),
    ("vector_lists", "least_ = MIN(x[i], x[j])", "least_ = AS_V(int, x[i]) < AS_V(int, x[j]) ? x[i] : x[j]"),
    ("vector_lists", "here == rising ?", "(here == rising) & (int_v)0 ?"),
    ("vector_lists", "(x)[6].n, (x)[7].n", "(x)[7].n, (x)[6].n"),
    ("vector_lists", ">> (16 - count)", ">> (16 - LANE(count, 0))"),
    ("vector_lists", "list[n] >> 16 ^ list[n]", "AS_V(uint, AS_V(int, list[n]) >> 16) ^ list[n]"),
    ("vector_lists", "eight.lo & eight.hi", "eight.even & eight.odd"),
    ("vector_lists", "LANE(list[0], lane) = first++", "LANE(list[0], lane & 3) = first++"),
    ("vector_lists", "woven.even = hashes[0].hi", "woven.even = hashes[0].lo"),
    ("vector_lists", "(numbers + (x[i] & 7))", "(numbers + (x[i] & 4))"),
    ("vector_lists", "(numbers + (x[i] >> 3 & 7))", "(numbers + (x[i] >> 3 & 4))"),
    ("vector_lines", "lesser_ = (other_ < (v))", "lesser_ = (as_long8(other_) < as_long8(v))"),
    ("vector_lines", "four.lo | four.hi", "four.even | four.lo"),
    ("vector_lines", "(room + (x[i] & 7))", "(room + (x[i] & 6))"),
    ("vector_lines", "& more > 3ul)", "& (more > 4ul))"),
    ("vector_lines", "lane = 99", "lane = 8"),
    ("ordered_groups", "(a > b) == !(m & run)", "(a > b) == !(m & run) && run > 2"),
    ("ordered_groups", "== best.most", ">= 5"),
    ("ordered_groups", "list[to + n]", "list[lane + n]"),
    ("long_integers", "mul_hi(a << 1, b << 2)", "mul_hi(a, b) << 3"),
    ("long_integers", "clz(a >> shift | 1ul)", "clz((uint)(a >> shift) | 1u)"),
    ("long_integers", "ilogb((float)(uint)b)", "(31 - clz((uint)b))"),
    ("groups", "claimed + slot, 0u, slot + 1) == 0)", "claimed + slot, 0u, slot + 1) == slot + 1)"),
    ("groups", "claimed + slot, 0u, slot + 1)", "claimed + slot, 0u, 0u)"),
    ("groups", "claimed + slot, slot, 99u)", "claimed + slot, slot + 1, 99u)"),
    ("atomics", "if (held == 0)", "if (held <= slot + 1)"),
    ("atomics", "totals + 16 + slot, 0u, slot + 1)", "totals + 16 + slot, 1u, slot + 1)"),
    ("atomics", "totals + 16 + slot, slot, 99u)", "totals + 16 + slot, slot + 1, 99u)"),
]


@cache
def wrong_as_it_is(device: Device, name: str, vector_bytes: int) -> str | None:
    """What is wrong with an idiom that is compiled as it is, once for each width of vectors, which is patched in."""
    idiom = next(idiom for idiom in idioms_for(device) if idiom.name == name)
    return Trial(device, alone=True).run(idiom)


@pytest.mark.each_value
@pytest.mark.parametrize(("kernel", "right", "wrong"), MISCOMPILED)
@pytest.mark.parametrize("vector_bytes", [*on_one_cpu(32), 64])
def test_what_a_compiler_gets_wrong_is_seen(
    device: Device, kernel: str, right: str, wrong: str, vector_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device that compiles an operation wrongly is seen to."""
    if not tuning_for(device).cpu:
        pytest.skip("kernels have no vectors on this device")
    tuning = dataclasses.replace(tuning_for(device), vector_bytes=vector_bytes)
    monkeypatch.setattr("oclgenomics.selftest.idioms.tuning_for", lambda _: tuning)
    idiom = next(idiom for idiom in idioms_for(device) if idiom.kernel == kernel)
    assert wrong_as_it_is(device, idiom.name, vector_bytes) is None
    text = load_source(idiom.source)
    assert right in text
    monkeypatch.setattr(program, "load_source", lambda _: text.replace(right, wrong))
    leave_as_written(device, monkeypatch)
    assert "values are wrong" in str(Trial(device, alone=True).run(idiom))


@pytest.mark.parametrize(("error", "wrong"), [(0.9, 0), (1.1, ITEMS), (np.nan, ITEMS)])
def test_reciprocals_have_a_bound(device: Device, error: float, wrong: int) -> None:
    case = next(idiom for idiom in idioms_for(device) if idiom.kernel == "fast_arithmetic").case()
    found = case.after[0].copy()
    found[ITEMS:] *= 1 + error * RECIPROCAL_ERROR
    assert case.wrong([found]) == [0, wrong]


BUILTINS = """
    popcount mul_hi mul24 fma mad fmax fmin max min clz rotate select shuffle shuffle2 bitselect any all sqrt rsqrt
    ldexp floor ceil rint round trunc fabs abs barrier mem_fence async_work_group_copy prefetch isnan signbit exp log
    pow hypot ilogb
"""
FAMILIES = """
    convert_ as_ atomic_ atom_ vload vstore native_ half_ __builtin_ work_group_
"""


def used_by_kernels(texts: list[str]) -> set[str]:
    """Names of the built-ins, conversions, atomics and vector types that occur in kernels."""
    text = re.sub(r"//.*", "", "\n".join(texts))
    names = set(re.findall(r"\b([a-z]\w*)\s*\(", text))
    used = {name for name in names if name in BUILTINS.split() or name.startswith(tuple(FAMILIES.split()))}
    used |= set(re.findall(r"\b(?:CONVERT_V|AS_V)\((\w+)", text))
    used |= set(re.findall(r"\b(?:u?(?:char|short|int|long)|float|double)(?:2|4|8|16)\b", text))
    return used | set(re.findall(r"CLK_\w+_FENCE|ext_vector_type", text))


def test_the_idioms_hold_what_kernels_use() -> None:
    """Whoever uses a built-in, a conversion or a vector type that no kernel had has to test it, too."""
    folder = source_folder()
    own = {folder / source for source in SOURCES}
    kernels = [path for path in folder.rglob("*.cl*") if path not in own and not path.name.startswith("probe_")]
    tested = used_by_kernels([load_source(source) for source in SOURCES])
    assert used_by_kernels([path.read_text() for path in kernels]) <= tested


def test_the_answer_depends_on_all_sources() -> None:
    found = {
        match for source in SOURCES for match in re.findall(r'^#line \d+ "(.*)"$', load_source(source), re.MULTILINE)
    }
    assert found == set(trust.TESTED_KERNELS)


# What broken devices do. In the process of the self-test, `sitecustomize` breaks what an idiom answers.

BROKEN = """
import os, signal
from oclgenomics.selftest import idioms
from oclgenomics.selftest.idioms import Trial
every, run = idioms.idioms_for, Trial.run
idioms.idioms_for = lambda device: [
    one for one in every(device) if one.name in ("integers", "memory", "atomics", "siphash")
]
def broken(self, idiom):
    if idiom.kernel == "siphash":
        os.abort()
    if idiom.kernel == "atomics":
        left = signal.getitimer(signal.ITIMER_PROF)[0]
        assert 0 < left <= 5 + os.cpu_count(), "nothing limits the time"
        signal.setitimer(signal.ITIMER_PROF, 0.01)  # most of the time has passed
        while True:
            pass
    return "5 of 9 values are wrong" if idiom.kernel == "memory" else run(self, idiom)
Trial.run = broken
"""


def break_selftest(
    folder: Path, code: str, monkeypatch: pytest.MonkeyPatch, word: str = "oclgenomics.selftest.device_test"
) -> None:
    """Have the processes of the self-test, or others with a word in their command, run code first."""
    indented = "".join(f"    {line}\n" for line in code.strip().splitlines())
    head = f"import sys\nif {word!r} in sys.orig_argv:\n"
    (folder / "sitecustomize.py").write_text(head + indented)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)


@pytest.fixture
def first() -> Device:
    """A device, where it does not matter which."""
    return devices_under_test()[0]


def test_aborts_hangs_and_wrong_values_are_told_apart(
    first: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_selftest(fresh, BROKEN, monkeypatch)
    monkeypatch.setattr(trust, "SECONDS", 5)
    monkeypatch.setattr(trust, "SECONDS_ALONE", 5)
    verdict = trust.examine(first)
    assert verdict.failed == {
        "memory": "5 of 9 values are wrong",
        "atomics": "no answer in 5 s",
        "siphash": "ended by SIGABRT",
    }
    assert trust.kept_verdict(first) == verdict
    with pytest.raises(UntrustedDeviceError, match=r"memory: 5 of 9 .* \(and 2 more\); choose another") as caught:
        Engine(first)
    assert caught.value.exit_code == 4


def test_a_process_that_dies_in_the_end(first: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = "from oclgenomics.selftest.idioms import Trial; Trial.run = lambda *_: None"
    break_selftest(fresh, f"import atexit, os; atexit.register(os.abort); {right}", monkeypatch)
    assert trust.examine(first).failed == {"all idioms together": "ended by SIGABRT"}


def test_a_test_that_cannot_start_says_nothing_of_the_device(
    first: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_selftest(fresh, "sys.modules['siphash'] = None", monkeypatch)
    with pytest.raises(DeviceError, match=r"cannot be tested: .*siphash"):
        trust.verdict_on(first)
    assert trust.kept_verdict(first) is None


# What is known is not tested again


def no_test(*_: object) -> Verdict:
    raise AssertionError("tested again")


@pytest.fixture
def answer(device: Device) -> Verdict:
    """What the self-test said of a device before these tests, from the disk."""
    content = diskcache.load("traits", trust._key(device))
    return Verdict(**json.loads(content)) if content is not None else trust._test(device)


def test_the_answer_is_kept(
    answer: Verdict, device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trust, "_test", lambda _: answer)
    verdict = trust.verdict_on(device)
    assert not verdict.failed
    assert set(verdict.traits) >= {"fp64", "reciprocal_error"}
    error = capsys.readouterr().err
    assert error.startswith(f"oclgenomics: testing device {device.index}, ")
    assert error.count("\n") == 1
    monkeypatch.setattr(trust, "_test", no_test)
    monkeypatch.setattr(trust, "_known", {})
    monkeypatch.setenv(trust.TRUSTED, "")
    assert trust.verdict_on(device) == verdict
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("change", ["driver", "processor", "library"])
def test_another_driver_processor_or_library_is_tested_anew(
    device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    monkeypatch.setattr(trust, "_test", lambda _: FINE)
    trust.verdict_on(device)
    trust._key.cache_clear()
    if change == "driver":
        device = dataclasses.replace(device, driver=f"{device.driver}.1")
    elif change == "processor":
        monkeypatch.setattr("oclgenomics.runtime.processor.description", lambda: "another one")
    else:
        monkeypatch.setattr(trust, "_libraries", lambda family: ["libother.so 12 34"])
    try:
        assert trust.kept_verdict(device) is None
    finally:
        trust._key.cache_clear()


def test_failures_are_tested_again_after_a_day(device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for age, kept in ((3600, True), (90_000, False)):
        old = Verdict({"groups": "wrong"}, time.time() - age)
        monkeypatch.setattr(trust, "_test", lambda _, old=old: old)
        trust.examine(device)
        monkeypatch.setattr(trust, "_known", {})
        assert (trust.kept_verdict(device) is not None) is kept


def test_children_inherit_trust(device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_test", lambda _: FINE)
    trust.examine(device)
    monkeypatch.setattr(trust, "_known", {})  # as a child starts, whose cache is elsewhere
    monkeypatch.setenv(diskcache.VARIABLE, "off")
    assert trust.kept_verdict(device) == FINE
    monkeypatch.setattr(trust, "_test", lambda _: BAD)
    trust.examine(device)
    assert os.environ[trust.TRUSTED] == ""


def test_a_cache_that_keeps_nothing_is_told(
    device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(trust, "_test", lambda _: FINE)
    monkeypatch.setenv(diskcache.VARIABLE, "off")
    trust.verdict_on(device)
    assert "every start tests again; set OCLGENOMICS_CACHE" in capsys.readouterr().err


# What follows


@pytest.fixture
def answers(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> dict[int, Verdict]:
    """What the self-test says of devices, by their index; fine where nothing is said."""
    found: dict[int, Verdict] = {}
    monkeypatch.setattr(trust, "_test", lambda device: found.get(device.index, FINE))
    return found


def test_auto_leaves_out_what_fails(
    answers: dict[int, Verdict], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = select_device("auto")
    answers[first.index] = BAD
    trust.examine(first)
    if len(list_devices()) > 1:
        assert select_device("auto") != first
        assert select_device("auto") != first
        told = [line for line in capsys.readouterr().err.splitlines() if "left out" in line]
        assert len(told) == 1
        assert f"device {first.index}, " in told[0]
        assert "groups: 3 of 8 values are wrong (result 0) (and 1 more)" in told[0]
    for name in (str(first.index), first.name):
        with pytest.raises(UntrustedDeviceError, match="`oclgenomics doctor` tests again"):
            select_device(name if name.isdecimal() else f"{first.platform_index}:0")
    for device in list_devices():
        answers[device.index] = BAD
        trust.examine(device)
    with pytest.raises(NoDeviceError, match="no OpenCL device here computes rightly") as caught:
        select_device("auto")
    assert "\n" not in str(caught.value)


TWINS = [
    dataclasses.replace(
        list_devices()[0], index=number, name="cpu", kind="cpu", platform="PoCL", family="pocl", driver=driver
    )
    for number, driver in enumerate(("3.0", "5.0", "4.0"))
]


@pytest.mark.parametrize(
    ("failing", "chosen"), [((), 1), ((1,), 2), ((1, 2), 0), ((0, 1), 2), ((0,), 1), ((0, 1, 2), None)]
)
@pytest.mark.parametrize("name", ["pocl", "cpu", "PoCL"])
def test_of_several_devices_of_a_name_one_that_passes_is_taken(
    name: str, failing: tuple[int, ...], chosen: int | None, answers: dict[int, Verdict], fresh: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(selection, "list_devices", lambda: TWINS)
    for number in failing:
        answers[number] = BAD
    if chosen is None:
        with pytest.raises(NoDeviceError if name == "cpu" else UntrustedDeviceError):
            select_device(name)
        return
    assert select_device(name).index == chosen
    order = [1, 2, 0]  # the newest driver first
    told = re.findall(r"device (\d), .* is left out: groups: 3 of 8", capsys.readouterr().err)
    assert told == [str(number) for number in order[: order.index(chosen)]]


def test_doctor_names_a_build_of_pocl_that_knows_the_processor(
    answers: dict[int, Verdict], monkeypatch: pytest.MonkeyPatch
) -> None:
    for version, words in (("generic", "LLVM 19.1"), ("znver3", "update or reinstall its driver")):
        device = dataclasses.replace(TWINS[0], version=f"OpenCL 3.0 PoCL HSTR: cpu-x86_64-pc-linux-gnu-{version}")
        answers[0] = BAD
        assert words in examination._tested(device).remedy


def test_commands_end_with_one_line_and_status_4(
    answers: dict[int, Verdict], capsys: pytest.CaptureFixture[str]
) -> None:
    for device in list_devices():
        answers[device.index] = BAD
        trust.examine(device)
    assert main(["omega", "scan", *SCAN, "--quiet"]) == 4
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "fails the self-test: groups: 3 of 8" in error
    assert main(["devices"]) == 4
    shown = capsys.readouterr()
    assert shown.out.count("failed") == len(list_devices())
    assert main(["devices", "--json"]) == 4
    assert {record["self_test"] for record in json.loads(capsys.readouterr().out)} == {"failed"}


def test_doctor_shows_which_idiom_failed(answers: dict[int, Verdict], capsys: pytest.CaptureFixture[str]) -> None:
    first = list_devices()[0]
    answers[first.index] = BAD
    main(["doctor", "--json"])
    findings = {one["topic"]: one for one in json.loads(capsys.readouterr().out)}
    found = findings[f"device {first.index}"]
    assert found["state"] == "problem"
    assert "groups: 3 of 8 values are wrong (result 0); siphash: ended by SIGABRT" in found["text"]
    assert found["remedy"]


def test_simulators_are_not_tested(device: Device, fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "_test", no_test)
    assert trust.verdict_on(dataclasses.replace(device, family="oclgrind")) == FINE


# Golden jobs

golden_features = cache(lambda: classify_reference.build_features(golden_classify.golden_targets(), BuildOptions()))


@pytest.mark.parametrize("job", list(golden_jobs.JOBS))
def test_golden_jobs(engine: Engine, job: str) -> None:
    assert golden_jobs.JOBS[job](engine) is None


@pytest.mark.parametrize("name", list(golden_jobs.SIGNAL_COSTS))
def test_the_costs_of_golden_signals(name: str) -> None:
    """They are those of the oracle, too."""
    options, costs, columns = golden_jobs.SIGNAL_COSTS[name]
    reference, samples, first = golden_jobs.golden_signals()
    levels = normalised_levels(reference.levels, reference.column_strand, options)
    reads = [samples[begin : begin + golden_jobs.SIGNAL_SAMPLES] for begin in first[:3]]
    assert [align(read, levels, reference.tracks, options) for read in reads] == list(zip(costs, columns, strict=True))


def test_golden_jobs_see_wrong_results(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(golden_jobs, "OMEGA_DIGEST", "another")
    assert "other bytes" in str(golden_jobs.JOBS["omega scan, accurate"](engine))
    ones = np.ones((golden_jobs.SITES, golden_jobs.SITES), np.float32)
    monkeypatch.setattr(golden_jobs.omega_reference, "compat_values", lambda states: ones)
    assert "differs" in str(golden_jobs.JOBS["omega scan, compat"](engine))
    options, costs, columns = golden_jobs.SIGNAL_COSTS["squigglefilter"]
    monkeypatch.setitem(golden_jobs.SIGNAL_COSTS, "squigglefilter", (options, costs, [columns[0], 0, columns[2]]))
    assert "(squigglefilter) differ" in str(golden_jobs.JOBS["sdtw align"](engine))
    monkeypatch.setattr(golden_jobs.kmer_reference, "count", lambda texts, options: {"A" * options.k: 1})
    assert "differ" in str(golden_jobs.JOBS["kmers count"](engine))
    monkeypatch.setattr(golden_jobs.reference, "scan", lambda items, heads, inclusive: items + items)
    assert "segmented sums" in str(golden_jobs.JOBS["primitives"](engine))


# What a device may get wrong of a query, by what the oracle then says otherwise.
MISCLASSIFIED = [
    ("build_features", lambda found: found | {12345: [(0, 0)]}, "features"),
    ("build_features", lambda found: {feature: at[:100] for feature, at in found.items()}, "features"),
    ("sketches", lambda found: [row[:-1] for row in found], "hits"),
    ("choose_candidates", lambda found: [one._replace(first=one.last) for one in found], "candidates"),
    ("call_read", lambda found: None, "calls"),
]


@pytest.mark.parametrize(("name", "change", "told"), MISCLASSIFIED)
def test_the_golden_job_of_classify_sees_wrong_results(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, name: str, change: Callable[[Any], Any], told: str
) -> None:
    oracle = getattr(golden_classify.reference, name)
    changed = mock.Mock(side_effect=lambda *args: change(oracle(*args)))
    others = vars(golden_classify.reference) | {"build_features": lambda *_: golden_features()}
    monkeypatch.setattr(golden_classify, "reference", SimpleNamespace(**(others | {name: changed})))
    assert golden_classify.classify(engine) == f"{told} differ from the oracle"
    assert changed.called


def test_the_golden_job_of_classify_sees_wrong_lines(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    join = golden_classify.DeviceJoiner.join
    monkeypatch.setattr(golden_classify.DeviceJoiner, "join", lambda *args: memoryview(join(*args)[:-1]))
    assert golden_classify.classify(engine) == "lines differ from those that Python joins"


def test_reads_of_the_golden_job_are_of_every_class() -> None:
    """Some hit nothing, some so little that a narrow group takes them, and one so much that global memory sorts it."""
    targets = golden_classify.golden_targets()
    features = golden_features()
    sketch = BuildOptions().sketch
    located = [
        sum(len(features.get(one, ())) for row in classify_reference.sketches(read, sketch) for one in row)
        for read in golden_classify.golden_reads(targets)
    ]
    assert min(located) == 0
    assert any(0 < size <= SMALL for size in located)
    assert any(SMALL < size <= WIDE for size in located)
    assert max(located) > WIDE


@pytest.fixture
def compiled(tmp_path: Path) -> None:
    """Give the folder of `fresh`, which has to come after this, the programs that other tests have compiled."""
    folder = diskcache.cache_folder()
    if folder is not None:
        diskcache._make(folder / "programs")
        (tmp_path / "cache").mkdir(mode=0o700)
        (tmp_path / "cache" / "programs").symlink_to(folder / "programs")


TWO_JOBS = """
from oclgenomics.selftest.golden_jobs import JOBS
right = JOBS["primitives"]
JOBS.clear()
JOBS.update({"primitives": right, "another": lambda engine: "values differ"})
"""


def test_doctor_runs_the_jobs(
    compiled: None, answers: dict[int, Verdict], fresh: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """In a process of its own; `test_golden_jobs` runs them all."""
    break_selftest(fresh, TWO_JOBS, monkeypatch, "--jobs-on")
    for device in list_devices()[1:]:
        answers[device.index] = BAD  # which are then left alone
    assert main(["doctor", "--self-test"]) == 4
    lines = capsys.readouterr().out.splitlines()
    told = [line for line in lines if "jobs on" in line]
    assert told == ["[     ok] jobs on 0: primitives: right", "[problem] jobs on 0: another: values differ"]


# A runtime that is broken on purpose: kernels for AVX2 or more with the built-in functions of SSE2. One idiom that it
# gets right, and one that it gets wrong, are enough.

MISFIT_IDIOMS = ("integers", "vector_arithmetic")
MISFIT = """
import pathlib
from oclgenomics.runtime import pocl
from oclgenomics.selftest import idioms
every = idioms.idioms_for
idioms.idioms_for = lambda device: [one for one in every(device) if one.kernel in {names!r}]
pocl.builtins_for = lambda wheel: "sse2"
def aligned_home(wheel, level):
    folder = pathlib.Path({folder!r})
    pocl.link_home(wheel, folder, pocl._held_to(wheel, level))
    return folder / "pyopencl"
pocl.aligned_home = aligned_home
"""


@pytest.mark.skipif(pocl.find_wheel() is None, reason="PyOpenCL has come without PoCL")
@pytest.mark.skipif(unknown_processor(), reason="PoCL compiles nothing for this processor")
def test_a_broken_pocl_is_refused(fresh: Path) -> None:
    (fresh / "sitecustomize.py").write_text(MISFIT.format(folder=str(fresh / "home"), names=MISFIT_IDIOMS))
    (fresh / "none").mkdir()
    package = str(Path(trust.__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": f"{package}{os.pathsep}{fresh}", "OCL_ICD_VENDORS": str(fresh / "none")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-P", "-m", "oclgenomics", *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    automatic = run("devices")
    assert automatic.returncode == 4
    assert "no OpenCL device here computes rightly" in automatic.stderr.splitlines()[-1]
    assert "failed" in automatic.stdout
    named = run("omega", "scan", *SCAN)
    assert named.returncode == 4
    assert named.stderr.count("\n") == 1
    assert re.search(r"fails the self-test: (vector|doubles|float|fast|conv)", named.stderr)
