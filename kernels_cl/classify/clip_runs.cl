// Sorted pairs (make_pairs.cl) to lists of windows: pairs with one key are a run, of which the first `most` are kept.
//
// Pair i is a head if it is the first one or its key differs from that of the pair before. It is kept if i < most, or if its key
// differs from that of pair i - most. Pairs with the key `left_out` are neither. `count_runs` counts both for each tile as one
// number, heads * 2^32 + kept ones; a scan says where those of each tile go; `write_runs` writes them.
//
//   keys[r], counts[r]   key of run r, and how many of its pairs are kept
//   locations[l]         window of the l-th pair that is kept
//
// -D COUNT=type    of a count: uchar or ushort
// -D CPU=0|1       1: a work-item a tile of `tile` pairs, serial; else LANES work-items a tile of LANES x EACH
// -D LANES=n, ROOT=n   (GPUs) work-group size and its square root
// -D EACH=n            (GPUs) pairs of a tile per work-item
#include "common/portable.clh"

static inline uint key_of(ulong pair)
{
    return (uint)(pair >> 32);
}

// The end of what is kept of the run that starts at `i`.
static inline ulong kept_end(__global const ulong *pairs, ulong size, uint most, ulong i)
{
    const uint key = key_of(pairs[i]);
    const ulong last = MIN(i + most, size);
    ulong end = i + 1;
    while (end < last && key_of(pairs[end]) == key)
        ++end;
    return end;
}

#if CPU

// The first head from `i` on; `end` if there is none.
static inline ulong next_head(__global const ulong *pairs, ulong i, ulong end)
{
    if (i > 0)
        while (i < end && key_of(pairs[i]) == key_of(pairs[i - 1]))
            ++i;
    return i;
}

__kernel void count_runs(__global const ulong *pairs, ulong size, ulong tile, uint most, uint left_out, __global ulong *totals)
{
    const ulong t = get_global_id(0), end = MIN((t + 1) * tile, size);
    ulong total = 0;
    for (ulong i = next_head(pairs, t * tile, end); i < end;) {
        const ulong last = kept_end(pairs, size, most, i);
        if (key_of(pairs[i]) != left_out)
            total += (1ul << 32) + (last - i);
        i = last < end ? next_head(pairs, last, end) : end;
    }
    totals[t] = total;
}

__kernel void write_runs(__global const ulong *pairs, ulong size, ulong tile, uint most, uint left_out,
                         __global const ulong *places, __global uint *keys, __global COUNT *counts, __global uint *locations)
{
    const ulong t = get_global_id(0), end = MIN((t + 1) * tile, size);
    uint run = (uint)(places[t] >> 32), to = (uint)places[t];
    for (ulong i = next_head(pairs, t * tile, end); i < end;) {
        const ulong last = kept_end(pairs, size, most, i);
        const uint key = key_of(pairs[i]);
        if (key != left_out) {
            keys[run] = key;
            counts[run++] = (COUNT)(last - i);
            for (ulong j = i; j < last; ++j)
                locations[to++] = (uint)pairs[j];
        }
        i = last < end ? next_head(pairs, last, end) : end;
    }
}

#else

#define UNITS EACH
typedef ulong State;
#define join(before, after) ((before) + (after))
#define NOTHING 0ul
#include "primitives/group_scan.clh"

// What pair i adds to the total: a head in the upper half, a kept pair in the lower one.
static inline ulong share_of(__global const ulong *pairs, ulong size, uint most, uint left_out, ulong i)
{
    if (i >= size)
        return 0;
    const uint key = key_of(pairs[i]);
    if (key == left_out)
        return 0;
    const ulong head = i == 0 || key_of(pairs[i - 1]) != key;
    const ulong kept = i < most || key_of(pairs[i - most]) != key;
    return head << 32 | kept;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_runs(__global const ulong *pairs, ulong size, ulong tile, uint most, uint left_out, __global ulong *totals)
{
    __local State states[GROUP_STATES];
    State own[EACH];
    for (uint u = 0; u < EACH; ++u)
        own[u] = share_of(pairs, size, most, left_out, get_group_id(0) * tile + u * LANES + get_local_id(0));
    const State total = scan_group(own, states);
    if (get_local_id(0) == 0)
        totals[get_group_id(0)] = total;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void write_runs(__global const ulong *pairs, ulong size, ulong tile, uint most, uint left_out, __global const ulong *places,
                __global uint *keys, __global COUNT *counts, __global uint *locations)
{
    __local State states[GROUP_STATES];
    State shares[EACH], to[EACH];
    for (uint u = 0; u < EACH; ++u) {
        shares[u] = share_of(pairs, size, most, left_out, get_group_id(0) * tile + u * LANES + get_local_id(0));
        to[u] = shares[u];
    }
    scan_group(to, states);
    for (uint u = 0; u < EACH; ++u) {
        const ulong i = get_group_id(0) * tile + u * LANES + get_local_id(0);
        const ulong place = places[get_group_id(0)] + to[u];
        if ((uint)shares[u])
            locations[(uint)place] = (uint)pairs[i];
        if (shares[u] >> 32) {
            keys[place >> 32] = key_of(pairs[i]);
            counts[place >> 32] = (COUNT)(kept_end(pairs, size, most, i) - i);
        }
    }
}

#endif
