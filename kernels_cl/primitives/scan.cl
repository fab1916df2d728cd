// Prefix sums and prefix maxima of an array, whole or by segments; two kernels, no waiting between work-groups.
//
//   out[i] = in[b] o in[b+1] o ... o in[i]          inclusive; exclusive leaves in[i] out (0 at the start)
//
// o is + (wrapping) or the maximum, b is 0 or, with SEGMENTED, the last place up to i whose head flag is set.
//
// Layout: each work-group has a span of `span` items, a multiple of the tile. `reduce_spans` leaves the total of every span
// but needs no total of another; `scan_spans` adds up the totals before its own span and walks the span tile by tile. So
// memory is read twice and written once.
//
// -D TYPE=uint|ulong   the items
// -D MAXIMUM=0|1       1: maximum, else sum
// -D SEGMENTED=0|1     1: `heads` holds a byte per item, not 0 where a segment starts
// -D CPU=0|1           1: a work-item a span, serial; else a work-group a span, LANES x EACH items a tile
// -D LANES=n -D ROOT=n work-group size (GPUs), and its square root
// -D EACH=n            items of a tile per work-item, a multiple of 4 (GPUs)
#include "common/portable.clh"

#if MAXIMUM
#define JOIN(a, b) MAX(a, b)
#else
#define JOIN(a, b) ((a) + (b))
#endif
#if SEGMENTED
#define HEAD(i) (heads[i] != 0)
#else
#define HEAD(i) 0
#endif

// `flag` says that a segment starts inside, so nothing from before reaches the end.
typedef struct {
    TYPE value;
    uint flag;
} State;

static inline State join(State before, State after)
{
    State both;
    both.value = after.flag ? after.value : JOIN(before.value, after.value);
    both.flag = before.flag | after.flag;
    return both;
}

#if CPU

__kernel void reduce_spans(__global const TYPE *in, __global const uchar *heads, ulong size, ulong span,
                           __global TYPE *totals, __global uint *flags)
{
    const ulong group = get_global_id(0), end = MIN((group + 1) * span, size);
    State sum = {0, 0};
    for (ulong i = group * span; i < end; ++i) {
        const TYPE value = in[i];
#if SEGMENTED
        sum.flag |= HEAD(i);
        sum.value = HEAD(i) ? value : JOIN(sum.value, value);
#else
        sum.value = JOIN(sum.value, value);
#endif
    }
    totals[group] = sum.value;
    flags[group] = sum.flag;
}

__kernel void scan_spans(__global const TYPE *in, __global const uchar *heads, ulong size, ulong span,
                         __global const TYPE *totals, __global const uint *flags, uint inclusive, __global TYPE *out)
{
    const ulong group = get_global_id(0), end = MIN((group + 1) * span, size);
    State sum = {0, 0};
    for (ulong s = 0; s < group; ++s) {
        const State total = {totals[s], flags[s]};
        sum = join(sum, total);
    }
    TYPE running = sum.value;
    if (inclusive) {
        for (ulong i = group * span; i < end; ++i) {
            const TYPE value = in[i];
            running = HEAD(i) ? value : JOIN(running, value);
            out[i] = running;
        }
    } else {
        for (ulong i = group * span; i < end; ++i) {
            const TYPE value = in[i];
            running = HEAD(i) ? 0 : running;
            out[i] = running;
            running = JOIN(running, value);
        }
    }
}

#else

#include "primitives/group_scan.clh"

#define TILE (LANES * EACH)
#define QUAD PASTE(TYPE, 4)

// A work-item's items of a tile follow each other; the loads of neighbours meet in the cache.
static inline void load_items(__global const TYPE *in, __global const uchar *heads, ulong first, ulong end, TYPE *value,
                              uchar *flag)
{
    if (first + EACH <= end) {
        __global const QUAD *quads = (__global const QUAD *)(in + first);
        for (uint q = 0; q < EACH / 4; ++q) {
            const QUAD four = quads[q];
            value[4 * q] = four.s0;
            value[4 * q + 1] = four.s1;
            value[4 * q + 2] = four.s2;
            value[4 * q + 3] = four.s3;
        }
    } else {
        for (uint i = 0; i < EACH; ++i)
            value[i] = first + i < end ? in[first + i] : 0;
    }
#if SEGMENTED
    for (uint i = 0; i < EACH; ++i)
        flag[i] = first + i < end ? heads[first + i] : 0;
#endif
}

static inline void store_items(__global TYPE *out, ulong first, ulong end, const TYPE *value)
{
    if (first + EACH <= end) {
        __global QUAD *quads = (__global QUAD *)(out + first);
        for (uint q = 0; q < EACH / 4; ++q)
            quads[q] = (QUAD)(value[4 * q], value[4 * q + 1], value[4 * q + 2], value[4 * q + 3]);
    } else {
        for (uint i = 0; i < EACH; ++i)
            if (first + i < end)
                out[first + i] = value[i];
    }
}

static inline State total_of(const TYPE *value, const uchar *flag)
{
    State sum = {value[0], SEGMENTED && flag[0]};
    for (uint i = 1; i < EACH; ++i) {
        const State item = {value[i], SEGMENTED && flag[i]};
        sum = join(sum, item);
    }
    return sum;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void reduce_spans(__global const TYPE *in, __global const uchar *heads, ulong size, ulong span,
                  __global TYPE *totals, __global uint *flags)
{
    __local State states[LANES + ROOT];
    const ulong group = get_group_id(0), end = MIN((group + 1) * span, size);
    State carry = {0, 0};
#if SEGMENTED
    for (ulong tile = group * span; tile < end; tile += TILE) {
        TYPE value[EACH];
        uchar flag[EACH];
        State total;
        load_items(in, heads, tile + get_local_id(0) * EACH, end, value, flag);
        scan_group(total_of(value, flag), states, &total);
        carry = join(carry, total);
    }
#else
    // without segments the order does not matter
    TYPE sum = 0;
    ulong tile = group * span;
    for (; tile + TILE <= end; tile += TILE) {
        __global const QUAD *quads = (__global const QUAD *)(in + tile) + get_local_id(0);
        QUAD part[EACH / 4];
        for (uint q = 0; q < EACH / 4; ++q)
            part[q] = quads[q * LANES];
        for (uint q = 0; q < EACH / 4; ++q)
            sum = JOIN(sum, JOIN(JOIN(part[q].s0, part[q].s1), JOIN(part[q].s2, part[q].s3)));
    }
    for (ulong i = tile + get_local_id(0); i < end; i += LANES)
        sum = JOIN(sum, in[i]);
    const State own = {sum, 0};
    scan_group(own, states, &carry);
#endif
    if (get_local_id(0) == 0) {
        totals[group] = carry.value;
        flags[group] = carry.flag;
    }
}

// The state before a span: that of all spans before it.
static inline State spans_before(__global const TYPE *totals, __global const uint *flags, __local State *states)
{
    const uint group = (uint)get_group_id(0), each = CEIL_DIV(group, LANES), lane = get_local_id(0);
    State own = {0, 0}, all;
    for (uint s = lane * each; s < MIN((lane + 1) * each, group); ++s) {
        const State total = {totals[s], flags[s]};
        own = join(own, total);
    }
    scan_group(own, states, &all);
    return all;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void scan_spans(__global const TYPE *in, __global const uchar *heads, ulong size, ulong span,
                __global const TYPE *totals, __global const uint *flags, uint inclusive, __global TYPE *out)
{
    __local State states[LANES + ROOT];
    const ulong group = get_group_id(0), end = MIN((group + 1) * span, size);
    State carry = spans_before(totals, flags, states);
    for (ulong tile = group * span; tile < end; tile += TILE) {
        TYPE value[EACH];
        uchar flag[EACH];
        State total;
        const ulong first = tile + get_local_id(0) * EACH;
        load_items(in, heads, first, end, value, flag);
        State running = join(carry, scan_group(total_of(value, flag), states, &total));
        for (uint i = 0; i < EACH; ++i) {
            const State item = {value[i], SEGMENTED && flag[i]}, after = join(running, item);
            value[i] = inclusive ? after.value : item.flag ? 0 : running.value;
            running = after;
        }
        store_items(out, first, end, value);
        carry = join(carry, total);
    }
}

#endif
