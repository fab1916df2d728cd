"""Inputs and expected outputs of the self-test's idioms, in NumPy; see `kernels_cl/common/check_*.cl`.

A function has the name of its kernel and returns its inputs and its outputs. Outputs have to agree to the bit, but for
those of `fast_arithmetic`, which have a tolerance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oclgenomics.runtime.traits import wide_numbers

ITEMS = 1024
ROUNDS = 70_000  # of loops; 16 bits count to 65,535
RECIPROCAL_ERROR = 2.0**-11  # relative; one Newton step makes 2^-22 of it
SIP_KEY = bytes(range(16))

Array = NDArray[Any]


@dataclass(frozen=True)
class Case:
    """Inputs of a kernel, its outputs before and after, and the tolerance."""

    inputs: list[Array]
    before: list[Array]
    after: list[Array]
    tolerance: Array | None = None

    def wrong(self, found: list[Array]) -> list[int]:
        """Count the wrong values of each channel of ITEMS values, over all outputs."""
        counts: list[int] = []
        for values, expected in zip(found, self.after, strict=True):
            if self.tolerance is None:
                differ = values.view(f"u{values.itemsize}") != expected.view(f"u{values.itemsize}")
            else:
                differ = ~(np.abs(values.astype(np.float64) - expected) <= self.tolerance)
            counts += [int(channel.sum()) for channel in np.array_split(differ, max(differ.size // ITEMS, 1))]
        return counts


def channels(*values: Any, dtype: Any) -> Array:
    """Lay values one after the other, cast (integers modulo the width) to one type."""
    arrays = [np.broadcast_to(np.asarray(value), (ITEMS,)) for value in values]
    return np.concatenate([array.astype(dtype) for array in arrays])


def case(inputs: list[Array], after: Array, *more: Array) -> Case:
    """A case whose outputs are all 0 before."""
    return Case(inputs, [np.zeros_like(array) for array in (after, *more)], [after, *more])


class Numbers:
    """The numbers that all cases draw on: of all magnitudes, and the same at every run."""

    def __init__(self) -> None:
        random = np.random.default_rng(7)
        self.words = random.integers(0, 1 << 32, (2, ITEMS), np.uint32)
        self.words[:, :4] = [[0, 1, 0xFFFFFFFF, 0x80000000], [0, 0xFFFFFFFF, 1, 0x7FFFFFFF]]
        self.longs = random.integers(0, 1 << 64, (2, ITEMS), np.uint64)
        self.longs[:, :4] = [[0, 1, (1 << 64) - 1, 1 << 63], [0, (1 << 64) - 1, 1, (1 << 63) - 1]]
        signs = random.choice(np.array([-1, 1], np.float32), (2, ITEMS))
        self.floats = random.uniform(0.25, 1000, (2, ITEMS)).astype(np.float32) * signs
        self.bytes = random.integers(0, 256, 10 * ITEMS, np.uint8)


NUMBERS = Numbers()
PLACES = np.arange(ITEMS)


def popcount(words: Array) -> Array:
    """Ones of each number."""
    return np.array([int(word).bit_count() for word in words])


def reversed_bits(words: Array, bits: int) -> Array:
    """Each number with its bits in reverse order."""
    return np.array([int(f"{int(word):0{bits}b}"[::-1], 2) for word in words], f"u{bits // 8}")


def lowest_bit(words: Array, bits: int) -> Array:
    """Index of the lowest set bit; the width for zero."""
    return np.array([(int(word) & -int(word)).bit_length() - 1 if word else bits for word in words])


def truncated_division(a: Array, b: Array) -> tuple[Array, Array]:
    """Quotient and remainder towards zero, int64."""
    quotient = np.abs(a) // b * np.sign(a)
    return quotient, a - quotient * b


def integers() -> Case:
    x, y = NUMBERS.words
    a, b = x, y | np.uint32(1)
    shift = b >> 27
    c = a.view(np.int32).astype(np.int64)
    d = (b >> 1).astype(np.int64) + 1
    d = np.where(d == 1 << 31, -(1 << 31), d)  # wraps
    quotient = np.where(d < 0, (c == -(1 << 31)).astype(np.int64), np.abs(c) // np.abs(d) * np.sign(c))
    a64, b64 = a.astype(np.int64), b.astype(np.int64)
    limits = np.minimum(a64, b64) - np.maximum(c, d) + np.abs(c >> 1)
    low = (1 << (shift.astype(np.int64) + 1)) - 1
    after = channels(
        a // b, a % b, quotient, c - quotient * d, a64 << shift, a >> shift, c >> shift, a64 * b64 + c, popcount(a),
        lowest_bit(a, 32), reversed_bits(a, 32), limits, (((a64 >> 1) + 6) // 7) ^ low,
        (a64 & 255) + ((b64 + c) & 65535), np.minimum(c, d), dtype=np.uint32,
    )  # fmt: skip
    return case([x, y], after)


def long_integers() -> Case:
    x, y = NUMBERS.longs
    a, b = x, y | np.uint64(1)
    c = a.view(np.int64)
    shift = b >> np.uint64(58)
    one, most = np.uint64(1), np.uint64((1 << 64) - 1)
    low_words = (a & np.uint64(0xFFFFFFFF)) * (b & np.uint64(0xFFFFFFFF)) >> np.uint64(32)
    short = b & np.uint64(0xFFFFFFFF)
    narrow = short.astype(np.uint32).view(np.int32).astype(np.int64)
    products = zip((a << one).tolist(), (b << np.uint64(2)).tolist(), strict=True)
    high_words = np.array([first * second >> 64 for first, second in products], np.uint64)
    zeros = np.array([64 - (number | 1).bit_length() for number in (a >> shift).tolist()], np.uint64)
    exponents = np.frexp(short.astype(np.float32))[1].astype(np.uint64) - one
    chosen = np.where((c >> 1) < (b >> np.uint64(2)).view(np.int64), -(c >> 1), narrow)
    after = channels(
        a + b, (a + b) < a, a - b - (a <= b), a * b, a // b, a % b, a << shift, a >> shift,
        c >> shift.astype(np.int64), a << np.uint64(13) | a >> np.uint64(51), popcount(a),
        lowest_bit(a & ~np.uint64(255), 64), reversed_bits(a, 64), most >> (np.uint64(63) - shift), a.byteswap(),
        low_words, a // short, chosen.view(np.uint64), np.where(a > b, b, a) + (a & (~a + one)), high_words, zeros,
        exponents, dtype=np.uint64,
    )  # fmt: skip
    return case([x, y], after)


def conversions() -> Case:
    x, f = NUMBERS.longs[0], NUMBERS.floats[0]
    a = x >> (x & np.uint64(63))
    low = a.astype(np.uint32)
    scaled = f * np.float32(1e6)
    third = truncated_division(low.view(np.int32).astype(np.int64), np.full(ITEMS, 3))[0]
    after = channels(
        low, low.view(np.int32), a, x.view(np.int64), scaled.astype(np.int32).view(np.float32),
        np.abs(scaled).astype(np.uint32).view(np.float32), (f.view(np.uint32) + np.uint32(1)).view(np.float32),
        third.astype(np.float32) / np.float32(3), dtype=np.float32,
    )  # fmt: skip
    return case([x, f], after)


def float_arithmetic() -> Case:
    a, b = NUMBERS.floats
    quarter = np.float32(0.25)
    divisor = b.view(np.uint32) >> 4 & 0xFFFF | 1
    most = ((a.view(np.uint32) & 0x3FFFF) % (4 * divisor + 1)).astype(np.float32)
    after = channels(
        a / b, np.sqrt(np.abs(a)), a * b - a, a + b * b, ((a + b) * a) / (b * (a - b * quarter)),
        a * np.float32(16777216) + (b - a), b, np.where(a > b, a, -b), np.maximum(a, b), np.maximum(a, b),
        np.minimum(a, b), np.abs(b), np.where(a < 0, -most, most) / divisor.astype(np.float32), dtype=np.float32,
    )  # fmt: skip
    return case([a, b], after)


def fast_arithmetic() -> Case:
    a, b = NUMBERS.floats
    wide = wide_numbers(ITEMS)
    x, y, z = (array.astype(np.float64) for array in (a, b, wide))
    after = np.concatenate([x * y - x, 1 / z])
    tolerance = np.concatenate([(np.abs(x * y) + np.abs(x)) * 2.0**-22, RECIPROCAL_ERROR / z])
    return Case([a, b, wide], [np.zeros(after.size, np.float32)], [after], tolerance)


def long_loops() -> Case:
    step = np.array([[31, 1, 0], [0, 1, 1], [0, 0, 1]], np.uint64)  # (sum, n, 1) after one round, modulo 2^64
    power = np.eye(3, dtype=np.uint64)
    for bit in f"{ROUNDS:b}":
        power = power @ power
        power = power @ step if bit == "1" else power
    i = PLACES.astype(np.uint64)
    from_here = np.minimum(PLACES, ROUNDS)
    counted = ROUNDS - from_here - ((ROUNDS + 2) // 3 - (from_here + 2) // 3)  # those that 3 does not divide
    after = channels(power[0, 0] * i + power[0, 2], counted, ROUNDS + PLACES % 2, PLACES - 1, dtype=np.uint32)
    return case([np.full(1, ROUNDS, np.uint32)], after)


def memory() -> Case:
    x, y = NUMBERS.words[0], NUMBERS.longs[0]
    rows, pairs, fours = (np.repeat(x.reshape(-1, n), n, axis=0).T for n in (8, 2, 4))
    sizes = np.array([240, 120, 60, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1], np.uint32)
    counted = np.zeros((ITEMS, 64), np.uint32)
    for n in range(32):
        np.add.at(counted, (PLACES, (x >> n) % 64), 1)
    sums = np.repeat(y.reshape(-1, 4).sum(axis=1), 4) >> np.uint64(32)
    mixed = x + x % 3 * rows[5] + (x >> x % 5 & 255)
    after = channels(
        rows[0] + rows[3] - rows[7], pairs[0] ^ pairs[1], pairs[1], sums, sizes[x & 15],
        counted[PLACES, x & 63] + 64 * counted[PLACES, x >> 26], mixed, fours[2] + np.uint32(3),
        dtype=np.uint32,
    )  # fmt: skip
    three = np.stack([x, x >> 8, x >> 16], axis=1).astype(np.uint8).reshape(-1)
    lines = np.stack([x, rows[1], pairs[1], sizes[PLACES & 15]], axis=1).reshape(-1)
    return case([x, y], after, three, lines)


def loose_memory() -> Case:
    data = NUMBERS.bytes

    def words(places: Array) -> Array:
        return data[places[:, None] + np.arange(8)].copy().view(np.uint64).reshape(-1)

    after = channels(words(7 * PLACES + 1), words(5 * PLACES), dtype=np.uint64)
    spread = np.column_stack([after[:ITEMS].view(np.uint8).reshape(-1, 8), PLACES.astype(np.uint8)])
    return case([data], after, np.ascontiguousarray(spread).reshape(-1))


def groups(lanes: int) -> Case:
    x = NUMBERS.longs[0].view(np.int64) >> 10
    tiles = x.reshape(-1, lanes)
    lane = np.arange(lanes)
    counters = np.empty_like(tiles)
    counters[:, lane * 7 % lanes] = tiles & 0xFFFF
    tally = np.stack([np.bincount(tile & 15, minlength=16) for tile in tiles])
    claimed = np.where(tally > 0, np.arange(1, 17), 0)
    tally += claimed << 32
    highest = np.repeat((tiles & 0xFFFF).max(axis=1) + ((claimed > 0).sum(axis=1) << 32), lanes)
    sums = tiles.cumsum(axis=1).reshape(-1)
    after = channels(sums, counters.reshape(-1), tally[:, lane & 15].reshape(-1), highest, sums, dtype=np.int64)
    return case([x], after)


def ordered_groups(lanes: int) -> Case:
    x = NUMBERS.words[0].reshape(-1, lanes)
    count = x >> 9 & 3
    lists = np.full((len(x), 2, lanes), 0xFFFFFFFF, np.uint32)
    lists[:, 0] = np.where((count == 1) | (count == 2), x, lists[:, 0])
    lists[:, 1] = np.where(count == 2, x * np.uint32(2), lists[:, 1])
    ordered = np.sort(lists.reshape(len(x), -1), axis=1)
    filled, rest = np.where(count < 3, count, 0).sum(axis=1), x % 7
    first = rest.argmax(axis=1)
    of_groups = [np.repeat(values, lanes) for values in (filled, rest.max(axis=1), first)]
    is_taken = (x == x[np.arange(len(x)), first][:, None]).ravel()
    after = channels(ordered[:, ::2].ravel(), ordered[:, 1::2].ravel(), *of_groups, is_taken, dtype=np.uint32)
    return case([NUMBERS.words[0]], after, np.sort(x, axis=1).ravel())


def atomics() -> Case:
    x = NUMBERS.words[0]
    slots = np.unique(x >> 4 & 63)
    totals = np.zeros(16 + 64, np.uint32)
    totals[:5] = ITEMS, x.sum() & 0xFFFFFFFF, x.min(), x.max(), np.bitwise_or.reduce(np.uint32(1) << (x >> 27))
    totals[5:8] = 77, slots.size, ITEMS - slots.size
    totals[8:16] = np.bincount(x & 7, minlength=8)
    totals[16 + slots] = slots + 1
    before = np.zeros(totals.size, np.uint32)
    before[2] = 0xFFFFFFFF
    return Case([x], [np.zeros(ITEMS, np.uint32), before], [np.ones(ITEMS, np.uint32), totals])


def siphash() -> Case:
    from siphash import SipHash_2_4

    data, numbers = NUMBERS.bytes.tobytes(), NUMBERS.longs[0]
    strings = [data[i : i + i % 64] for i in range(ITEMS)] + [number.tobytes() for number in numbers]
    after = np.array([SipHash_2_4(SIP_KEY, string).hash() for string in strings], np.uint64)
    return case([NUMBERS.bytes, numbers], after)


PLAIN_CASES = (
    integers, long_integers, conversions, float_arithmetic, fast_arithmetic, long_loops, memory, atomics, siphash,
)  # fmt: skip


def vector_conversions() -> Case:
    x, f = NUMBERS.longs[0].view(np.int64), NUMBERS.floats[0]
    low, high = x.astype(np.int32), (x >> 32).astype(np.int32)

    def bits(values: Array) -> Array:
        return values.astype(np.float32).view(np.int32)

    halves = (high - (low >> 31)).astype(np.float32) * np.float32(4294967296) + low.astype(np.float32)
    after = channels(
        low, high.astype(np.int64) << 24, low.view(np.uint32), bits(low), bits(low.view(np.uint32)), bits(x),
        (f * np.float32(1e6)).astype(np.int32), bits(halves), dtype=np.int64,
    )  # fmt: skip
    return case([x, f], after)


def vector_masks(lanes: int) -> Case:
    a, g = NUMBERS.words[0].view(np.int32), NUMBERS.floats[0]
    b, h = np.roll(a, -3 * lanes), np.roll(g, -3 * lanes)
    i = (PLACES // lanes * lanes).astype(np.int32)
    inside = (g > h) & (a >= -(1 << 30)) & (a <= 1 << 30)
    flipped = ((2 * a.view(np.uint32)) >= b.view(np.uint32)) != (a >= 0)

    def bits(values: Array) -> Array:
        return values.astype(np.float32).view(np.int32)

    infinite = np.where(a.view(np.uint32) > 5, 0x7F800000, 0)
    after = channels(
        -inside.astype(np.int32), np.where(inside, i, a), bits(np.where(inside, g, h)), bits(np.abs(g)),
        bits(np.where(flipped, -g, g)), infinite, np.minimum(a, i), bits(h), dtype=np.int32,
    )  # fmt: skip
    return case([a, g], after)


def vector_arithmetic(lanes: int) -> Case:
    a, b = NUMBERS.floats
    x = NUMBERS.words[0].view(np.int32)
    k = (x >> 20).astype(np.int64)
    whole = truncated_division(k * (k - 1), np.full(ITEMS, 2))[0] + 7
    half = np.float32(0.5)
    after = channels(
        a / b, a * b - a, a + b * b, ((a + b) * a) / (b * (a - b * np.float32(0.25))),
        whole.astype(np.float32) / (k * 3 + 1).astype(np.float32), (a[PLACES // lanes * lanes] - b) * half,
        dtype=np.float32,
    )  # fmt: skip
    return case([a, b, x], after)


def vector_longs(lanes: int) -> Case:
    a, b = NUMBERS.longs.view(np.int64)
    first = b[PLACES // lanes * lanes]
    after = channels(
        a + b, a - (b + first), (a >> 32) * (b >> 32) - (a & 0xFFFF) * first, (a << 24) + (b >> 17), np.maximum(a, b),
        dtype=np.int64,
    )  # fmt: skip
    return case([a, b], after)


def vector_popcount(lanes: int) -> Case:
    a = NUMBERS.words[0]
    b, c = np.roll(a, -lanes), np.roll(a, -2 * lanes)
    first = a[PLACES // lanes * lanes]
    after = channels(
        popcount(a & b), (a & b) | ((a ^ b) & c), a * first - (b >> 3), (a << 5) | (b >> (first & 31)), popcount(a),
        dtype=np.uint32,
    )  # fmt: skip
    return case([a], after)


def vector_memory(lanes: int) -> Case:
    f, x = NUMBERS.floats[0], NUMBERS.longs[0].view(np.int64)
    i = PLACES // lanes * lanes
    lane = PLACES % lanes
    beside = (i + 1) % (ITEMS - lanes)
    n = np.arange(16)
    tile = f[((beside[:, None] + n) % (ITEMS - lanes) + lane[:, None])] + n.astype(np.float32)  # (items, 16)
    best = np.maximum(tile.max(axis=1), np.float32(0))
    place = (lane * 17 + i) % (16 * lanes)
    after = channels(
        f[beside + lane], f, np.repeat(best.reshape(-1, lanes).max(axis=1), lanes),
        tile[i + place % lanes, place // lanes], dtype=np.float32,
    )  # fmt: skip
    return case([f, x], after, np.concatenate([[0], x[beside + lane]]))


def vector_shifts() -> Case:
    x = NUMBERS.words[0]
    a, b, low = (np.repeat(x.reshape(-1, 8)[:, n], 8).astype(np.uint64) for n in range(3))
    early = (PLACES % 8 * 2).astype(np.uint64)
    late = early + np.uint64(16)
    word, one, last = np.uint64(0xFFFFFFFF), np.uint64(1), np.uint64(31)
    forward = (a << early & word) | (b >> one) >> (last - early)
    backward = ((a << one) & word) << (last - late) & word | b >> late
    lesser = np.minimum(forward, backward)
    marks = (np.uint64(128) >> (PLACES % 8).astype(np.uint64)) << np.uint64(8)
    inside = np.where((lesser - low & word) <= np.uint64(0x7FFFFFFF), marks, 0)
    joined = np.repeat(np.bitwise_or.reduce(inside.reshape(-1, 8), axis=1), 8)
    return case([x], channels(lesser, joined, dtype=np.uint32))


def vector_bytes() -> Case:
    x = NUMBERS.words[0]
    of_item = x.view(np.uint8).reshape(-1, 64)
    codes, anything, count, some = (np.zeros((len(of_item), 16), np.uint8) for _ in range(4))
    for first in range(0, 48, 5):
        a = of_item[:, first : first + 16] & 0x0F
        code = np.where(a == 3, 0x12, np.where(a == 12, 0x4F, 0)).astype(np.uint8)
        codes ^= code
        anything |= np.where(code == 0, 255, 0).astype(np.uint8)
        count += a == 3
        some += (a == 7).any(axis=1)[:, None]
    return case([x], channels(*(field.ravel() for field in (codes, anything, count, some)), dtype=np.uint32))


def vector_windows() -> Case:
    x = NUMBERS.words[0]
    first = np.arange(0, ITEMS, 16)
    bytes_of = x.view(np.uint8)
    begin = 4 * np.where(first + 16 < ITEMS, first, first - 16)

    def numbers(at: int, count: int, dtype: type[np.generic]) -> NDArray[Any]:
        size = np.dtype(dtype).itemsize
        places = begin[:, None] + at + np.arange(count * size)
        return np.ascontiguousarray(bytes_of[places]).view(dtype)

    alive = np.full((len(first), 8), ~np.uint64(0))
    counted = np.zeros_like(alive)
    for n in range(0, 40, 3):
        by = np.uint64(n % 8 + 1)
        letters = numbers(n, 8, np.uint64) >> by | numbers(n + 8, 8, np.uint64) << np.uint64(64) - by
        alive &= ~(counted & ~letters) | np.uint64(0x1111111111111111)
        counted ^= ~letters
    alive -= (alive.view(np.int64) <= counted.view(np.int64)).astype(np.uint64)
    wrong = ~(alive + np.uint64(0x0F0F0F0F0F0F0F0F)) & np.uint64(0x1010101010101010)
    for shift in range(3):
        half = wrong.shape[1] // 2
        wrong = wrong[:, :half] | wrong[:, half:] << np.uint64(shift + 1)
    words = numbers(4, 16, np.uint32) * np.uint32(5) + (numbers(20, 16, np.uint32) >> np.uint32(27)) & np.uint32(31)
    turned = words[:, np.arange(16) * 7 % 16]
    folded = np.tile(wrong.view(np.uint32), 8)
    return case([x], channels(alive.view(np.uint32).ravel(), folded.ravel(), turned.ravel(), dtype=np.uint32))


def vector_marks() -> Case:
    x = NUMBERS.words[0]
    of_item = x.reshape(-1, 16).astype(np.uint64)
    shifts = np.arange(0, 32, 2, dtype=np.uint64)
    marks = (1 << np.arange(31, 15, -1)).astype(np.uint32)
    first, second = (of_item[:, at] << np.uint64(32) | of_item[:, at + 1] for at in (0, 2))
    chosen, inside = np.zeros((len(of_item), 16), np.uint32), np.zeros((len(of_item), 8), np.uint64)
    for n in range(4):
        ahead = (of_item[:, n] << np.uint64(32) | of_item[:, n + 1])[:, None]
        prefix = (ahead << shifts >> np.uint64(32)).astype(np.uint32)
        good = (prefix - x[5::16, None] < 1 << 31) & (x[6::16, None] & marks > 0)
        chosen |= good.astype(np.uint32) << np.uint32(n)
        by = np.uint64(16 * n) + shifts[:8]
        kmer = first[:, None] << by | second[:, None] >> np.uint64(1) >> np.uint64(63) - by
        less = (kmer <= second[:, None]) & (x[6::16, None] & (128 >> np.arange(8)) > 0)
        inside |= less.astype(np.uint64) << np.uint64(n)
    fields = chosen.ravel(), inside.view(np.uint32).ravel(), (chosen ^ marks).ravel()
    return case([x], channels(*fields, dtype=np.uint32))


def vector_columns(lanes: int) -> Case:
    x = NUMBERS.words[0]
    of_item = x.reshape(-1, 16)
    # Byte t of row l is byte l of row t after a square is turned around.
    letters = x.view(np.uint8).reshape(-1, 64)[:, 3 * np.arange(16)[:, None] + np.arange(16)].astype(np.uint32)
    level = np.repeat(of_item[:, :1] & 31, 16, axis=1)
    down, marks, some = np.zeros_like(level), np.zeros_like(level), np.zeros_like(of_item[:, :1])
    for n in range(16):
        bits = [letters[:, :, n] >> bit & 1 == 1 for bit in (0, 3, 6)]
        equal = np.bitwise_or.reduce([np.where(bit, of_item[:, m, None], 0) for m, bit in enumerate(bits, 1)])
        across, still = ((level - (equal & ~level)) ^ level) | equal, equal | down
        more, less = (down | (level & ~across)) << 1, (across & ~level) << 1
        level, down = (still | more) & ~less, more & still
        sums = (level & 0x33333333) + (level >> 2 & 0x33333333) + (down & 0x33333333)
        sums = ((sums & 0x0F0F0F0F) + (sums >> 4 & 0x0F0F0F0F)) * np.uint32(0x01010101) >> 24
        mark = sums >= of_item[:, n, None] & 63
        marks = marks << 1 | mark
        some = some << 1 | mark[:, :lanes].any(axis=1, keepdims=True)
    fields = [np.resize(of[:, :lanes].T, (16, len(of_item))).T.ravel() for of in (level, down, marks)]
    return case([x], channels(*fields, np.repeat(some, 16), dtype=np.uint32))


def vector_shorts(lanes: int) -> Case:
    a, b = NUMBERS.words[0].view(np.uint16).reshape(2, ITEMS)
    most = np.uint16(65535)

    def capped(x: Array, y: Array) -> Array:
        return np.minimum(x.astype(np.int64) + y, most).astype(np.uint16)

    score = [a ^ b, a, b, capped(a, b)]
    level = a[PLACES // lanes * lanes + np.arange(5)[:, None]]
    costs = np.abs((level >> 1).astype(np.int32) - (b >> 1))
    for cost in costs:
        for c in (3, 2, 1):
            score[c] = capped(np.minimum(score[c], score[c - 1]), cost)
    lane = PLACES % lanes
    turned = np.where(a > 30000, a[PLACES - lane + (lane * 7 + 5) % lanes] + b, a)
    after = channels(
        capped(a, b), np.maximum(a, b) - np.minimum(a, b), (a - b) * (a - b) >> np.uint16(4), np.maximum(a, b) - b,
        score[2], score[3], costs.argmin(axis=0), turned, dtype=np.uint16,
    )  # fmt: skip
    return case([np.concatenate([a, b])], after)


def vector_scores(lanes: int) -> Case:
    x, f = NUMBERS.words.view(np.int32), NUMBERS.floats
    a, b = x >> 16
    cost = np.abs(a - b)
    lane = PLACES % lanes
    first = PLACES - lane
    turned = np.where(x[0] > 0, x[0][first + (lane * 7 + 5) % lanes] ^ a, b)
    integers_after = channels(
        cost, ((a - b) >> 2) ** 2 >> 4, np.minimum(cost + 30000, 65535),
        np.where(a < x[0][first], 0, np.minimum(cost + 10, 20000)), turned, dtype=np.int32,
    )  # fmt: skip
    g, h = f
    score = [h * 2, g, h]
    distances = np.abs(g[first + np.arange(5)[:, None]] - h)
    for apart in distances:
        for c in (2, 1):
            score[c] = apart + np.minimum(score[c], score[c - 1])
    floats_after = channels(
        np.abs(g - h) + h, (g - h) * (g - h) + g, score[1], score[2], distances.argmin(axis=0), g, dtype=np.float32
    )
    return case([x, f], integers_after, floats_after)


def vector_lists(lanes: int) -> Case:
    x = NUMBERS.words[0]
    most = np.uint32(0xFFFFFFFF)
    at = x & 0x7FF
    loaded = x.view(np.uint8)[at[:, None] + np.arange(16)].view(np.uint32).T
    count = at & 15
    shifted = loaded[0] << count | loaded[1] >> 16 - count | ~(np.uint32(0xFFFF0000) << 16 - count)
    hashes = (loaded >> np.uint32(16) ^ loaded) * np.uint32(0x45D9F3B)
    hashes |= np.where(count >> 3 - np.arange(4)[:, None] & 1, most, np.uint32(0))
    joined = np.bitwise_xor.reduce(hashes ^ loaded).reshape(-1, lanes)
    hashes.sort(axis=0)
    least = np.sort(np.concatenate([loaded, hashes]), axis=0)[:4]
    odd = np.repeat(x[::lanes] & 1, lanes)
    risen = np.where(odd, least[2], hashes[0])
    found = least.copy()
    for here in found:
        here[:], risen = np.minimum(here, risen), np.where(here == risen, most, np.maximum(here, risen))
    full = (hashes[3] == most).reshape(-1, lanes)
    marked = np.where(full, full.cumsum(axis=1) - 1, found[0].reshape(-1, lanes))
    eight = np.bitwise_or.reduce(joined.reshape(-1, lanes // 8, 8), axis=1)
    four = eight[:, :4] & eight[:, 4:]
    folded = (four[:, 0] | four[:, 1]) ^ (four[:, 2] | four[:, 3])
    pairs = hashes[:2].reshape(2, -1, 2, lanes // 2)
    low, high = (pairs[:, :, half].transpose(1, 2, 0).ravel() for half in (0, 1))
    of_item = x[(PLACES[::lanes, None] + np.arange(3 * lanes)) % ITEMS]
    items = np.arange(len(of_item))[:, None]
    of_item[items, (x[::lanes, None] & 7) + np.arange(4)] = loaded.T[1::lanes]
    loose = of_item[items, (x[::lanes, None] >> 3 & 7) + np.arange(lanes)]
    after = channels(
        shifted, *least, found[3], risen, marked.ravel(), np.repeat(at.reshape(-1, lanes).max(axis=1), lanes),
        np.repeat(folded, lanes), low, high, loose.ravel(), dtype=np.uint32,
    )  # fmt: skip
    return case([x], after)


def vector_lines() -> Case:
    x = NUMBERS.words[0]
    lines = x.view(np.uint64).reshape(-1, 8)
    few, more = lines & np.uint64(7), np.roll(lines, -1, axis=0) & np.uint64(15)
    hit = ((few ^ few[:, 3:4]) & ~np.uint64(2) == 0) & (more > 3) | (more == 15)
    found = (hit * np.uint8(255)).view(np.uint64)
    lane = np.where(hit.any(axis=1), hit.argmax(axis=1), 99).astype(np.uint64)[:, None]
    room = np.tile(np.arange(16, dtype=np.uint64), (len(lines), 1))
    room[:, 3:11] = np.sort(lines, axis=1)
    moved = room[:, 4:12].copy()
    room[np.arange(len(lines))[:, None], (x[::16, None] & 7) + np.arange(8)] = moved
    own = np.hstack([found, found, lane] * 3)[:, :8]
    after = [np.ascontiguousarray(field).view(np.uint32).ravel() for field in (room[:, :8], room[:, 8:], own)]
    return case([x], channels(*after, dtype=np.uint32))


def doubles() -> Case:
    a, b = NUMBERS.floats
    x, y = a.astype(np.float64), b.astype(np.float64)
    after = channels(a / (y + 0.00001).astype(np.float32), x * y - x, x / y * 3.0, dtype=np.float32)
    return case([a, b], after)
