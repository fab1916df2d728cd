// The index of features: an entry for each one, a table of where the entries of each prefix start, and the lists of those that
// have several locations.
//
// Keys ascend. The first `bits` bits of a key are its prefix: table[p] is the number of keys whose prefix is below p, so the
// entries of p are table[p] .. table[p + 1] - 1. What an entry holds of its key need not repeat the prefix, which leaves room
// for the number of its locations: bits is 16 or more.
//
//   entries[i] = key[i] << (32 + bits) | locations of i << 32 | its location if it has one, else where its list starts
//
// The features come piece by piece, `size` of them with their locations. Before them, `before` features are in the index, and
// `lists_before` locations in the lists. The first ones are keys[keys_at], counts[counts_at] and locations[locations_at]: what is
// before them came with another piece. A work-item takes `each` features: on CPUs many, on GPUs one.
//
// Keys and locations may be anything: whatever they are, nothing is read or written out of bounds, and faults[0] is set if the keys do
// not ascend from `least_key` on, a location is not below `windows`, or those of a feature do not ascend.
//
//   count_locations  sums: locations of the features of a work-item, and << 32 those in the lists; to be summed up by a scan
//   index_features   the entries, from sums of what is before a work-item's; the last key of each prefix writes table[p + 1],
//                    and what is not written is what is before it: a scan of maxima
//
// -D COUNT=uchar|ushort   numbers of locations
#include "common/portable.clh"

// Locations of a feature, and << 32 those in the lists.
static inline ulong located(uint count)
{
    return count | (count > 1 ? (ulong)count << 32 : 0);
}

__kernel void count_locations(__global const COUNT *counts, uint counts_at, uint size, uint each, __global ulong *sums)
{
    counts += counts_at;
    const uint begin = MIN(get_global_id(0) * each, size), end = MIN(begin + each, size);
    ulong sum = 0;
    for (uint i = begin; i < end; ++i)
        sum += located(counts[i]);
    if (begin < end)
        sums[begin / each] = sum;
}

__kernel void index_features(__global const uint *keys, uint keys_at, __global const COUNT *counts, uint counts_at,
                             __global const ulong *sums, __global const uint *locations, uint locations_at, uint size, uint each,
                             ulong before, uint lists_before, uint bits, ulong least_key, uint windows, __global ulong *entries,
                             __global uint *table, __global uint *lists, __global uint *faults)
{
    keys += keys_at;
    counts += counts_at;
    locations += locations_at;
    const uint begin = MIN(get_global_id(0) * each, size), end = MIN(begin + each, size);
    ulong start = begin < end ? sums[begin / each] : 0;
    uint wrong = 0;
    for (uint i = begin; i < end; ++i) {
        const uint key = keys[i], count = counts[i], prefix = key >> (32 - bits), list = lists_before + (uint)(start >> 32);
        __global const uint *own = locations + (uint)start;
        wrong |= i ? key <= keys[i - 1] : key < least_key;
        for (uint j = 0; j < count; ++j) {
            wrong |= own[j] >= windows || (j && own[j] <= own[j - 1]);
            if (count > 1)
                lists[list + j] = own[j];
        }
        entries[before + i] = (ulong)(key << bits | count) << 32 | (count == 1 ? own[0] : list);
        if (i + 1 == size || keys[i + 1] >> (32 - bits) != prefix)
            table[prefix + 1] = (uint)before + i + 1;
        start += located(count);
    }
    if (wrong)
        atomic_or(faults, 1u);
}
