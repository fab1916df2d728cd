// Prefix sums and prefix maxima of an array, whole or by segments; two kernels, no waiting between work-groups.
//
//   out[i] = source[b] o source[b+1] o ... o source[i]          inclusive; exclusive leaves source[i] out (0 at the start)
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
// -D CPU=0|1           1: a work-item a span, serial; else a work-group a span, LANES x UNITS x 4 items a tile
// -D LANES=n -D ROOT=n work-group size (GPUs), and its square root
// -D UNITS=n           a work-item's part of a tile (GPUs): units of 4 items that it loads and stores at once
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

#if SEGMENTED
// `flag` says that a segment starts inside, so nothing from before reaches the end.
typedef struct {
    TYPE value;
    uint flag;
} State;

static inline State state_of(TYPE value, uint flag)
{
    State state;
    state.value = value;
    state.flag = flag;
    return state;
}

static inline State join(State before, State after)
{
    return state_of(after.flag ? after.value : JOIN(before.value, after.value), before.flag | after.flag);
}

#define VALUE_OF(state) ((state).value)
#define FLAG_OF(state) ((state).flag)
#else
typedef TYPE State;
#define state_of(value, flag) (value)
#define join(before, after) JOIN(before, after)
#define VALUE_OF(state) (state)
#define FLAG_OF(state) 0u
#endif
#define NOTHING state_of(0, 0u)

#if CPU

__kernel void reduce_spans(__global const TYPE *source, __global const uchar *heads, ulong size, ulong span,
                           __global TYPE *totals, __global uint *flags)
{
    const ulong group = get_global_id(0), end = MIN((group + 1) * span, size);
    State sum = NOTHING;
    for (ulong i = group * span; i < end; ++i) {
        const State item = state_of(source[i], HEAD(i));
        sum = join(sum, item);
    }
    totals[group] = VALUE_OF(sum);
    flags[group] = FLAG_OF(sum);
}

__kernel void scan_spans(__global const TYPE *source, __global const uchar *heads, ulong size, ulong span,
                         __global const TYPE *totals, __global const uint *flags, uint inclusive, __global TYPE *out)
{
    const ulong group = get_global_id(0), end = MIN((group + 1) * span, size);
    State sum = NOTHING;
    for (ulong s = 0; s < group; ++s) {
        const State total = state_of(totals[s], flags[s]);
        sum = join(sum, total);
    }
    TYPE running = VALUE_OF(sum);
    if (inclusive) {
        for (ulong i = group * span; i < end; ++i) {
            const TYPE value = source[i];
            running = HEAD(i) ? value : JOIN(running, value);
            out[i] = running;
        }
    } else {
        for (ulong i = group * span; i < end; ++i) {
            const TYPE value = source[i];
            running = HEAD(i) ? 0 : running;
            out[i] = running;
            running = JOIN(running, value);
        }
    }
}

#else

#include "primitives/group_scan.clh"

#define PER 4
#define TILE (LANES * UNITS * PER)
#define UNIT PASTE(TYPE, PER)

// Unit u of this work-item in a tile; neighbours' units follow each other.
#define PLACE(tile, u) ((tile) + ((u) * LANES + get_local_id(0)) * PER)

typedef struct {
    TYPE value[UNITS * PER];
    uchar flag[UNITS * PER];
} Items;

static inline void load_items(__global const TYPE *source, __global const uchar *heads, ulong tile, ulong end, Items *items)
{
    for (uint u = 0; u < UNITS; ++u) {
        const ulong place = PLACE(tile, u);
        TYPE *value = items->value + u * PER;
        if (place + PER <= end) {
            const UNIT unit = *(__global const UNIT *)(source + place);
            value[0] = unit.s0;
            value[1] = unit.s1;
            value[2] = unit.s2;
            value[3] = unit.s3;
        } else {
            for (uint i = 0; i < PER; ++i)
                value[i] = place + i < end ? source[place + i] : 0;
        }
#if SEGMENTED
        for (uint i = 0; i < PER; ++i)
            items->flag[u * PER + i] = place + i < end ? heads[place + i] : 0;
#endif
    }
}

static inline void store_unit(__global TYPE *out, ulong place, ulong end, const TYPE *value)
{
    if (place + PER <= end) {
        *(__global UNIT *)(out + place) = (UNIT)(value[0], value[1], value[2], value[3]);
    } else {
        for (uint i = 0; i < PER; ++i)
            if (place + i < end)
                out[place + i] = value[i];
    }
}

static inline void join_units(const Items *items, State *sums)
{
    for (uint u = 0; u < UNITS; ++u) {
        sums[u] = state_of(items->value[u * PER], items->flag[u * PER]);
        for (uint i = u * PER + 1; i < (u + 1) * PER; ++i) {
            const State item = state_of(items->value[i], items->flag[i]);
            sums[u] = join(sums[u], item);
        }
    }
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void reduce_spans(__global const TYPE *source, __global const uchar *heads, ulong size, ulong span,
                  __global TYPE *totals, __global uint *flags)
{
    __local State states[GROUP_STATES];
    const ulong group = get_group_id(0), end = MIN((group + 1) * span, size);
    State carry = NOTHING, sums[UNITS];
    Items items;
#if SEGMENTED
    for (ulong tile = group * span; tile < end; tile += TILE) {
        load_items(source, heads, tile, end, &items);
        join_units(&items, sums);
        const State total = scan_group(sums, states);
        carry = join(carry, total);
    }
#else
    // without segments the order does not matter
    State own[UNITS];
    for (uint u = 0; u < UNITS; ++u)
        own[u] = NOTHING;
    for (ulong tile = group * span; tile < end; tile += TILE) {
        load_items(source, heads, tile, end, &items);
        join_units(&items, sums);
        for (uint u = 0; u < UNITS; ++u)
            own[u] = join(own[u], sums[u]);
    }
    carry = scan_group(own, states);
#endif
    if (get_local_id(0) == 0) {
        totals[group] = VALUE_OF(carry);
        flags[group] = FLAG_OF(carry);
    }
}

// The state before a span: that of all spans before it.
static inline State spans_before(__global const TYPE *totals, __global const uint *flags, __local State *states)
{
    const uint group = (uint)get_group_id(0), each = CEIL_DIV(group, LANES), lane = get_local_id(0);
    State own[UNITS];
    for (uint u = 0; u < UNITS; ++u)
        own[u] = NOTHING;
    for (uint s = lane * each; s < MIN((lane + 1) * each, group); ++s) {
        const State total = state_of(totals[s], flags[s]);
        own[0] = join(own[0], total);
    }
    return scan_group(own, states);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void scan_spans(__global const TYPE *source, __global const uchar *heads, ulong size, ulong span,
                __global const TYPE *totals, __global const uint *flags, uint inclusive, __global TYPE *out)
{
    __local State states[GROUP_STATES];
    const ulong group = get_group_id(0), end = MIN((group + 1) * span, size);
    State carry = spans_before(totals, flags, states), before[UNITS];
    Items items, next;
    load_items(source, heads, group * span, end, &next);
    for (ulong tile = group * span; tile < end; tile += TILE) {
        items = next;
        load_items(source, heads, tile + TILE, end, &next); // while the group is busy with this one
        join_units(&items, before);
        const State total = scan_group(before, states);
        for (uint u = 0; u < UNITS; ++u) {
            State running = join(carry, before[u]);
            for (uint i = u * PER; i < (u + 1) * PER; ++i) {
                const State item = state_of(items.value[i], items.flag[i]), after = join(running, item);
                items.value[i] = inclusive ? VALUE_OF(after) : FLAG_OF(item) ? 0 : VALUE_OF(running);
                running = after;
            }
            store_unit(out, PLACE(tile, u), end, items.value + u * PER);
        }
        carry = join(carry, total);
    }
}

#endif
