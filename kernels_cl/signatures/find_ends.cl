// Where windows of patterns, up to 32 letters of each, may end in samples with few edits: a column of the dynamic programming is
// a number of 32 bits (Myers 1999, Journal of the ACM 46, 395, as Hyyro has it), and each lane of a vector has another text.
//
// The letters of all pieces, end to end, are dealt out to streams of `share` letters each. A stream begins with the `before`
// letters in front of its own, so that an alignment that ends in what it owns lies in it whole. Streams of LANES lanes lie in one
// another: letter t of lane l is byte t * LANES + l of their block. A letter's set of nucleotides is in its low four bits. Where a stream goes over the
// border of two pieces, more may be found than there is, never less: `check_ends` looks at each piece by itself.
//
// A window's rows are the highest bits; those below match everything and cost nothing, so the edits of a column's last cell are
// the sum of all steps from cell to cell, up minus down. `level` has a bit for each step that is not up, `down` for each that is.
// As a neighbouring cell differs by one at most, one of EACH ends is looked at, in the middle: the others may be EACH / 2 lower.
//
//   join_letters  for each of some blocks of streams, so many bases of a text that has all pieces end to end between runs of N
//   lay_streams   blocks of streams, from bases that lie end to end, SOME more than these: those of block b begin at `places[b]` of
//                 `codes` if they lie in one piece, else at ~places[b] of those that were joined
//   mark_ends     windows and first ends, counted through the letters of all pieces, of which one of EACH ends may be one with so
//                 few edits: at found[slot] and found[room + slot], in no order, as many as there is `room` for; counts[0] counts
//                 all, and counts[1 + b] those of each block: as many blocks as are asked for, behind `skip` of those that were laid
//   check_ends    for each stretch of up to 32 ends in a piece: masks[i] has a bit for each end that has so few edits
//
// -D LANES=n     streams of a block; on CPUs the width of vectors
// -D EACH=n      odd, up to 31
// -D TOGETHER=n  windows of a work-item
// -D CPU=0|1     1: a work-item has the lanes of a block in vectors; 0: one of them
#include "common/portable.clh"
#include "signatures/records.clh"

#if CPU
#define WIDTH LANES
typedef PASTE(uint, LANES) lanes_t;
typedef PASTE(uchar, LANES) letters_t;
#define SIGNED(x) PASTE(as_int, LANES)(x)
#define UNSIGNED(x) PASTE(as_uint, LANES)(x)
#define LETTERS(at) PASTE(convert_uint, LANES)(*(__global const letters_t *)(at))
#else
#define WIDTH 1
typedef uint lanes_t;
#define SIGNED(x) as_int(x)
#define UNSIGNED(x) as_uint(x)
#define LETTERS(at) ((uint) * (at))
#endif

// Lanes of ones where a letter may be a nucleotide, whose bit is given.
#define POSSIBLE(letters, bit) UNSIGNED(SIGNED((letters) << (31 - (bit))) >> 31)
#define ANYTHING 15

// The rows of a window that meet each nucleotide, those below it, its letters, those of its pattern up to its end, its edits.
typedef struct {
    uint a, c, g, t, below, height, behind, edits;
} Window;

typedef uchar16 some_t __attribute__((aligned(1)));
#define SOME 16
#define STRETCH 4096  // letters of a work-item

__kernel void join_letters(__global const uchar *codes, __global const Piece *pieces, __global const uint *firsts, uint count,
                           uint total, uint before, __global const uint *blocks, uint items, uint step, uint size,
                           __global uchar *joined)
{
    const uint item = get_global_id(0), each = (size + STRETCH - 1) / STRETCH, number = item / each;
    if (item >= items)
        return;
    const uint first = (item % each) * STRETCH;
    __global uchar *to = joined + (ulong)number * size + first, *end = to + MIN(size - first, STRETCH);
    ulong at = (ulong)blocks[number] * step + first;  // counted from `before` bases before the text
    for (; to < end && at < before; ++to, ++at)
        *to = ANYTHING;
    at -= MIN(at, before);
    uint piece = 0, behind = count;  // the last piece that begins at the letter or before it, which is none of the empty ones
    while (behind - piece > 1) {
        const uint middle = piece + (behind - piece) / 2;
        if (firsts[middle] <= at)
            piece = middle;
        else
            behind = middle;
    }
    while (to < end && at < total) {
        while (piece + 1 < count && firsts[piece + 1] <= at)
            ++piece;
        const uint inside = (uint)(at - firsts[piece]), run = MIN((uint)(end - to), pieces[piece].size - inside);
        __global const uchar *from = codes + pieces[piece].letters + inside;
        uint i = 0;
        for (; i + SOME <= run; i += SOME)
            *(__global some_t *)(to + i) = *(__global const some_t *)(from + i);
        for (; i < run; ++i)
            to[i] = from[i];
        to += run;
        at += run;
    }
    for (; to < end; ++to)
        *to = ANYTHING;
}

#if CPU
// A square of bytes turned around by four perfect shuffles of its rows.
#define LOWER(a, b) \
    (uchar16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define UPPER(a, b) \
    (uchar16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)

__attribute__((vec_type_hint(ulong8)))
__kernel void lay_streams(__global const uchar *codes, __global const uchar *joined, __global const long *places, uint share,
                          uint size, uint streams, __global uchar *out)
{
    const uint block = get_global_id(0);
    if (block * LANES >= streams)
        return;
    const long place = places[block];
    __global const uchar *from = place >= 0 ? codes + place : joined + ~place;
    __global uchar *to = out + (ulong)block * LANES * size;
    for (uint t = 0; t < size; t += SOME) {
        uchar16 rows[SOME], turned[SOME];
        UNROLL
        for (uint l = 0; l < LANES; ++l)
            rows[l] = *(__global const some_t *)(from + l * share + t);
        UNROLL
        for (uint l = LANES; l < SOME; ++l)
            rows[l] = 0;
        UNROLL
        for (uint round = 0; round < 2; ++round) {
            UNROLL
            for (uint i = 0; i < SOME / 2; ++i) {
                turned[2 * i] = LOWER(rows[i], rows[i + SOME / 2]);
                turned[2 * i + 1] = UPPER(rows[i], rows[i + SOME / 2]);
            }
            UNROLL
            for (uint i = 0; i < SOME / 2; ++i) {
                rows[2 * i] = LOWER(turned[i], turned[i + SOME / 2]);
                rows[2 * i + 1] = UPPER(turned[i], turned[i + SOME / 2]);
            }
        }
        UNROLL
        for (uint i = 0; i < SOME; ++i)
            if (t + i < size) {
#if LANES == SOME
                *(__global letters_t *)(to + (t + i) * LANES) = rows[i];
#else
                *(__global letters_t *)(to + (t + i) * LANES) = rows[i].lo;
#endif
            }
    }
}
#else
__kernel void lay_streams(__global const uchar *codes, __global const uchar *joined, __global const long *places, uint share,
                          uint size, uint streams, __global uchar *out)
{
    const uint stream = get_global_id(0);
    if (stream >= streams)
        return;
    const long place = places[stream / LANES];
    __global const uchar *from = (place >= 0 ? codes + place : joined + ~place) + stream % LANES * share;
    __global uchar *to = out + (ulong)(stream / LANES) * size * LANES + stream % LANES;
    for (uint t = 0; t < size; ++t)
        to[t * LANES] = from[t];
}
#endif

static inline uint any_lane(lanes_t marks)
{
#if !CPU
    return marks;
#else
#if LANES == 16
    const uint8 eight = marks.lo | marks.hi;
#else
    const uint8 eight = marks;
#endif
    const uint4 four = eight.lo | eight.hi;
    return four.x | four.y | four.z | four.w;
#endif
}

__kernel void mark_ends(__global const uchar *streams, __global const Window *windows, uint first, uint skip, uint blocks,
                        uint begin, uint count, uint share, uint size, uint total, uint room, __global uint *found, __global uint *counts)
{
#if CPU
    const uint block = get_global_id(0), lane = 0;
#else
    const uint block = get_global_id(0) / LANES, lane = get_global_id(0) % LANES;
#endif
    const uint w = begin + get_global_id(1) * TOGETHER, before = size - share;
    if (block >= blocks)
        return;
    __global const uchar *text = streams + (ulong)(skip + block) * size * LANES + lane;
    lanes_t level[TOGETHER], down[TOGETHER];
    Window window[TOGETHER];
    uint own = 0;
    UNROLL
    for (uint u = 0; u < TOGETHER; ++u) {
        window[u] = windows[MIN(w + u, begin + count - 1)];
        level[u] = (lanes_t)(window[u].below);
        down[u] = (lanes_t)(0);
    }
    for (uint t = 0; t < size; t += EACH) {
        UNROLL
        for (uint e = 0; e < EACH; ++e) {
            const lanes_t letters = LETTERS(text + (t + e) * LANES);
            const lanes_t a = POSSIBLE(letters, 0), c = POSSIBLE(letters, 1), g = POSSIBLE(letters, 2), d = POSSIBLE(letters, 3);
            UNROLL
            for (uint u = 0; u < TOGETHER; ++u) {
                const lanes_t equal = (a & window[u].a) | (c & window[u].c) | (g & window[u].g) | (d & window[u].t);
                const lanes_t flat = level[u], low = down[u];
                const lanes_t across = ((flat - (equal & ~flat)) ^ flat) | equal, still = equal | low;
                const lanes_t more = (low | (flat & ~across)) << 1, less = (across & ~flat) << 1;
                level[u] = (still | more) & ~less;
                down[u] = more & still;
            }
        }
        if (t < before)
            continue;
        UNROLL
        for (uint u = 0; u < TOGETHER; ++u) {
            // 32 less the edits: bits of `level` and of `down`.
            lanes_t x = level[u], y = down[u];
            x -= x >> 1 & 0x55555555u;
            y -= y >> 1 & 0x55555555u;
            x = (x & 0x33333333u) + (x >> 2 & 0x33333333u) + (y & 0x33333333u) + (y >> 2 & 0x33333333u);
            x = (x & 0x0f0f0f0fu) + (x >> 4 & 0x0f0f0f0fu);
            const lanes_t score = (x * 0x01010101u) >> 24;
            const uint least = 32 - MIN(32, EACH / 2 + window[u].edits);
#if CPU
            const lanes_t marks = UNSIGNED(score >= (lanes_t)(least));
#else
            const lanes_t marks = score >= least;
#endif
            if (!any_lane(marks) || w + u >= begin + count)
                continue;
            for (uint l = 0; l < WIDTH; ++l) {
                const ulong end = ((ulong)(first + skip + block) * LANES + lane + l) * share + (t - before);
                if (!((const uint *)&marks)[l] || end >= total)
                    continue;
                const uint slot = atomic_inc(counts);
                if (slot < room) {
                    found[slot] = w + u;
                    found[room + slot] = (uint)end;
                }
                ++own;
            }
        }
    }
    if (own)
        atomic_add(&counts[1 + block], own);
}

// A window, a piece, and the ends begin .. end - 1 in it, by their last letters.
typedef struct {
    uint window, piece, begin, end;
} Stretch;

__kernel void check_ends(__global const uchar *codes, __global const Piece *pieces, __global const Window *windows,
                         __global const Stretch *stretches, uint count, __global uint *masks)
{
    const uint i = get_global_id(0);
    if (i >= count)
        return;
    const Stretch own = stretches[i];
    const Window window = windows[own.window];
    __global const uchar *sample = codes + pieces[own.piece].letters;
    const uint reach = window.height + window.edits;
    uint level = window.below, down = 0, edits = window.height, mask = 0;
    for (uint j = own.begin > reach ? own.begin - reach : 0; j < own.end; ++j) {
        const uint letter = sample[j];
        const uint equal = window.below | (window.a & -(letter & 1)) | (window.c & -(letter >> 1 & 1)) |
                           (window.g & -(letter >> 2 & 1)) | (window.t & -(letter >> 3 & 1));
        const uint across = ((level - (equal & ~level)) ^ level) | equal, still = equal | down;
        const uint more = down | (level & ~across), less = across & ~level;
        edits += (more >> 31) - (less >> 31);
        level = (still | more << 1) & ~(less << 1);
        down = more << 1 & still;
        if (j >= own.begin && edits <= window.edits)
            mask |= 1u << (j - own.begin);
    }
    masks[i] = mask;
}
