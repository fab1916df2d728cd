// Features of sketches looked up in the index of index_features.cl.
//
//   found[i]   of features[begin + i]: locations << 32 | the location if there is one, else where the list of them starts;
//              0 for NO_FEATURE and for what the index does not have
//
// A look-up reads two neighbours of the table, and then the entries between them. Keys come of features by a fixed bijection that
// spreads them evenly, so the place of a key among those of its prefix is guessed from the key, and walked from. Whoever makes the
// references can crowd entries behind one prefix: those are bisected. That costs 32 steps at most, and nothing else: there are no
// chains and nothing is ever displaced.
//
// -D CPU=0|1     1: a work-item takes `each` features; 0: a work-item a feature
#include "common/portable.clh"
#include "classify/hashes.clh"

#define BLOCK 256
#define CROWD 32 // entries of a prefix; there are PREFIX_KEYS (plan.py) at most, on average

// What an entry holds of its key, and what is told of it: its number of locations instead of the key.
#define KEY_OF(entry, bits) ((uint)((entry) >> 32) >> (bits))
#define TOLD(entry, bits) ((entry) & (((ulong)1 << (32 + (bits))) - 1))

// Where the entry of a key is, about, among entries low .. high - 1.
static inline uint guess_place(uint key, uint bits, uint low, uint high)
{
    return low + (uint)((ulong)(key << bits) * (high - low) >> 32);
}

// The last of entries low .. high - 1, of which there are some, whose key is at most `wanted`; or the first one.
static inline ulong bisected(__global const ulong *entries, uint wanted, uint bits, uint low, uint high)
{
    for (uint left = high - low; left > 1;) {
        const uint step = left / 2;
        if (KEY_OF(entries[low + step], bits) <= wanted)
            low += step;
        left -= step;
    }
    return entries[low];
}

// The entry of a key among entries low .. high - 1, or 0; `entry` is the one at `place`, which is one of them if there are any.
static inline ulong entry_of(__global const ulong *entries, uint key, uint bits, uint low, uint high, uint place, ulong entry)
{
    const uint wanted = (key << bits) >> bits;
    if (low == high)
        return 0;
    if (KEY_OF(entry, bits) == wanted)
        return entry;
    if (high - low > CROWD)
        entry = bisected(entries, wanted, bits, low, high);
    else if (KEY_OF(entry, bits) < wanted)
        while (++place < high && KEY_OF(entry, bits) < wanted)
            entry = entries[place];
    else
        while (place-- > low && KEY_OF(entry, bits) > wanted)
            entry = entries[place];
    return KEY_OF(entry, bits) == wanted ? entry : 0;
}

#if CPU

// First what is far away in memory: these loads wait for nothing, and there are many under way. Most entries are where they are
// guessed to be, or next to it.
static inline void look_up(__global const uint *features, uint size, __global const uint *table,
                           __global const ulong *entries, uint bits, __global ulong *found)
{
    uint keys[BLOCK], low[BLOCK], high[BLOCK], places[BLOCK];
    ulong guessed[BLOCK];
    for (uint i = 0; i < size; ++i) {
        const uint key = mix_feature(features[i]), prefix = key >> (32 - bits);
        keys[i] = key;
        low[i] = table[prefix];
        high[i] = table[prefix + 1];
        places[i] = guess_place(key, bits, low[i], high[i]);
    }
    for (uint i = 0; i < size; ++i)
        guessed[i] = entries[places[i]]; // there is one entry more than features
    for (uint i = 0; i < size; ++i) {
        const ulong entry = entry_of(entries, keys[i], bits, low[i], high[i], places[i], guessed[i]);
        found[i] = features[i] == NO_FEATURE ? 0 : TOLD(entry, bits);
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
    if (feature != NO_FEATURE) {
        const uint low = table[prefix], high = table[prefix + 1], place = guess_place(key, bits, low, high);
        entry = entry_of(entries, key, bits, low, high, place, entries[place]);
    }
    found[i] = TOLD(entry, bits);
}

#endif
