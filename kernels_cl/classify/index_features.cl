// The index of features: an entry for each one, and a table of where the entries of each prefix start.
//
// Keys ascend. The first `bits` bits of a key are its prefix: table[p] is the number of keys whose prefix is below p, so the
// entries of p are table[p] .. table[p + 1] - 1. What an entry holds of its key need not repeat the prefix, which leaves room
// for the number of its locations: bits is 16 or more.
//
//   entries[i] = key[i] << (32 + bits) | locations of i << 32 | its location if it has one, else where its list starts
//
//   widen_counts    numbers of locations, to be summed up by a scan
//   index_features  the entries of `size` keys, of which `before` are in the index already, with `locations_before`; the last
//                   key of each prefix writes table[p + 1], and what is not written is what is before it: a scan of maxima
//
// -D COUNT=uchar|ushort   numbers of locations
#include "common/portable.clh"

__kernel void widen_counts(__global const COUNT *counts, uint size, __global uint *wide)
{
    const uint i = get_global_id(0);
    if (i < size)
        wide[i] = counts[i];
}

__kernel void index_features(__global const uint *keys, __global const COUNT *counts, __global const uint *starts, uint size,
                             ulong before, uint locations_before, __global const uint *locations, uint bits,
                             __global ulong *entries, __global uint *table)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    const uint key = keys[i], count = counts[i], start = locations_before + starts[i];
    const uint place = count == 1 ? locations[start] : start, prefix = key >> (32 - bits);
    entries[before + i] = (ulong)(key << bits | count) << 32 | place;
    if (i + 1 == size || keys[i + 1] >> (32 - bits) != prefix)
        table[prefix + 1] = (uint)before + i + 1;
}
