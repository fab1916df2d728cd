// Self-test: what kernels do with explicit vectors of VW lanes, on CPUs. runtime/idiom_values.py has the same in NumPy.
//
// Results lie in channels: field n of item i is out[n * ITEMS + i]; a work-item does VW items.
// -D ITEMS=n, -D ONLY, -D ONLY_<name>: check_scalar.cl
#include "common/fetch.clh"
#include "common/portable.clh"
#pragma OPENCL FP_CONTRACT OFF

typedef PASTE(long, VW) long_v;
typedef PASTE(long, VW) long_vu __attribute__((aligned(8)));

#define FIRST get_global_id(0) * VW
#define PUT(type, field, value) STORE_V(type, out + (field) * ITEMS + i, value)

#if !defined(ONLY) || defined(ONLY_vector_conversions)
__kernel void vector_conversions(__global const long *x, __global const float *f, __global long *out)
{
    const size_t i = FIRST;
    const long_v a = LOAD_V(long, x + i);
    const float_v g = LOAD_V(float, f + i);
    const int_v low = AS_V(int, CONVERT_V(uint, a & 0xffffffffL)), high = CONVERT_V(int, a >> 32);
    PUT(long, 0, CONVERT_V(long, low));
    PUT(long, 1, CONVERT_V(long, high) << 24);
    PUT(long, 2, CONVERT_V(long, AS_V(uint, low)));
    PUT(long, 3, CONVERT_V(long, AS_V(int, CONVERT_V(float, low))));
    PUT(long, 4, CONVERT_V(long, AS_V(int, CONVERT_V(float, AS_V(uint, low)))));
    PUT(long, 5, CONVERT_V(long, AS_V(int, CONVERT_V(float, a))));
    PUT(long, 6, CONVERT_V(long, CONVERT_V(int, g * 1e6f)));
    PUT(long, 7, CONVERT_V(long, AS_V(int, CONVERT_V(float, high - (low >> 31)) * 4294967296.0f + CONVERT_V(float, low))));
}
#endif

#if !defined(ONLY) || defined(ONLY_vector_masks)
__kernel void vector_masks(__global const int *x, __global const float *f, __global int *out)
{
    const size_t i = FIRST;
    const int_v a = LOAD_V(int, x + i), b = LOAD_V(int, x + (i + 3 * VW) % ITEMS);
    const float_v g = LOAD_V(float, f + i), h = LOAD_V(float, f + (i + 3 * VW) % ITEMS);
    const int_v inside = (g > h) & (a >= -(1 << 30)) & (a <= (1 << 30));
    PUT(int, 0, inside);
    PUT(int, 1, inside ? (int_v)(int)i : a);
    PUT(int, 2, AS_V(int, inside ? g : h));
    PUT(int, 3, AS_V(int, g < 0.0f ? -g : g));
    PUT(int, 4, AS_V(int, (2 * AS_V(uint, a) >= AS_V(uint, b)) != (a >= 0) ? -g : g));
    PUT(int, 5, AS_V(int, g == g && AS_V(uint, a) > 5u ? g / (g - g) : (float_v)0.0f) & 0x7f800000);
    PUT(int, 6, a < (int)i ? a : (int_v)(int)i);
    PUT(int, 7, AS_V(int, (g - g) / (g - g) > 0.0f ? g : h));
}
#endif

#if !defined(ONLY) || defined(ONLY_vector_arithmetic)
__kernel void vector_arithmetic(__global const float *f, __global const float *g, __global const int *x, __global float *out)
{
    const size_t i = FIRST;
    const float_v a = LOAD_V(float, f + i), b = LOAD_V(float, g + i);
    const int_v k = LOAD_V(int, x + i) >> 20;
    PUT(float, 0, a / b);
    PUT(float, 1, a * b - a);
    PUT(float, 2, a + b * b);
    PUT(float, 3, ((a + b) * a) / (b * (a - b * 0.25f)));
    PUT(float, 4, CONVERT_V(float, k * (k - 1) / 2 + 7) / CONVERT_V(float, k * 3 + 1));
    PUT(float, 5, ((float_v)f[i] - b) * 0.5f);
}
#endif

#if !defined(ONLY) || defined(ONLY_vector_longs)
__kernel void vector_longs(__global const long *x, __global const long *y, __global long *out)
{
    const size_t i = FIRST;
    const long_v a = LOAD_V(long, x + i), b = LOAD_V(long, y + i);
    const long first = y[i];
    PUT(long, 0, a + b);
    PUT(long, 1, a - (b + first));
    PUT(long, 2, (a >> 32) * (b >> 32) - (a & 0xffffL) * first);
    PUT(long, 3, (a << 24) + (b >> 17));
    PUT(long, 4, a > b ? a : b);
}
#endif

// Population counts, of words and of 16-bit halves, and carry-save addition. A vector has at most 16 lanes.
#if !defined(ONLY) || defined(ONLY_vector_popcount)
#if VW == 4
#define HALVES ushort8
#define AS_HALVES(x) as_ushort8(x)
#else
#define HALVES ushort16
#define AS_HALVES(x) as_ushort16(x)
#endif

__kernel void vector_popcount(__global const uint *x, __global uint *out)
{
    const size_t i = FIRST;
    const uint_v a = LOAD_V(uint, x + i), b = LOAD_V(uint, x + (i + VW) % ITEMS), c = LOAD_V(uint, x + (i + 2 * VW) % ITEMS);
    const uint_v either = a ^ b;
    PUT(uint, 0, POPCOUNT_V(a & b));
    PUT(uint, 1, (a & b) | (either & c));
    PUT(uint, 2, a * x[i] - (b >> 3));
    PUT(uint, 3, (a << 5) | (b >> (uint_v)(x[i] & 31)));
#if VW <= 8
    HALVES h = AS_HALVES(a);
    h = h - ((h >> (ushort)1) & (ushort)0x5555);
    h = (h & (ushort)0x3333) + ((h >> (ushort)2) & (ushort)0x3333);
    h = (h + (h >> (ushort)4)) & (ushort)0x0f0f;
    h = (h * (ushort)0x0101) >> (ushort)8;
    PUT(uint, 4, (AS_V(uint, h) & 0xffffu) + (AS_V(uint, h) >> 16));
#else
    PUT(uint, 4, POPCOUNT_V(a));
#endif
}
#endif

// Vectors at any element's address and in private arrays that are read by element.
#if !defined(ONLY) || defined(ONLY_vector_memory)
__kernel void vector_memory(__global const float *f, __global const long *x, __global float *out, __global long *sums)
{
    const size_t i = FIRST;
    const size_t beside = (i + 1) % (ITEMS - VW);
    float_v tile[16];
    for (int n = 0; n < 16; ++n)
        tile[n] = LOAD_V(float, f + (beside + n) % (ITEMS - VW)) + (float)n;
    float_v best = 0.0f;
    for (int n = 0; n < 16; ++n)
        best = tile[n] > best ? tile[n] : best;
    float highest = 0.0f;
    for (int lane = 0; lane < VW; ++lane)
        highest = MAX(highest, ((const float *)&best)[lane]);
    PUT(float, 0, LOAD_V(float, f + beside));
    PUT(float, 1, *(__global const float_v *)(f + i));
    PUT(float, 2, (float_v)highest);
    for (int lane = 0; lane < VW; ++lane)
        out[3 * ITEMS + i + lane] = ((const float *)tile)[(lane * 17 + (int)i) % (16 * VW)];
    STORE_V(long, sums + i + 1, LOAD_V(long, x + beside));
}
#endif

// Vectors of 8 words whose lanes shift by different counts, and are joined.
#if !defined(ONLY) || defined(ONLY_vector_shifts)
__kernel void vector_shifts(__global const uint *x, __global uint *out)
{
    const size_t i = get_global_id(0) * 8;
    const uint8 early = (uint8)(0, 2, 4, 6, 8, 10, 12, 14), late = early + 16;
    const uint8 marks = (uint8)(128, 64, 32, 16, 8, 4, 2, 1);
    const uint a = x[i], b = x[i + 1], low = x[i + 2];
    const uint8 forward = (uint8)(a) << early | ((uint8)(b) >> 1) >> (31 - early);
    const uint8 backward = (uint8)(a << 1) << (31 - late) | (uint8)(b) >> late;
    const uint8 lesser = backward < forward ? backward : forward;
    const uint8 inside = as_uint8(lesser - low <= 0x7fffffffu) & marks << 8;
    const uint4 both = inside.lo | inside.hi;
    const uint2 few = both.lo | both.hi;
    const uint *each = (const uint *)&lesser;
    for (uint n = 0; n < 8; ++n) {
        out[i + n] = each[n];
        out[ITEMS + i + n] = few.lo | few.hi;
    }
}
#endif

// Vectors of 16 bytes at any address: compared with letters, chosen by masks, counted by lane and read lane by lane.
#if !defined(ONLY) || defined(ONLY_vector_bytes)
typedef uchar16 uchar16_any __attribute__((aligned(1)));

__kernel void vector_bytes(__global const uint *x, __global uint *out)
{
    const size_t i = get_global_id(0) * 16;
    __global const uchar *bytes = (__global const uchar *)(x + i);
    uchar16 count = 0, any = 0, codes = 0;
    uint some = 0;
    for (uint n = 0; n < 48; n += 5) {
        const uchar16 a = *(__global const uchar16_any *)(bytes + n) & (uchar16)0x0f;
        const char16 low = a == (uchar16)3, high = a == (uchar16)12;
        const char16 code = (low & (char16)0x12) | (high & (char16)0x4f);
        codes ^= as_uchar16(code);
        any |= as_uchar16(code == (char16)0);
        const ulong2 halves = as_ulong2(a == (uchar16)7);
        some += (halves.x | halves.y) != 0;
        count -= as_uchar16(low);
    }
    for (uint n = 0; n < 16; ++n) {
        out[i + n] = codes[n];
        out[ITEMS + i + n] = any[n];
        out[2 * ITEMS + i + n] = count[n];
        out[3 * ITEMS + i + n] = some;
    }
}
#endif

// Vectors of 64 bytes at any address: 8 numbers that are shifted together, compared bit by bit and as signed numbers, and
// folded; 16 that are looked up one by one.
#if !defined(ONLY) || defined(ONLY_vector_windows)
typedef ulong8 window_any __attribute__((aligned(1)));
typedef uint16 words_any __attribute__((aligned(4)));

__kernel void vector_windows(__global const uint *x, __global uint *out)
{
    const size_t i = get_global_id(0) * 16;
    __global const uchar *bytes = (__global const uchar *)(x + (i + 16 < ITEMS ? i : i - 16));
    ulong8 alive = ~(ulong8)(0ul), counted = (ulong8)(0ul);
    for (uint n = 0; n < 40; n += 3) {
        const uint by = n % 8 + 1;
        const ulong8 letters = *(__global const window_any *)(bytes + n) >> by | *(__global const window_any *)(bytes + n + 8) << (64 - by);
        const ulong8 missing = ~letters, both = counted & missing;
        counted ^= missing;
        alive &= ~both | (ulong8)(0x1111111111111111ul);
    }
    const long8 lesser = as_long8(alive) <= as_long8(counted);
    alive += as_ulong8(lesser);
    const ulong8 wrong = ~(alive + 0x0f0f0f0f0f0f0f0ful) & 0x1010101010101010ul;
    const ulong4 four = wrong.lo | wrong.hi << 1;
    const ulong2 two = four.lo | four.hi << 2;
    const ulong one = two.x | two.y << 3;
    const uint16 words = *(__global const words_any *)(bytes + 4) * 5u + (*(__global const words_any *)(bytes + 20) >> 27);
    uint own[16];
    *(uint16 *)own = words & 31;
    const ulong *each = (const ulong *)&alive;
    for (uint n = 0; n < 16; ++n) {
        out[i + n] = (uint)(each[n / 2] >> 32 * (n % 2));
        out[ITEMS + i + n] = (uint)(one >> 32 * (n % 2));
        out[2 * ITEMS + i + n] = own[(n * 7) % 16];
    }
}
#endif

// Vectors of 64 bytes that are compared, where each lane keeps a bit of every comparison, and one that is stored past the caches.
#if !defined(ONLY) || defined(ONLY_vector_marks)
#ifdef __has_builtin
#if __has_builtin(__builtin_nontemporal_store)
#define STREAM(value, to) __builtin_nontemporal_store(value, to)
#endif
#endif
#ifndef STREAM
#define STREAM(value, to) (*(to) = (value))
#endif

__kernel void vector_marks(__global const uint *x, __global uint *out)
{
    const size_t i = get_global_id(0) * 16;
    const uint16 shifts = (uint16)(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const uint16 marks = ((uint16)(0x80000000u)) >> (shifts >> 1u);
    const ulong8 steps = (ulong8)(0, 2, 4, 6, 8, 10, 12, 14);
    const ulong first = (ulong)x[i] << 32 | x[i + 1], second = (ulong)x[i + 2] << 32 | x[i + 3];
    uint16 chosen = (uint16)(0u);
    ulong8 inside = (ulong8)(0ul);
    uint step = 1;
    for (uint n = 0; n < 4; ++n) {
        const uint16 prefix = (uint16)(x[i + n]) << shifts | (uint16)(x[i + n + 1] >> 1) >> (31 - shifts);
        const int16 good = (prefix - x[i + 5] <= 0x7fffffffu) & (((uint16)(x[i + 6]) & marks) != (uint16)(0u));
        chosen |= as_uint16(good) & step;
        const ulong8 by = steps + 16 * n;
        const ulong8 kmer = (ulong8)(first) << by | (ulong8)(second >> 1) >> (63 - by);
        const long8 less = (kmer <= second) & (((ulong8)(x[i + 6]) & (ulong8)(128ul) >> (steps >> 1ul)) != (ulong8)(0ul));
        inside |= as_ulong8(less) & (ulong)step;
        step <<= 1;
    }
    const ulong *each = (const ulong *)&inside;
    for (uint n = 0; n < 16; ++n) {
        out[i + n] = ((const uint *)&chosen)[n];
        out[ITEMS + i + n] = (uint)(each[n / 2] >> 32 * (n % 2));
    }
    STREAM(chosen ^ marks, (__global uint16 *)(out + 2 * ITEMS + i));
}
#endif

// A square of bytes at any address that four perfect shuffles turn around; its rows as numbers, one bit of which becomes all, and
// columns of a dynamic programming in their bits; a sum of their bits that is compared in all lanes and folded.
#if !defined(ONLY) || defined(ONLY_vector_columns)
typedef PASTE(int, VW) columns_signed;
typedef uchar16 square_any __attribute__((aligned(1)));
#define LOWER(a, b) \
    (uchar16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7)
#define UPPER(a, b) \
    (uchar16)(a.s8, b.s8, a.s9, b.s9, a.sa, b.sa, a.sb, b.sb, a.sc, b.sc, a.sd, b.sd, a.se, b.se, a.sf, b.sf)
#define SPREAD(letters, bit) AS_V(uint, AS_V(int, (letters) << (31 - (bit))) >> 31)

__kernel void vector_columns(__global const uint *x, __global uint *out)
{
    const size_t i = get_global_id(0) * 16;
    __global const uchar *bytes = (__global const uchar *)(x + i);
    uchar16 rows[16], turned[16];
    for (uint n = 0; n < 16; ++n)
        rows[n] = *(__global const square_any *)(bytes + 3 * n);
    UNROLL
    for (uint round = 0; round < 2; ++round) {
        UNROLL
        for (uint n = 0; n < 8; ++n) {
            turned[2 * n] = LOWER(rows[n], rows[n + 8]);
            turned[2 * n + 1] = UPPER(rows[n], rows[n + 8]);
        }
        UNROLL
        for (uint n = 0; n < 8; ++n) {
            rows[2 * n] = LOWER(turned[n], turned[n + 8]);
            rows[2 * n + 1] = UPPER(turned[n], turned[n + 8]);
        }
    }
    uint_v level = (uint_v)(x[i] & 31), down = (uint_v)(0), marks = (uint_v)(0);
    uint some = 0;
    for (uint n = 0; n < 16; ++n) {
#if VW == 16
        const uint_v letters = CONVERT_V(uint, rows[n]);
#else
        const uint_v letters = CONVERT_V(uint, rows[n].lo);
#endif
        const uint_v equal = (SPREAD(letters, 0) & x[i + 1]) | (SPREAD(letters, 3) & x[i + 2]) | (SPREAD(letters, 6) & x[i + 3]);
        const uint_v across = ((level - (equal & ~level)) ^ level) | equal, still = equal | down;
        const uint_v more = (down | (level & ~across)) << 1, less = (across & ~level) << 1;
        level = (still | more) & ~less;
        down = more & still;
        uint_v sum = (level & 0x33333333u) + (level >> 2 & 0x33333333u) + (down & 0x33333333u);
        sum = ((sum & 0x0f0f0f0fu) + (sum >> 4 & 0x0f0f0f0fu)) * 0x01010101u >> 24;
        const uint_v mark = AS_V(uint, sum >= (uint_v)(x[i + n] & 63));
        marks = marks << 1 | (mark & 1);
#if VW == 16
        const uint8 eight = mark.lo | mark.hi;
#else
        const uint8 eight = mark;
#endif
        const uint4 four = eight.lo | eight.hi;
        some = some << 1 | ((four.x | four.y | four.z | four.w) != 0);
    }
    for (uint lane = 0; lane < 16; ++lane) {
        out[i + lane] = ((const uint *)&level)[lane % VW];
        out[ITEMS + i + lane] = ((const uint *)&down)[lane % VW];
        out[2 * ITEMS + i + lane] = ((const uint *)&marks)[lane % VW];
        out[3 * ITEMS + i + lane] = some;
    }
}
#endif

// Vectors of Clang's that are as wide as registers: twice VW numbers of 16 bits, more than OpenCL C has in a vector. They are
// compared, chosen, added up to the largest number and multiplied, in private arrays, and lane by lane.
#if !defined(ONLY) || defined(ONLY_vector_shorts)
#define SHORTS (2 * VW)
typedef ushort shorts __attribute__((ext_vector_type(SHORTS)));
#define PUT_SHORTS(field, value) (*(__global shorts *)(out + (field) * ITEMS + i) = (value))

__kernel void vector_shorts(__global const ushort *x, __global ushort *out)
{
    const size_t i = get_global_id(0) * SHORTS;
    const shorts a = *(__global const shorts *)(x + i), b = *(__global const shorts *)(x + ITEMS + i), difference = a - b;
    const shorts both = a > (shorts)~b ? (shorts)((ushort)65535) : a + b;
    const shorts low = b >> 1;
    shorts score[4] = {a ^ b, a, b, both}, least = (shorts)((ushort)65535), place = (shorts)((ushort)0);
    for (ushort row = 0; row < 5; ++row) {
        const shorts level = (shorts)(x[i + row]) >> 1, cost = level > low ? level - low : low - level;
        place = cost < least ? (shorts)(row) : place;
        least = cost < least ? cost : least;
        UNROLL
        for (int c = 3; c > 0; --c) {
            const shorts lesser = score[c] < score[c - 1] ? score[c] : score[c - 1];
            score[c] = lesser > (shorts)~cost ? (shorts)((ushort)65535) : lesser + cost;
        }
    }
    PUT_SHORTS(0, both);
    PUT_SHORTS(1, a > b ? difference : b - a);
    PUT_SHORTS(2, difference * difference >> 4);
    PUT_SHORTS(3, a > b ? a - b : (shorts)((ushort)0));
    PUT_SHORTS(4, score[2]);
    PUT_SHORTS(5, score[3]);
    PUT_SHORTS(6, place);
    shorts turned = a;
    for (uint lane = 0; lane < SHORTS; ++lane)
        if (x[i + lane] > 30000)
            ((ushort *)&turned)[lane] = x[i + (lane * 7 + 5) % SHORTS] + ((ushort *)&b)[lane];
    PUT_SHORTS(7, turned);
}
#endif

// The same of VW ints and VW floats; floats lose their sign by a mask.
#if !defined(ONLY) || defined(ONLY_vector_scores)
typedef int ints __attribute__((ext_vector_type(VW)));
typedef float floats __attribute__((ext_vector_type(VW)));
#define PUT_INTS(field, value) (*(__global ints *)(out + (field) * ITEMS + i) = (value))
#define PUT_FLOATS(field, value) (*(__global floats *)(numbers + (field) * ITEMS + i) = (value))

__kernel void vector_scores(__global const int *x, __global const float *f, __global int *out, __global float *numbers)
{
    const size_t i = FIRST;
    const ints a = *(__global const ints *)(x + i) >> 16, b = *(__global const ints *)(x + ITEMS + i) >> 16, difference = a - b;
    const ints cost = a > b ? difference : b - a, sum = cost + 30000, grown = cost + 10;
    PUT_INTS(0, cost);
    PUT_INTS(1, (difference >> 2) * (difference >> 2) >> 4);
    PUT_INTS(2, sum < (ints)(65535) ? sum : (ints)(65535));
    PUT_INTS(3, a < (ints)(x[i]) ? (ints)(0) : (grown < (ints)(20000) ? grown : (ints)(20000)));
    ints turned = b;
    for (uint lane = 0; lane < VW; ++lane)
        if (x[i + lane] > 0)
            ((int *)&turned)[lane] = x[i + (lane * 7 + 5) % VW] ^ ((int *)&a)[lane];
    PUT_INTS(4, turned);

    const floats g = *(__global const floats *)(f + i), h = *(__global const floats *)(f + ITEMS + i), apart = g - h;
    floats score[3] = {h * 2.0f, g, h}, least = (floats)(3.0e38f), place = (floats)(0.0f);
    for (uint row = 0; row < 5; ++row) {
        const floats off = (floats)(f[i + row]) - h, far = AS_V(float, AS_V(int, off) & 0x7fffffff);
        place = far < least ? (floats)((float)row) : place;
        least = far < least ? far : least;
        UNROLL
        for (int c = 2; c > 0; --c)
            score[c] = far + (score[c] < score[c - 1] ? score[c] : score[c - 1]);
    }
    PUT_FLOATS(0, AS_V(float, AS_V(int, apart) & 0x7fffffff) + h);
    PUT_FLOATS(1, apart * apart + g);
    PUT_FLOATS(2, score[1]);
    PUT_FLOATS(3, score[2]);
    PUT_FLOATS(4, place);
    PUT_FLOATS(5, score[1] < (floats)(3.0e38f) ? g : (floats)(3.0e38f));
}
#endif

// Lists in the lanes of VW words: asked for early, loaded from any address of bytes, hashed, ordered by a network of minima and
// maxima, merged, inserted without repetitions, shifted by counts of their own, joined, woven together and read lane by lane.
#if !defined(ONLY) || defined(ONLY_vector_lists)
typedef uint4 letters16 __attribute__((aligned(1)));
typedef uint4 uint4_any __attribute__((aligned(4)));

#define LANE(vector, lane) (((uint *)&(vector))[lane])
#if VW == 16
#define ALL_LANES(x, n)                                                                                      \
    (uint16)((x)[0].n, (x)[1].n, (x)[2].n, (x)[3].n, (x)[4].n, (x)[5].n, (x)[6].n, (x)[7].n, (x)[8].n, (x)[9].n, \
             (x)[10].n, (x)[11].n, (x)[12].n, (x)[13].n, (x)[14].n, (x)[15].n)
#else
#define ALL_LANES(x, n) (uint8)((x)[0].n, (x)[1].n, (x)[2].n, (x)[3].n, (x)[4].n, (x)[5].n, (x)[6].n, (x)[7].n)
#endif
#define ORDER(x, i, j)                        \
    do {                                      \
        const uint_v least_ = MIN(x[i], x[j]); \
        x[j] = MAX(x[i], x[j]);               \
        x[i] = least_;                        \
    } while (0)

static inline void sort_four(uint_v *x)
{
    ORDER(x, 0, 1);
    ORDER(x, 2, 3);
    ORDER(x, 0, 2);
    ORDER(x, 1, 3);
    ORDER(x, 1, 2);
}

__kernel
__attribute__((vec_type_hint(uint_v)))
void vector_lists(__global const uint *x, __global uint *out)
{
    const size_t i = FIRST;
    const uint_v at = LOAD_V(uint, x + i) & 0x7ffu, count = at & 15;
    uint4 loaded[VW];
    for (uint lane = 0; lane < VW; ++lane) {
        prefetch(x + LANE(at, lane) / 4, 1);
        FETCH(x + LANE(at, lane) / 4);
    }
    UNROLL
    for (uint lane = 0; lane < VW; ++lane)
        loaded[lane] = *(__global const letters16 *)((__global const uchar *)x + LANE(at, lane));
    uint_v list[4], hashes[4], joined = 0;
    list[0] = ALL_LANES(loaded, s0);
    list[1] = ALL_LANES(loaded, s1);
    list[2] = ALL_LANES(loaded, s2);
    list[3] = ALL_LANES(loaded, s3);
    PUT(uint, 0, (list[0] << count | list[1] >> (16 - count)) | ~((uint_v)0xffff0000u << (16 - count)));
    UNROLL
    for (uint n = 0; n < 4; ++n) {
        hashes[n] = (list[n] >> 16 ^ list[n]) * 0x45d9f3bu;
        hashes[n] |= (uint_v)0 - (count << n >> 3 & 1);
        joined ^= hashes[n] ^ list[n];
    }
    sort_four(list);
    sort_four(hashes);
    UNROLL
    for (uint n = 0; n < 4; ++n)
        list[n] = MIN(list[n], hashes[3 - n]);
    sort_four(list);
    UNROLL
    for (uint n = 0; n < 4; ++n)
        PUT(uint, 1 + n, list[n]);
    uint_v rising = x[i] & 1 ? list[2] : hashes[0];
    UNROLL
    for (uint n = 0; n < 4; ++n) {
        const uint_v here = list[n];
        list[n] = MIN(here, rising);
        rising = here == rising ? (uint_v)0xffffffffu : MAX(here, rising);
    }
    PUT(uint, 5, list[3]);
    PUT(uint, 6, rising);
#if VW == 16
    const uint8 eight = joined.lo | joined.hi;
#else
    const uint8 eight = joined;
#endif
    const uint4 four = eight.lo & eight.hi;
    uint greatest = 0, first = 0;
    for (uint lane = 0; lane < VW; ++lane) {
        greatest = MAX(greatest, LANE(at, lane));
        if (LANE(hashes[3], lane) == 0xffffffffu)
            LANE(list[0], lane) = first++;
    }
    PUT(uint, 7, list[0]);
    PUT(uint, 8, (uint_v)greatest);
    PUT(uint, 9, (uint_v)((four.s0 | four.s1) ^ (four.s2 | four.s3)));

    // Lanes woven together, and numbers that are written and read at any place of private memory.
    uint_v woven, loose[3];
    woven.even = hashes[0].lo;
    woven.odd = hashes[1].lo;
    PUT(uint, 10, woven);
    woven.even = hashes[0].hi;
    woven.odd = hashes[1].hi;
    PUT(uint, 11, woven);
    uint *numbers = (uint *)loose;
    for (uint n = 0; n < 3 * VW; n += 4)
        *(uint4_any *)(numbers + n) = *(__global const letters16 *)(x + (i + n) % ITEMS);
    *(uint4_any *)(numbers + (x[i] & 7)) = loaded[1];
    PUT(uint, 12, *(const uint_vu *)(numbers + (x[i] >> 3 & 7)));
}
#endif

// Vectors of 8 words of 64 bits that are compared without signs, found by lane, sorted by a network and stored at any word.
#if !defined(ONLY) || defined(ONLY_vector_lines)
typedef ulong8 line_any __attribute__((aligned(8)));
#define EXCHANGE(v, P, HIGH)                                    \
    do {                                                        \
        const ulong8 other_ = (v).P;                            \
        const long8 lesser_ = (other_ < (v)) ^ (long8)HIGH;     \
        (v) = lesser_ ? other_ : (v);                           \
    } while (0)

__kernel void vector_lines(__global const uint *x, __global uint *out)
{
    const size_t i = get_global_id(0) * 16;
    ulong8 line = *(__global const ulong8 *)(x + i);
    const ulong8 few = line & 7, more = *(__global const ulong8 *)(x + (i + 16) % ITEMS) & 15;
    const long8 hit = (((few ^ few.s3) & ~2ul) == 0 & more > 3ul) | (more == ~0ul >> 60);
    const ulong bytes = as_ulong(__builtin_convertvector(hit, char8)) & as_ulong(__builtin_convertvector(as_ulong8(hit), uchar8));
    const long8 spread = hit & (long8)(0xffL, 0xffL << 8, 0xffL << 16, 0xffL << 24, 0xffL << 32, 0xffL << 40, 0xffL << 48, ~0L << 56);
    const long4 four = spread.lo | spread.hi;
    const long2 two = four.lo | four.hi;
    ulong lane = POPCOUNT64(~bytes & (bytes - 1)) / 8;
    if (__builtin_expect(!bytes, 0))
        lane = 99;
    EXCHANGE(line, s23016745, (0, 0, -1, -1, 0, 0, -1, -1));
    EXCHANGE(line, s45670123, (0, 0, 0, 0, -1, -1, -1, -1));
    EXCHANGE(line, s10325476, (0, -1, 0, -1, 0, -1, 0, -1));
    EXCHANGE(line, s01452367, (0, 0, 0, 0, -1, -1, 0, 0));
    EXCHANGE(line, s04261537, (0, 0, 0, 0, -1, 0, -1, 0));
    EXCHANGE(line, s02143657, (0, 0, -1, 0, -1, 0, -1, 0));
    ulong room[16];
    for (uint n = 0; n < 16; ++n)
        room[n] = n;
    *(line_any *)(room + 3) = line;
    *(line_any *)(room + (x[i] & 7)) = *(const line_any *)(room + 4);
    for (uint n = 0; n < 8; ++n) {
        const ulong own = n % 3 == 0 ? bytes : n % 3 == 1 ? (ulong)(two.x | two.y) : lane;
        *(__global ulong *)(out + i + 2 * n) = room[n];
        *(__global ulong *)(out + ITEMS + i + 2 * n) = room[n + 8];
        *(__global ulong *)(out + 2 * ITEMS + i + 2 * n) = own;
    }
}
#endif
