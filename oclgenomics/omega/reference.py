"""The oracle: the omega scan in a few obvious lines of NumPy.

Two arithmetics are restated here. `scan` in float64 sums every region by additions only, so nothing cancels;
`compat_scan` repeats the float32 operations of OmegaPlus 3.0.3 in their order. Both take small inputs: all pairwise
values are held in one dense matrix.

The statistic is Equation 2 of Corts, Sterenborg and Alachiotis ("LD-based selective sweep detection on GPU and FPGA",
section II): with k SNPs left of a grid position and m right of it,

    omega = [(LS + RS) / (C(k,2) + C(m,2))] / [X / (k m) + 0.00001]

where LS, RS and X sum the pairwise value n r^2 over the pairs inside the left part, inside the right part and across.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

EPSILON = 0.00001
RANK_BITS = 30
ROUNDING = 1e-12  # of a mean of signed values


@dataclass(frozen=True)
class Window:
    """SNP indices of one grid position: the left part is [i, centre] with first <= i <= inner_left, the right part
    [centre + 1, j] with inner_right <= j <= last."""

    centre: int
    first: int
    inner_left: int
    inner_right: int
    last: int


def grid_positions(positions: NDArray[np.int64], grid: int, *, compat: bool) -> NDArray[np.float64]:
    """Grid positions in bp, float64 (grid,): equidistant, or OmegaPlus' float32 running sum."""
    first, last = int(positions[0]), int(positions[-1])
    if not compat:
        return np.array([first + (last - first) * g / (grid - 1) for g in range(grid)])
    step = np.float32(np.float32(last - first) / np.float32(grid - 1))
    out = [np.float32(first)]
    for _ in range(grid - 1):
        out.append(np.float32(out[-1] + step))
    return np.array(out, np.float64)


def window_at(
    positions: NDArray[np.int64], at: float, minwin: int, maxwin: int, minsnps: int, *, compat: bool
) -> Window | None:
    """The search window of the grid position `at` (bp), or None where too few SNPs lie on a side."""
    real = np.float32 if compat else np.float64
    reach = {side * size: int(real(at) + real(side * size)) for size in (minwin, maxwin) for side in (-1, 1)}
    n = len(positions)
    centre = max((s for s in range(n) if positions[s] <= int(at)), default=-1)
    first = min((s for s in range(n) if positions[s] >= reach[-maxwin]), default=n)
    last = max((s for s in range(n) if positions[s] <= reach[maxwin]), default=-1)
    inner_left = min((s for s in range(n) if positions[s] >= reach[-minwin]), default=n)
    inner_right = max((s for s in range(n) if positions[s] <= reach[minwin]), default=-1)
    inner_left = min(inner_left, centre - minsnps + 1)
    inner_right = max(inner_right, centre + minsnps)
    if inner_left < first or inner_right > last or centre + 1 >= last or centre <= first:
        return None
    return Window(centre, first, inner_left, inner_right, last)


def right_range(window: Window, left: int, border: int) -> range:
    """Right borders j to score with the left border `left`; `border` >= 0 keeps the sides within that many SNPs of
    each other."""
    if border < 0:
        return range(window.inner_right, window.last + 1)
    k = window.centre - left + 1
    low = max(window.inner_right, window.centre + k - border)
    return range(low, min(window.last, window.centre + k + border) + 1)


def pair_values(
    states: NDArray[Any], observed: NDArray[Any] | None = None, *, unphased: bool = False
) -> NDArray[np.float64]:
    """n r^2 of every pair of sites in float64.

    Parameters
    ----------
    states : ndarray, (sites, haplotypes)
        0 and 1 for haplotypes; with `unphased`, (sites, samples) allele dosages 0, 1, 2.
    observed : bool ndarray of the same shape, optional
        Where a state is known. A pair uses the haplotypes known at both sites.
    unphased : bool
        r is the correlation of dosages, and n counts two haplotypes a sample.

    Returns
    -------
    ndarray, float64 (sites, sites)
        0 where a site does not vary over the pair's haplotypes.
    """
    x = np.asarray(states, np.float64)
    v = np.ones_like(x) if observed is None else np.asarray(observed, np.float64)
    x = x * v
    n = v @ v.T
    sum_i, square_i = x @ v.T, (x * x) @ v.T
    covariance = n * (x @ x.T) - sum_i * sum_i.T
    variance = n * square_i - sum_i**2
    spread = variance * variance.T
    count = 2 * n if unphased else n
    return np.divide(count * covariance**2, spread, out=np.zeros_like(spread), where=spread > 0)


def measure_values(states: NDArray[Any], measure: str) -> NDArray[np.float64]:
    """D of every pair of complete binary sites in float64, or its absolute value (ABSD, ABSDOM), or signed by the
    commoner states (DOM)."""
    x = np.asarray(states, np.float64)
    n = x.shape[1]
    d = x @ x.T / n - np.outer(x.mean(1), x.mean(1))
    major = np.where(2 * x.sum(1) >= n, -1.0, 1.0)
    values = {"D": d, "ABSD": np.abs(d), "ABSDOM": np.abs(d), "DOM": d * np.outer(major, major)}
    return np.asarray(values[measure], np.float64)


def allele_values(states: NDArray[Any]) -> NDArray[np.float64]:
    """Values of pairs of sites with any number of states: the weighted sum over one-against-the-rest pairs (Zaykin et
    al. 2008).

    Parameters
    ----------
    states : int ndarray, (sites, haplotypes)
        State numbers from 0; -1 where missing.

    Returns
    -------
    ndarray, float64 (sites, sites)
        (v_i - 1)(v_j - 1) / (v_i v_j) times the sum of n r^2 over the states of both sites; for two states each just
        n r^2.
    """
    seen = states >= 0
    present = [np.unique(row[row >= 0]) for row in states]
    rows = np.concatenate([states[s] == a for s, values in enumerate(present) for a in values]).reshape(
        -1, states.shape[1]
    )
    owner = np.repeat(np.arange(len(states)), [len(values) for values in present])
    pairs = pair_values(rows, seen[owner])
    member = (owner[:, None] == np.arange(len(states))).astype(np.float64)
    factor = np.array([(len(values) - 1) / len(values) for values in present])
    return np.asarray(factor[:, None] * factor * (member.T @ pairs @ member), np.float64)


def scan(
    values: NDArray[np.float64],
    positions: NDArray[np.int64],
    *,
    grid: int,
    minwin: int,
    maxwin: int,
    minsnps: int = 5,
    border: int = -1,
) -> list[tuple[float, float, int, int]]:
    """(position, omega, left bp, right bp) per grid position in float64; omega 0 and borders 0 where no window is
    valid.

    `values` is the (sites, sites) matrix of pairwise values. Signed ones make omegas that are negative or have 0 below
    the line; these are not taken.
    """
    return [
        _best(values, positions, at, window_at(positions, at, minwin, maxwin, minsnps, compat=False), border)
        for at in grid_positions(positions, grid, compat=False)
    ]


def _best(
    values: NDArray[np.float64], positions: NDArray[np.int64], at: float, window: Window | None, border: int
) -> tuple[float, float, int, int]:
    if window is None:
        return float(at), 0.0, 0, 0
    c, left, right = window.centre, slice(window.first, window.centre + 1), slice(window.centre + 1, window.last + 1)
    upper_left, upper_right = np.triu(values[left, left], 1), np.triu(values[right, right], 1)
    ls = np.cumsum(upper_left.sum(axis=1)[::-1])[::-1]  # ls[i - first]: pairs within [i, c]
    rs = np.cumsum(upper_right.sum(axis=0))  # rs[j - c - 1]: pairs within [c + 1, j]
    cross = np.cumsum(np.cumsum(values[left, right][::-1], axis=0), axis=1)[::-1]
    best, rank, place = 0.0, 0.0, (0, 0)
    for i in range(window.inner_left, window.first - 1, -1):
        js = np.array(right_range(window, i, border))
        if js.size == 0:
            continue
        k, m = float(c - i + 1), (js - c).astype(np.float64)
        pairs = k * (k - 1) / 2 + m * (m - 1) / 2
        within = np.divide(ls[i - window.first] + rs[js - c - 1], pairs, out=np.zeros_like(pairs), where=pairs > 0)
        below = cross[i - window.first, js - c - 1] / (k * m) + EPSILON
        omega = np.divide(within, below, out=np.zeros_like(pairs), where=np.abs(below) > ROUNDING)
        ranks = omega_ranks(omega)
        top = int(np.argmax(ranks))
        if ranks[top] > rank:
            best, rank, place = float(omega[top]), float(ranks[top]), (i, int(js[top]))
    return float(at), best, int(positions[place[0]]), int(positions[place[1]])


def omega_ranks(omega: NDArray[np.float64]) -> NDArray[np.float64]:
    """omega rounded to nearest in 30 bits: what equals then is equal, and the smallest window wins."""
    mantissa, exponent = np.frexp(omega)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, RANK_BITS)), exponent - RANK_BITS), np.float64)


def omega_of_window(values: NDArray[np.float64], centre: int, i: int, j: int) -> float:
    """omega of the sites [i, centre] against [centre + 1, j] by direct sums, in float64."""
    left, right = slice(i, centre + 1), slice(centre + 1, j + 1)
    k, m = centre - i + 1, j - centre
    within = np.triu(values[left, left], 1).sum() + np.triu(values[right, right], 1).sum()
    pairs = k * (k - 1) / 2 + m * (m - 1) / 2
    return float(within / pairs / (values[left, right].sum() / (k * m) + EPSILON)) if pairs else 0.0


def compat_values(
    states: NDArray[Any], observed: NDArray[Any] | None = None, measure: str = "RSQUARE"
) -> NDArray[np.float32]:
    """OmegaPlus' value of every pair of binary sites, float32 and in its order of operations.

    Parameters
    ----------
    states : ndarray, (sites, haplotypes)
        0 and 1.
    observed : ndarray of the same shape, optional
        Where a state is known. Counts run over the haplotypes observed at both sites (OmegaPlus itself corrupts a
        neighbour's state there).
    measure : str
        RSQUARE (n r^2), D, ABSD, DOM (D signed by the commoner states), ABSDOM, or ABSDOM2 (0: OmegaPlus takes an
        integer's absolute value).

    Returns
    -------
    ndarray, float32 (sites, sites)
        Lower triangle: the row is the later site of the pair.
    """
    one = np.asarray(states, np.int64)
    seen = np.ones_like(one) if observed is None else np.asarray(observed, np.int64)
    one = one * seen
    n = _common(seen, seen)
    n1j, n11, safe = _common(one, seen), _common(one, one), np.maximum(n, 1).astype(np.float32)
    p1j, p11 = n1j.astype(np.float32) / safe, n11.astype(np.float32) / safe
    if measure == "RSQUARE":
        value = _compat_rsquare(n, n11, n1j, n1j.T)
    elif measure in ("D", "ABSD"):
        value = p11 - p1j * p1j.T
    else:
        p10, p01 = (n1j - n11).astype(np.float32) / safe, (n1j.T - n11).astype(np.float32) / safe
        p00 = (n + n11 - n1j - n1j.T).astype(np.float32) / safe
        value = p11 * p00 - p10 * p01
    if measure == "DOM":
        value = np.where((2 * n1j >= n) != (n <= 2 * n1j.T), -value, value)
    elif measure in ("ABSD", "ABSDOM"):
        value = np.abs(value)
    elif measure == "ABSDOM2":
        value = np.zeros_like(value)
    return np.tril(value.astype(np.float32), -1)


def compat_dna_values(states: NDArray[Any]) -> NDArray[np.float32]:
    """OmegaPlus' value of every pair in its DNA mode, which serves an alignment with any site of three or more states.

    Parameters
    ----------
    states : int ndarray, (sites, haplotypes)
        State numbers in the order A < C < G < T; -1 where missing. Counts run over the haplotypes observed at both
        sites, and states that those do not show do not count as the site's.

    Returns
    -------
    ndarray, float32 (sites, sites)
        Lower triangle: the row is the later site of the pair. Sums are float32; the factor before them is float64.
    """
    sites = len(states)
    seen = (states >= 0).astype(np.int64)
    n = _common(seen, seen)
    total, shown_j, shown_i = np.zeros((sites, sites), np.float32), np.zeros_like(n), np.zeros_like(n)
    rows = [(states == a).astype(np.int64) for a in range(4)]
    for j in rows:
        for i in rows:
            total += _compat_rsquare(n, _common(j, i), _common(j, seen), _common(seen, i))
    for row in rows:
        shown_j += _common(row, seen) > 0
        shown_i += _common(seen, row) > 0
    pairs = shown_j * shown_i
    factor = (shown_j - 1.0) * (shown_i - 1.0) * n / np.maximum(pairs, 1)
    return np.tril(np.where(pairs > 0, total * factor, 0).astype(np.float32), -1)


def _common(one: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count the haplotypes that have a 1 at both of two sites, exactly; NumPy multiplies floats sooner than ints."""
    return (one.astype(np.float64) @ other.T.astype(np.float64)).astype(np.int64)


def _compat_rsquare(
    n: NDArray[np.int64], both: NDArray[np.int64], ones_j: NDArray[np.int64], ones_i: NDArray[np.int64]
) -> NDArray[np.float32]:
    """n r^2 in float32; 0 where a state is absent or everywhere."""
    real = np.float32
    count, safe = n.astype(real), np.maximum(n, 1).astype(real)
    p11, p1j, p1i = (x.astype(real) / safe for x in (both, ones_j, ones_i))
    p0j, p0i = (n - ones_j).astype(real) / safe, (n - ones_i).astype(real) / safe
    den = ((p0j * p1j) * p0i) * p1i
    squared = np.divide(count * (p11 - p1j * p1i) ** 2, den, out=np.zeros_like(den), where=den > 0)
    return np.asarray(squared, np.float32)


def compat_sums(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """OmegaPlus' matrix M (float32): M[j, i] sums the pairs of sites within [i, j] by its three-term recurrence."""
    n = len(values)
    m = np.zeros((n, n), np.float32)
    for d in range(1, n):
        j = np.arange(d, n)
        i = j - d
        if d == 1:
            m[j, i] = values[j, i]
        else:
            m[j, i] = ((values[j, i] + m[j - 1, i]) + m[j, i + 1]) - m[j - 1, i + 1]
    return m


def compat_scan(
    values: NDArray[np.float32],
    positions: NDArray[np.int64],
    *,
    grid: int,
    minwin: int,
    maxwin: int,
    minsnps: int = 5,
    border: int = -1,
) -> list[tuple[float, float, int, int, int]]:
    """(position, omega, left bp, right bp, valid) per grid position with OmegaPlus' float32 arithmetic, scan order
    and ties."""
    at_all = grid_positions(positions, grid, compat=True)
    windows = _shrunk_windows(positions, at_all, minwin, maxwin, minsnps)
    m = compat_sums(values)
    rows = []
    for at, window in zip(at_all, windows, strict=True):
        if window is None:
            rows.append((float(at), 0.0, 0, 0, 0))
            continue
        best, place = np.float32(0), (0, 0)
        for i in range(window.inner_left, window.first - 1, -1):
            js = np.array(right_range(window, i, border))
            if js.size == 0:
                continue
            omega = _compat_omega(m, window.centre, i, js)
            top = int(np.argmax(np.where(np.isnan(omega), -np.inf, omega)))
            if omega[top] > best:
                best, place = omega[top], (i, int(js[top]))
        rows.append((float(at), float(best), int(positions[place[0]]), int(positions[place[1]]), 1))
    return rows


def _compat_omega(m: NDArray[np.float32], c: int, i: int, js: NDArray[np.int64]) -> NDArray[np.float32]:
    k, mm = c - i + 1, js - c
    ls, rs, ts = m[c, i], m[js, c + 1], m[js, i]
    pairs = (k * (k - 1) // 2 + mm * (mm - 1) // 2).astype(np.float32)
    numerator = (ls + rs) / pairs
    denominator = ((((ts - ls) - rs) / (k * mm).astype(np.float32)).astype(np.float64) + EPSILON).astype(np.float32)
    return np.asarray(numerator / denominator, np.float32)


def _shrunk_windows(
    positions: NDArray[np.int64], at_all: NDArray[np.float64], minwin: int, maxwin: int, minsnps: int
) -> list[Window | None]:
    """All windows, with maxwin cut by 1 % until none spans more than 10,000 SNPs."""
    while True:
        windows = [window_at(positions, at, minwin, maxwin, minsnps, compat=True) for at in at_all]
        if all(w is None or w.last - w.first + 1 <= 10_000 for w in windows):
            return windows
        maxwin = int(0.99 * maxwin)
