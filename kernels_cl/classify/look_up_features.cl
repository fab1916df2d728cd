// Features of sketches looked up in the index of index_features.cl.
//
//   found[i]   of features[begin + i]: locations << 32 | the location if there is one, else where the list of them starts;
//              0 for NO_FEATURE and for what the index does not have
//
// A look-up reads two neighbours of the table, and then bisects the entries between them. Keys come of features by a fixed
// bijection, so whoever makes the references can crowd entries behind one prefix. That costs a few more steps of the
// bisection, 32 at most, and nothing else: there are no chains and nothing is ever displaced.
//
// -D CPU=0|1     1: a work-item takes `each` features; 0: a work-item a feature
#include "common/portable.clh"
#include "classify/hashes.clh"

#define BLOCK 256

// The entry of a key among entries low .. high - 1, or 0.
static inline ulong entry_of(__global const ulong *entries, uint key, uint bits, uint low, uint high)
{
    const uint wanted = key << bits, end = high;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if ((uint)(entries[middle] >> 32) < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == end)
        return 0;
    const ulong entry = entries[low];
    return ((uint)(entry >> 32) ^ wanted) >> bits ? 0 : entry;
}

// What is told of an entry: its number of locations instead of the key.
static inline ulong told(ulong entry, uint bits)
{
    return entry & (((ulong)1 << (32 + bits)) - 1);
}

#if CPU

// First what is far away in memory: these loads wait for nothing, and there are many under way. Most entries are the first
// one of their prefix.
static inline void look_up(__global const uint *features, uint size, __global const uint *table,
                           __global const ulong *entries, uint bits, __global ulong *found)
{
    uint keys[BLOCK], low[BLOCK], high[BLOCK];
    ulong first[BLOCK];
    for (uint i = 0; i < size; ++i) {
        const uint key = mix_feature(features[i]), prefix = key >> (32 - bits);
        keys[i] = key;
        low[i] = table[prefix];
        high[i] = table[prefix + 1];
    }
    for (uint i = 0; i < size; ++i)
        first[i] = entries[low[i]]; // there is one entry more than features
    for (uint i = 0; i < size; ++i) {
        ulong entry = low[i] < high[i] ? first[i] : 0;
        if (low[i] < high[i] && ((uint)(entry >> 32) ^ keys[i] << bits) >> bits)
            entry = entry_of(entries, keys[i], bits, low[i] + 1, high[i]);
        found[i] = features[i] == NO_FEATURE ? 0 : told(entry, bits);
    }
}

__kernel void look_up_features(__global const uint *features, ulong begin, ulong size, uint each, __global const uint *table,
                               __global const ulong *entries, uint bits, __global ulong *found)
{
    const ulong from = get_global_id(0) * (ulong)each, to = MIN(from + each, size);
    for (ulong i = from; i < to; i += BLOCK)
        look_up(features + begin + i, (uint)MIN(to - i, (ulong)BLOCK), table, entries, bits, found + i);
}

#else

__kernel void look_up_features(__global const uint *features, ulong begin, ulong size, uint each, __global const uint *table,
                               __global const ulong *entries, uint bits, __global ulong *found)
{
    const ulong i = get_global_id(0);
    if (i >= size)
        return;
    const uint feature = features[begin + i], key = mix_feature(feature), prefix = key >> (32 - bits);
    ulong entry = 0;
    if (feature != NO_FEATURE)
        entry = entry_of(entries, key, bits, table[prefix], table[prefix + 1]);
    found[i] = told(entry, bits);
}

#endif
