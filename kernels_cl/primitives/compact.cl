// Stream compaction: the items whose flag is set, in their order; and the heads of runs of equal keys.
//
// Two kernels with a scan of the tiles' counts between them: `count_kept` counts what stays of each tile, `move_kept` moves it.
// What stays is said by KEEP:
//   flags    a byte per item, not 0 where it stays; the items' channels are moved
//   heads    item i starts a run: i is 0 or its key differs from the key before; the key's channels are moved, and i itself
//            goes to `starts`
//
// -D KEEP_HEADS=0|1    heads, or flags
// -D TYPE=type         an item, or a word of a key
// -D WORDS=n           channels: word w of item i is items[w * stride + i]
// -D CPU=0|1           1: a work-item a tile of `tile` items, serial; else LANES work-items a tile of LANES x EACH
// -D LANES=n, ROOT=n   (GPUs) work-group size and its square root
// -D EACH=n            (GPUs) items of a tile per work-item
#include "common/bits.clh"

static inline uint keeps(__global const TYPE *items, __global const uchar *flags, ulong stride, ulong i)
{
#if KEEP_HEADS
    if (i == 0)
        return 1;
    uint differs = 0;
    for (uint w = 0; w < WORDS; ++w)
        differs |= items[w * stride + i] != items[w * stride + i - 1];
    return differs;
#else
    return flags[i] != 0;
#endif
}

static inline void move_item(__global const TYPE *items, __global TYPE *out, __global uint *starts, ulong stride,
                             ulong out_stride, ulong i, uint to)
{
    for (uint w = 0; w < WORDS; ++w)
        out[w * out_stride + to] = items[w * stride + i];
#if KEEP_HEADS
    starts[to] = (uint)i;
#endif
}

#if CPU

typedef ulong ulong_anywhere __attribute__((aligned(1))); // CPUs load words anywhere

#define LOW_SEVEN 0x7f7f7f7f7f7f7f7ful // bits of each byte

__kernel void count_kept(__global const TYPE *items, __global const uchar *flags, ulong stride, ulong size, ulong tile,
                         __global uint *counts)
{
    const ulong t = get_global_id(0), end = MIN((t + 1) * tile, size);
    uint count = 0;
    for (ulong i = t * tile; i < end; ++i)
        count += keeps(items, flags, stride, i);
    counts[t] = count;
}

__kernel void move_kept(__global const TYPE *items, __global const uchar *flags, ulong stride, ulong size, ulong tile,
                        __global const uint *places, ulong out_stride, __global TYPE *out, __global uint *starts)
{
    const ulong t = get_global_id(0), end = MIN((t + 1) * tile, size);
    uint to = places[t];
    ulong i = t * tile;
#if !KEEP_HEADS
    for (; i + 8 <= end; i += 8) { // flags at a time, of which often only few are set
        const ulong eight = *(__global const ulong_anywhere *)(flags + i);
        for (ulong set = (((eight & LOW_SEVEN) + LOW_SEVEN) | eight) & ~LOW_SEVEN; set; set &= set - 1)
            move_item(items, out, starts, stride, out_stride, i + lowest_bit64(set) / 8, to++);
    }
#endif
    for (; i < end; ++i)
        if (keeps(items, flags, stride, i))
            move_item(items, out, starts, stride, out_stride, i, to++);
}

#else

#define UNITS EACH
#define TILE (LANES * EACH)
typedef uint State;
#define join(before, after) ((before) + (after))
#define NOTHING 0u
#include "primitives/group_scan.clh"

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_kept(__global const TYPE *items, __global const uchar *flags, ulong stride, ulong size, ulong tile,
                __global uint *counts)
{
    __local uint states[GROUP_STATES];
    uint own[EACH];
    for (uint u = 0; u < EACH; ++u) {
        const ulong i = get_group_id(0) * (ulong)TILE + u * LANES + get_local_id(0);
        own[u] = i < size ? keeps(items, flags, stride, i) : 0;
    }
    const uint count = scan_group(own, states);
    if (get_local_id(0) == 0)
        counts[get_group_id(0)] = count;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void move_kept(__global const TYPE *items, __global const uchar *flags, ulong stride, ulong size, ulong tile,
               __global const uint *places, ulong out_stride, __global TYPE *out, __global uint *starts)
{
    __local uint states[GROUP_STATES];
    uint kept[EACH], to[EACH];
    for (uint u = 0; u < EACH; ++u) {
        const ulong i = get_group_id(0) * (ulong)TILE + u * LANES + get_local_id(0);
        kept[u] = i < size ? keeps(items, flags, stride, i) : 0;
        to[u] = kept[u];
    }
    scan_group(to, states);
    for (uint u = 0; u < EACH; ++u) {
        const ulong i = get_group_id(0) * (ulong)TILE + u * LANES + get_local_id(0);
        if (kept[u])
            move_item(items, out, starts, stride, out_stride, i, places[get_group_id(0)] + to[u]);
    }
}

#endif
