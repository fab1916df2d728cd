// Equal keys counted in tiles of local memory, of keys that are in the order of their first bits, the prefix.
//
// Keys of one prefix make a bucket. Tiles are cut where a bucket begins, so that a key is in one tile only:
//
//   find_borders   borders[t]: where the first bucket at or behind key t * step begins; cut[t] = 1 where none does within
//                  `reach` keys, so that the tile begins at t * step, inside a bucket. borders[tiles] is the end.
//   count_tiles    the distinct keys of a tile and their counts, to the tile's place in `out` and `counts`: first those of
//                  whole buckets in ascending order, sizes[t] of them, then those of open ones, sizes[tiles + t] of them.
//                  Open are buckets that a border cuts, and long ones: their keys are in no order and may come again
//   move_tiles     both kinds to arrays of their own, by the places that the scan of the sizes gives
//   interleave     keys of one kind to their places among those of both, when open ones are counted and sorted, too; it
//                  runs once for each kind
//
// Within a tile, equal keys find each other first by rounds of hashing: each key writes its number into a slot, and whoever
// finds an equal key there adds itself to that one's count. The few that are left, each distinct key once or a little more
// often, are ranked among those of their bucket by comparison, if these are not more than LONG.
//
// A key has WORDS words, least significant first, each in a channel of its own: word w of key i is keys[w * stride + i]. The
// prefix is what is left of a key from bit `shift` of word `word` on, at most 32 bits.
//
// -D WORDS=n       words of a key
// -D LANES=n       work-items of a group, which takes a tile
// -D EACH=n        keys of each work-item, at most 32: LANES x EACH keys make the largest tile, step + reach
#include "common/portable.clh"

#define MOST (LANES * EACH)
#define NONE 0x7fff
#define OPEN 0x8000 // in a list: the key's bucket is open
#define ROUNDS 2
#define LONG 512
#define MIXER 0x9e3779b97f4a7c15ul // 2^64 divided by the golden ratio

#if WORDS == 1
#define PREFIX(keys, stride, i) ((uint)((keys)[i] >> shift))
#else
// 32 bits from bit `shift` of word `word` on, which may pass into the next word
#define ABOVE(keys, stride, i) (word + 1 < WORDS && shift ? (keys)[(ulong)(word + 1) * (stride) + (i)] << (64 - shift) : 0)
#define PREFIX(keys, stride, i) ((uint)((keys)[(ulong)word * (stride) + (i)] >> shift | ABOVE(keys, stride, i)))
#endif

__kernel void find_borders(__global const ulong *keys, ulong stride, ulong size, uint word, uint shift, uint tiles, uint step,
                           uint reach, __global uint *borders, __global uchar *cut)
{
    const uint t = get_global_id(0);
    if (t > tiles)
        return;
    const ulong begin = MIN((ulong)t * step, size), end = MIN(begin + reach, size);
    ulong i = begin;
    if (begin > 0 && begin < size) {
        const uint before = PREFIX(keys, stride, begin - 1);
        while (i < end && PREFIX(keys, stride, i) == before)
            ++i;
    }
    const uint none = i == end && i < size;
    borders[t] = (uint)(none ? begin : i);
    cut[t] = (uchar)none;
}

static inline uint same_keys(__local const ulong *key, uint a, uint b)
{
    for (uint w = 0; w < WORDS; ++w)
        if (key[w * MOST + a] != key[w * MOST + b])
            return 0;
    return 1;
}

// -1, 0 or 1 where key a is less than, equal to or greater than key b.
static inline int compare_keys(__local const ulong *key, uint a, uint b)
{
    for (uint w = WORDS; w-- > 0;) {
        const ulong x = key[w * MOST + a], y = key[w * MOST + b];
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

static inline uint slot_of(__local const ulong *key, uint i, uint round)
{
    ulong hash = key[i];
    for (uint w = 1; w < WORDS; ++w)
        hash = (hash ^ hash >> 29) * MIXER + key[w * MOST + i];
    hash = (hash ^ hash >> 32) * (MIXER + 2 * round);
    return (uint)((hash >> 32) * MOST >> 32);
}

// Sum of `own` over the work-items before this one; *all becomes that over all. `sums` may be used again at once.
static inline uint sum_before(uint own, __local uint *sums, uint *all)
{
    const uint lane = get_local_id(0);
    uint sum = own;
    sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint reach = 1; reach < LANES; reach *= 2) {
        const uint before = lane >= reach ? sums[lane - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += before;
        sums[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    *all = sums[LANES - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum - own;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_tiles(__global const ulong *keys, ulong stride, uint word, uint shift, uint tiles, __global const uint *borders,
                 __global const uchar *cut, __global ulong *out, __global uint *counts, __global uint *sizes)
{
    __local ulong key[WORDS * MOST];
    __local uint count[MOST];
    __local uint slots[MOST];
    __local ushort list[MOST];
    __local uint sums[LANES];
    const uint lane = get_local_id(0), t = get_group_id(0);
    const uint begin = borders[t], size = borders[t + 1] - begin;
    for (uint e = 0; e < EACH; ++e) {
        const uint i = e * LANES + lane;
        count[i] = i < size;
        slots[i] = 0;
        if (i < size)
            for (uint w = 0; w < WORDS; ++w)
                key[w * MOST + i] = keys[w * stride + begin + i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // equal keys find each other
    uint alone = 0; // a bit for each of this work-item's keys that has not met an equal one, nor its slot
    ushort slot[EACH];
    for (uint e = 0; e < EACH; ++e)
        alone |= (uint)(e * LANES + lane < size) << e;
    for (uint round = 0; round < ROUNDS; ++round) {
        UNROLL
        for (uint e = 0; e < EACH; ++e)
            if (alone >> e & 1) {
                slot[e] = (ushort)slot_of(key, e * LANES + lane, round);
                atomic_xchg(&slots[slot[e]], e * LANES + lane);
            }
        barrier(CLK_LOCAL_MEM_FENCE);
        UNROLL
        for (uint e = 0; e < EACH; ++e)
            if (alone >> e & 1) {
                const uint i = e * LANES + lane, there = slots[slot[e]];
                if (there == i) {
                    alone &= ~(1u << e);
                } else if (same_keys(key, i, there)) {
                    alone &= ~(1u << e);
                    count[i] = 0;
                    atomic_inc(&count[there]);
                }
            }
        barrier(CLK_LOCAL_MEM_FENCE);
    }

    // those with a count, in their order
    uint own = 0, left;
    for (uint e = 0; e < EACH; ++e)
        own += count[lane * EACH + e] != 0;
    uint place = sum_before(own, sums, &left);
    for (uint e = 0; e < EACH; ++e)
        if (count[lane * EACH + e])
            list[place++] = (ushort)(lane * EACH + e);
    barrier(CLK_LOCAL_MEM_FENCE);

    // their ranks in their buckets; the first of equal ones takes the counts of the others
    const uint cut_front = cut[t], cut_back = cut[t + 1];
    const uint front = size ? PREFIX(key, MOST, 0) : 0, back = size ? PREFIX(key, MOST, size - 1) : 0;
    for (uint j = lane; j < left; j += LANES) {
        const uint i = list[j], prefix = PREFIX(key, MOST, i);
        if ((cut_front && prefix == front) || (cut_back && prefix == back)) {
            slots[j] = i | OPEN;
            continue;
        }
        uint first = j, rank = 0, low = j, high = j + 1; // the bucket is low .. high - 1
        for (; low > 0 && j - low < LONG; --low) {
            const uint other = list[low - 1];
            if (PREFIX(key, MOST, other) != prefix)
                break;
            const int order = compare_keys(key, other, i);
            rank += order <= 0;
            first = order == 0 ? low - 1 : first;
        }
        for (; high < left && high - j <= LONG; ++high) {
            const uint other = list[high];
            if (PREFIX(key, MOST, other) != prefix)
                break;
            rank += compare_keys(key, other, i) < 0;
        }
        if (high - low > LONG) {
            slots[j] = i | OPEN;
        } else {
            slots[low + rank] = first == j ? i : NONE;
            if (first != j)
                atomic_add(&count[list[first]], count[i]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // and out: numbers of keys in the low half, of open ones in the high half
    own = 0;
    for (uint e = 0; e < EACH; ++e) {
        const uint j = lane * EACH + e, i = j < left ? slots[j] : NONE;
        own += i == NONE ? 0 : i & OPEN ? 1u << 16 : 1u;
    }
    uint all;
    place = sum_before(own, sums, &all);
    const uint whole = all & 0xffff, open = all >> 16;
    for (uint e = 0; e < EACH; ++e) {
        const uint j = lane * EACH + e, i = j < left ? slots[j] : NONE;
        if (i == NONE)
            continue;
        list[i & OPEN ? whole + (place >> 16) : place & 0xffff] = (ushort)(i & ~OPEN);
        place += i & OPEN ? 1u << 16 : 1u;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = lane; s < whole + open; s += LANES) {
        const uint i = list[s];
        for (uint w = 0; w < WORDS; ++w)
            out[w * stride + begin + s] = key[w * MOST + i];
        counts[begin + s] = count[i];
    }
    if (lane == 0) {
        sizes[t] = whole;
        sizes[tiles + t] = open;
    }
}

// `places` holds the exclusive scan of the sizes and their sum; open keys come behind all others there.
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void move_tiles(__global const ulong *keys, ulong stride, __global const uint *counts, uint tiles, __global const uint *borders,
                __global const uint *places, ulong whole_stride, __global ulong *whole, __global uint *whole_counts,
                ulong open_stride, __global ulong *open, __global uint *open_counts)
{
    const uint lane = get_local_id(0), t = get_group_id(0);
    const uint to = places[t], size = places[t + 1] - to;
    const ulong begin = borders[t];
    for (uint s = lane; s < size; s += LANES) {
        for (uint w = 0; w < WORDS; ++w)
            whole[w * whole_stride + to + s] = keys[w * stride + begin + s];
        whole_counts[to + s] = counts[begin + s];
    }
    const uint open_to = places[tiles + t] - places[tiles], open_size = places[tiles + t + 1] - places[tiles + t];
    for (uint s = lane; s < open_size; s += LANES) {
        for (uint w = 0; w < WORDS; ++w)
            open[w * open_stride + open_to + s] = keys[w * stride + begin + size + s];
        open_counts[open_to + s] = counts[begin + size + s];
    }
}

// How many keys are less than key i of others; both are in ascending order.
static inline uint keys_less(__global const ulong *keys, uint size, __global const ulong *others, uint others_size, uint i)
{
    uint low = 0, high = size;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        uint less = 0;
        for (uint w = 0; w < WORDS; ++w) {
            const ulong x = keys[(ulong)w * size + middle], y = others[(ulong)w * others_size + i];
            less = x != y ? x < y : less;
        }
        low = less ? middle + 1 : low;
        high = less ? high : middle;
    }
    return low;
}

__kernel void interleave(__global const ulong *keys, __global const uint *counts, uint size, __global const ulong *others,
                         __global const uint *others_counts, uint others_size, ulong stride, __global ulong *out,
                         __global uint *out_counts)
{
    const uint i = get_global_id(0);
    if (i >= others_size)
        return;
    const uint to = i + keys_less(keys, size, others, others_size, i);
    for (uint w = 0; w < WORDS; ++w)
        out[w * stride + to] = others[(ulong)w * others_size + i];
    out_counts[to] = others_counts[i];
}
