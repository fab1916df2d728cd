"""Trimming against the published loop, sample by sample."""

from __future__ import annotations

import numpy as np
import pytest
from helpers.signal_files import stalled
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp

from oclgenomics.errors import ParameterError
from oclgenomics.signals import Signals, TrimOptions, stall_end, trim_start
from oclgenomics.signals.trimming import MAX_STALL

PUBLISHED = TrimOptions(max_trim=None, keep=False)
# Few levels far apart, so that averages are now and then exactly at the border and stalls are common.
reads = hnp.arrays(np.int16, st.integers(0, 60), elements=st.sampled_from([0, 0, 0, 0, 1, 90, 900]))


def published_end(samples: np.ndarray) -> tuple[int, bool]:
    """Where the published loop stops, and whether that is the end of a stall."""
    deviation = np.std(samples)
    level = (samples - np.mean(samples)) / (deviation if deviation else np.nan)
    events = [np.mean(level[at : at + 3]) for at in range(0, len(level), 3)]
    place = above = below = 0
    for event in events:
        place += 1
        above = above + 1 if event > 3 else 0
        if above == 2:
            break
    for event in events[place:]:
        place += 1
        below = below + 1 if event < 3 else 0
        if below == 2:
            return 3 * place, True
    return 3 * place, False


@given(reads)
def test_stall_is_the_published_one(samples):
    place, found = published_end(samples) if len(samples) else (0, False)
    assert stall_end(samples) == (place if found else None)
    assert trim_start(samples, PUBLISHED) == min(place + 1000, len(samples))


@given(reads, st.integers(0, 70))
def test_a_stall_that_ends_late_is_none(samples, most):
    end = stall_end(samples)
    assert stall_end(samples, most) == (end if end is not None and end <= most else None)


@given(st.integers(0, 300), st.integers(1, 40), st.integers(0, 300), st.integers(0, 9))
def test_stall_among_noise(before, high, after, seed):
    samples = stalled(before + high + after, before, before + high, seed)
    place, found = published_end(samples)
    assert stall_end(samples) == (place if found else None)


def test_known_stall():
    """Events 4 and 5 are high; 6 and 7, the next two, are not."""
    samples = np.zeros(300, np.int16)
    samples[12:18] = 1000
    assert stall_end(samples) == 24
    assert trim_start(samples, TrimOptions(extra=100)) == 124
    assert trim_start(samples, TrimOptions(extra=1000)) == 300


@pytest.mark.parametrize(("three", "end"), [(12, 42), (36, 48)])
def test_exactly_at_the_border(three, end):
    """Samples of mean 0 and deviation 1. Those of exactly 3 neither begin a stall nor end one."""
    samples = np.zeros(192, np.int16)
    samples[30:36] = 4
    samples[three : three + 6] = 3
    samples[-42:] = -1
    assert (samples.mean(), samples.std()) == (0, 1)
    assert stall_end(samples) == end == published_end(samples)[0]


def test_last_average_of_fewer_samples():
    samples = np.zeros(70, np.int16)
    samples[60:66] = 1000
    assert stall_end(samples) == 72 == published_end(samples)[0]
    assert stall_end(samples[:69]) is None


@pytest.mark.parametrize("length", [0, 1, 2, 3, 5, 6])
@pytest.mark.parametrize("value", [0, -7, 32767])
def test_constant_reads_have_no_stall(length, value):
    assert stall_end(np.full(length, value, np.int16)) is None


def test_reads_without_a_stall_are_kept_but_for_the_adapter():
    samples = np.tile(np.array([400, 600], np.int16), 2000)
    assert trim_start(samples, TrimOptions()) == 1000
    assert trim_start(samples, TrimOptions(keep=False)) == len(samples)
    assert trim_start(samples, TrimOptions(extra=0)) == 0


def test_late_peaks_are_no_stall():
    late = stalled(60_000, 30_000, 30_030)
    end = stall_end(late)
    assert end is not None
    assert end > MAX_STALL
    assert trim_start(late, TrimOptions()) == 1000
    assert trim_start(late, TrimOptions(max_trim=None)) == end + 1000
    assert trim_start(late, TrimOptions(max_trim=end)) == end + 1000
    assert trim_start(late, TrimOptions(max_trim=end - 1)) == 1000
    assert trim_start(late, TrimOptions(max_trim=end - 1, keep=False)) == len(late)


def test_fixed_number_of_samples():
    samples = stalled(3000, 100, 130)
    assert trim_start(samples, TrimOptions(stall=False, extra=1500)) == 1500
    assert trim_start(samples, TrimOptions(stall=False, extra=20_000)) == 3000
    assert trim_start(samples, TrimOptions(stall=False, extra=20_000, keep=False)) == 3000
    assert trim_start(samples, None) == 0


def test_prefix_of_a_read_that_goes_on():
    """The beginning alone says the same, as soon as it is long enough to tell high from usual currents."""
    samples = stalled(20_000, 200, 230)
    end = stall_end(samples)
    assert end is not None
    assert stall_end(samples[:225]) is None
    assert stall_end(samples[:2000]) == end


@pytest.mark.parametrize("wrong", [{"extra": -1}, {"max_trim": -1}])
def test_negative_numbers_are_refused(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        TrimOptions(**wrong)


def test_signals_are_cut_where_trimming_says():
    signals = Signals.of([stalled(5000, 100, 130), stalled(700, 100, 130)])
    starts = np.array([trim_start(signals.read(number), TrimOptions()) for number in range(2)])
    assert signals.cut(starts, signals.lengths).lengths.tolist() == [5000 - starts[0], 0]
