// Self-test: what kernels do with single numbers, in local memory and by atomics. runtime/idiom_values.py has the same in NumPy.
//
// Results lie in channels: field n of item i is out[n * ITEMS + i]. Every kernel is an idiom that may be built by itself:
// -D ITEMS=n       work-items
// -D ONLY_<name>   with -D ONLY: leave all other kernels out, so that a compiler that dies tells on which
#include "common/hash.clh"
#pragma OPENCL FP_CONTRACT OFF

#define PUT(field, value) out[(field) * ITEMS + i] = (value)

#if !defined(ONLY) || defined(ONLY_integers)
__kernel void integers(__global const uint *x, __global const uint *y, __global uint *out)
{
    const size_t i = get_global_id(0);
    const uint a = x[i], b = y[i] | 1u, shift = b >> 27;
    const int c = (int)a, d = (int)(b >> 1) + 1;
    PUT(0, a / b);
    PUT(1, a % b);
    PUT(2, (uint)(c / d));
    PUT(3, (uint)(c % d));
    PUT(4, a << shift);
    PUT(5, a >> shift);
    PUT(6, (uint)(c >> shift));
    PUT(7, a * b + (uint)c);
    PUT(8, POPCOUNT(a));
    PUT(9, lowest_bit32(a));
    PUT(10, reverse_bits32(a));
    PUT(11, MIN(a, b) - MAX(c, d) + ABS(c >> 1));
    PUT(12, CEIL_DIV(a >> 1, 7u) ^ LOW_BITS32(shift + (b & 1u)));
    PUT(13, (uint)(uchar)a + (uint)(ushort)(b + c));
    PUT(14, (uint)min(c, d));
}
#endif

#if !defined(ONLY) || defined(ONLY_long_integers)
__kernel void long_integers(__global const ulong *x, __global const ulong *y, __global ulong *out)
{
    const size_t i = get_global_id(0);
    const ulong a = x[i], b = y[i] | 1ul, sum = a + b;
    const uint shift = (uint)(b >> 58);
    const long c = (long)a;
    PUT(0, sum);
    PUT(1, (ulong)(sum < a));
    PUT(2, a - b - (ulong)((a < b) | (a == b)));
    PUT(3, a * b);
    PUT(4, a / b);
    PUT(5, a % b);
    PUT(6, a << shift);
    PUT(7, a >> shift);
    PUT(8, (ulong)(c >> shift));
    PUT(9, ROTATE_LEFT64(a, 13));
    PUT(10, (ulong)POPCOUNT64(a));
    PUT(11, (ulong)lowest_bit64(a & ~0xfful));
    PUT(12, reverse_bits64(a));
    PUT(13, LOW_BITS64(shift + 1));
    PUT(14, as_ulong(as_uchar8(a).s76543210));
    PUT(15, (ulong)(uint)a * (uint)b >> 32);
    PUT(16, a / (uint)b);
    PUT(17, (ulong)((c >> 1) - (long)(b >> 2) < 0 ? -(c >> 1) : (long)(int)b));
    PUT(18, (a ^ ((a ^ b) & -(ulong)(a > b))) + (a & -a));
    PUT(19, mul_hi(a << 1, b << 2));
    PUT(20, (ulong)clz(a >> shift | 1ul));
    PUT(21, (ulong)ilogb((float)(uint)b));
}
#endif

#if !defined(ONLY) || defined(ONLY_conversions)
__kernel void conversions(__global const ulong *x, __global const float *f, __global float *out)
{
    const size_t i = get_global_id(0);
    const ulong a = x[i] >> (x[i] & 63);
    const float g = f[i];
    PUT(0, (float)(uint)a);
    PUT(1, (float)(int)a);
    PUT(2, (float)a);
    PUT(3, (float)(long)x[i]);
    PUT(4, as_float((int)(g * 1e6f)));
    PUT(5, as_float((uint)(ABS(g) * 1e6f)));
    PUT(6, as_float(as_uint(g) + 1u));
    PUT(7, (float)((int)a / 3) / 3.0f);
}
#endif

// Kernels are the same to the bit on all devices because each of these is rounded by itself, as IEEE 754 says.
#if !defined(ONLY) || defined(ONLY_float_arithmetic)
__kernel void float_arithmetic(__global const float *x, __global const float *y, __global float *out)
{
    const size_t i = get_global_id(0);
    const float a = x[i], b = y[i], nothing = a - a;
    PUT(0, a / b);
    PUT(1, sqrt(ABS(a)));
    PUT(2, a * b - a);
    PUT(3, a + b * b);
    PUT(4, ((a + b) * a) / (b * (a - b * 0.25f)));
    PUT(5, (a - nothing * b) * 16777216.0f + (b - a));
    PUT(6, nothing / nothing > 0.0f ? a : b);
    PUT(7, a > b ? a : -b);
    PUT(8, MAX(a, b));
    PUT(9, fmax(a, b));
    PUT(10, fmin(a, b));
    PUT(11, fabs(b));
    // A quotient of whole numbers, made right by an fma that rounds once.
    const int divisor = (int)(as_uint(b) >> 4 & 0xffffu) | 1, most = (int)(as_uint(a) & 0x3ffffu) % (4 * divisor + 1);
    const float number = (float)(a < 0.0f ? -most : most), by = (float)divisor, reciprocal = 1.0f / by, near = number * reciprocal;
    PUT(12, fma(fma(-near, by, number), reciprocal, near));
}
#endif

// Results with a bound on their error: fma may be rounded once or twice, native_recip is as good as the hardware makes it.
#if !defined(ONLY) || defined(ONLY_fast_arithmetic)
__kernel void fast_arithmetic(__global const float *x, __global const float *y, __global const float *wide, __global float *out)
{
    const size_t i = get_global_id(0);
    PUT(0, fma(x[i], y[i], -x[i]));
    PUT(1, native_recip(wide[i]));
}
#endif

// Loops of more rounds than 16 bits count, of the forms that kernels have; rounds[0] is how many.
#if !defined(ONLY) || defined(ONLY_long_loops)
__kernel void long_loops(__global const uint *rounds, __global uint *out)
{
    const uint i = get_global_id(0), end = rounds[0];
    uint sum = i, count = 0, place = 0, below = end + i;
    for (uint n = 0; n < end; ++n)
        sum = (sum << 5) - sum + n;
    for (ulong n = i; n < (ulong)end; ++n) {
        if (n % 3 == 0)
            continue;
        ++count;
    }
    while (place < end && place != end + 1)
        place += 1 + (place & 1 & i);
    for (;;) {
        if (below-- == i)
            break;
    }
    PUT(0, sum);
    PUT(1, count);
    PUT(2, place);
    PUT(3, below);
}
#endif

// Vectors of fixed width in memory, tables in constant memory, and private arrays.
#if !defined(ONLY) || defined(ONLY_memory)
__constant uchar SIZES[16] = {240, 120, 60, 30, 20, 15, 12, 10, 8, 7, 6, 5, 4, 3, 2, 1};

typedef struct {
    uint word[3];
    uchar flag[5];
} Mixed;

static inline Mixed mixed_of(uint a, uint b)
{
    Mixed mixed;
    for (uint w = 0; w < 3; ++w)
        mixed.word[w] = a + w * b;
    for (uint n = 0; n < 5; ++n)
        mixed.flag[n] = (uchar)(a >> n);
    return mixed;
}

__kernel void memory(__global const uint *x, __global const ulong *y, __global uint *out, __global uchar *bytes, __global uint4 *fours)
{
    const size_t i = get_global_id(0);
    const uint a = x[i];
    const int8 row = ((__global const int8 *)x)[i / 8];
    const int2 pair = ((__global const int2 *)x)[i / 2];
    const float2 half_pair = ((__global const float2 *)x)[i / 2];
    const ulong4 four = ((__global const ulong4 *)y)[i / 4];
    const Mixed mixed = mixed_of(a, row.s5);
    uint counted[64];
    for (uint n = 0; n < 64; ++n)
        counted[n] = 0;
    for (uint n = 0; n < 32; ++n)
        ++counted[(a >> n) % 64];
    PUT(0, (uint)(row.s0 + row.s3 - row.s7));
    PUT(1, (uint)(pair.x ^ pair.y));
    PUT(2, as_uint(half_pair.y));
    PUT(3, (uint)((four.s0 + four.s1 + four.s2 + four.s3) >> 32));
    PUT(4, SIZES[a & 15]);
    PUT(5, counted[a & 63] + 64 * counted[a >> 26]);
    PUT(6, mixed.word[a % 3] + mixed.flag[a % 5]);
    PUT(7, (uint)(((__global const int4 *)x)[i / 4].s2 + ((int4)(0, 1, 2, 3)).s3));
    for (uint n = 0; n < 3; ++n)
        bytes[3 * i + n] = (uchar)(a >> 8 * n);
    fours[i] = (uint4)(a, row.s1, pair.y, SIZES[i & 15]);
}
#endif

// Words at any address, on CPUs.
#if !defined(ONLY) || defined(ONLY_loose_memory)
typedef ulong ulong_anywhere __attribute__((aligned(1)));
typedef struct __attribute__((packed)) {
    ulong bits;
} LooseLong;

__kernel void loose_memory(__global const uchar *x, __global ulong *out, __global uchar *to)
{
    const size_t i = get_global_id(0);
    PUT(0, *(__global const ulong_anywhere *)(x + 7 * i + 1));
    PUT(1, ((__global const LooseLong *)(x + 5 * i))->bits);
    *(__global ulong_anywhere *)(to + 9 * i) = out[i];
    to[9 * i + 8] = (uchar)i;
}
#endif

// Local memory, barriers in loops and local atomics: LANES work-items a group.
#if !defined(ONLY) || defined(ONLY_groups)
__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void groups(__global const long *x, __global long *out)
{
    __local long sums[2][LANES];
    __local ushort counters[LANES];
    __local uint tally[16], claimed[16], claims;
    __local int highest;
    const size_t i = get_global_id(0);
    const uint lane = get_local_id(0), slot = x[i] & 15;
    int from = 0;
    sums[0][lane] = x[i];
    counters[(lane * 7) % LANES] = (ushort)x[i];
    if (lane < 16)
        tally[lane] = claimed[lane] = 0;
    if (lane == 0)
        highest = claims = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < LANES; step <<= 1) {
        sums[1 - from][lane] = sums[from][lane] + (lane >= step ? sums[from][lane - step] : 0);
        from = 1 - from;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    atomic_inc(&tally[slot]);
    if (atomic_cmpxchg((volatile __local uint *)claimed + slot, 0u, slot + 1) == 0)  // one work-item gets a free slot
        atomic_inc(&claims);
    atomic_cmpxchg((volatile __local uint *)claimed + slot, slot, 99u);  // holds something else
    atomic_max(&highest, as_int((float)(x[i] & 0xffff)));  // bits of floats that are not negative are in their order
    barrier(CLK_LOCAL_MEM_FENCE);
    PUT(0, sums[from][lane]);
    PUT(1, counters[lane]);
    PUT(2, (long)claimed[lane & 15] << 32 | tally[lane & 15]);
    PUT(3, (long)claims << 32 | (long)as_float(highest));
    out += 4 * ITEMS;
    for (uint step = 0; step < LANES; ++step) {
        if (step == lane)
            PUT(0, x[i] + (lane > 0 ? out[i - 1] : 0));
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
#endif

// Lists in local and in global memory that a group fills in any order and sorts by a bitonic network; the best of its items.
#if !defined(ONLY) || defined(ONLY_ordered_groups)
#define SORT(list, size, fence)                                                  \
    for (uint run = 2; run <= (size); run *= 2)                                  \
        for (uint apart = run / 2; apart; apart /= 2) {                          \
            for (uint pair = get_local_id(0); pair < (size) / 2; pair += LANES) { \
                const uint m = 2 * pair - (pair & (apart - 1)), n = m + apart;   \
                const uint a = list[m], b = list[n];                             \
                if ((a > b) == !(m & run)) {                                     \
                    list[m] = b;                                                 \
                    list[n] = a;                                                 \
                }                                                                \
            }                                                                    \
            barrier(fence);                                                      \
        }

typedef struct {
    uint filled, most, first;
    int taken[2];
} Best;

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void ordered_groups(__global const uint *x, __global uint *out, __global uint *lists)
{
    __local uint list[2 * LANES];
    __local Best best;
    const size_t i = get_global_id(0);
    const uint lane = get_local_id(0), count = x[i] >> 9 & 3;
    __global uint *own = lists + i - lane;
    if (lane == 0) {
        best.filled = best.most = 0;
        best.first = 0xffffffffu;
    }
    for (uint n = lane; n < 2 * LANES; n += LANES)
        list[n] = 0xffffffffu;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (count == 1 || count == 2) {
        const uint to = atomic_add(&best.filled, count);
        for (uint n = 0; n < count; ++n)
            list[to + n] = x[i] * (n + 1);
    }
    own[LANES - 1 - lane] = x[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    SORT(list, 2 * LANES, CLK_LOCAL_MEM_FENCE)
    SORT(own, LANES, CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
    PUT(0, list[2 * lane]);
    PUT(1, list[2 * lane + 1]);
    PUT(2, best.filled);
    atomic_max(&best.most, x[i] % 7);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x[i] % 7 == best.most)
        atomic_min(&best.first, lane);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == best.first)
        best.taken[count & 1] = best.taken[~count & 1] = (int)x[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    PUT(3, best.most);
    PUT(4, best.first);
    PUT(5, best.taken[lane & 1] == (int)x[i]);
}
#endif

#if !defined(ONLY) || defined(ONLY_atomics)
__kernel void atomics(__global const uint *x, __global uint *out, __global uint *totals)
{
    const size_t i = get_global_id(0);
    out[atomic_inc(&totals[0])] = 1;  // each item gets a place of its own
    atomic_add(&totals[1], x[i]);
    atomic_min(&totals[2], x[i]);
    atomic_max(&totals[3], x[i]);
    atomic_or(&totals[4], 1u << (x[i] >> 27));
    atomic_xchg(&totals[5], 77u);
    atomic_inc(&totals[8 + (x[i] & 7)]);
    const uint slot = x[i] >> 4 & 63, held = atomic_cmpxchg((volatile __global uint *)totals + 16 + slot, 0u, slot + 1);
    if (held == 0)  // one item gets a free slot
        atomic_inc(&totals[6]);
    else if (held == slot + 1)  // and all others see what it holds
        atomic_inc(&totals[7]);
    atomic_cmpxchg((volatile __global uint *)totals + 16 + slot, slot, 99u);  // holds something else
}
#endif

// SipHash of strings of 0, 1, 2, ... bytes, and of numbers.
#if !defined(ONLY) || defined(ONLY_siphash)
__kernel void siphash(__global const uchar *bytes, __global const ulong *numbers, __global ulong *out)
{
    const size_t i = get_global_id(0);
    const ulong k0 = 0x0706050403020100ul, k1 = 0x0f0e0d0c0b0a0908ul;
    PUT(0, siphash_bytes(bytes + i, i % 64, k0, k1));
    PUT(1, siphash_u64(numbers[i], k0, k1));
}
#endif
