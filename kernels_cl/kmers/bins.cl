// K-mers of one word straight from packed symbols to bins, for CPUs: a work-item walks a stretch of symbols and carries the
// k-mer and its reverse complement along, so a k-mer costs a few shifts.
//
// A bin is a prefix of `bits` bits. A work-item takes the windows that start in its `each` groups of 32 symbols.
//
//   count_bins    counts[bin * items + item]; their scan, by bin and then by work-item of all streams, gives the places
//   fill_bins     keys[place]: the k-mers of bins low .. low + bins - 1, whose places are counted from the first of them:
//                 places[(bin - low) * all_items + first_item + item]; behind `spare` is room for a k-mer of each work-item
//
// -D BINS=n         2 ^ bits
// -D CANONICAL=0|1  the lesser of a k-mer and its reverse complement
#include "common/portable.clh"

typedef struct {
    ulong forward, backward;
    uint letters; // that follow each other up to here
} Walk;

static inline void step(Walk *walk, uint code, uint good, ulong mask, uint top)
{
    walk->forward = (walk->forward << 2 | code) & mask;
    walk->backward = walk->backward >> 2 | (ulong)(3 - code) << top;
    walk->letters = good ? walk->letters + 1 : 0;
}

static inline ulong kmer_of(const Walk *walk)
{
#if CANONICAL
    return MIN(walk->forward, walk->backward);
#else
    return walk->forward;
#endif
}

// Calls TAKE(key) for each window that starts in groups [begin, end); `last` is the number of groups that there are.
#define EACH_WINDOW(begin, end, last) \
    const ulong mask = k < 32 ? (1ul << 2 * k) - 1 : ~0ul; \
    const uint top = 2 * k - 2, stop = 32 * (end) + k - 1; \
    Walk walk = {0, 0, 0}; \
    for (uint g = (begin); g < (last) && 32 * g < stop; ++g) { \
        ulong letters = (ulong)codes[2 * g] << 32 | codes[2 * g + 1]; \
        uint good = valid[g]; \
        const uint here = MIN(32u, stop - 32 * g); \
        for (uint i = 0; i < here; ++i, letters <<= 2, good <<= 1) { \
            step(&walk, (uint)(letters >> 62), good >> 31, mask, top); \
            if (walk.letters >= k) { \
                const ulong key = kmer_of(&walk); \
                TAKE(key); \
            } \
        } \
    }

__kernel void count_bins(__global const uint *codes, __global const uint *valid, uint groups, uint each, uint k, uint shift,
                         __global uint *counts)
{
    const uint item = get_global_id(0), items = get_global_size(0);
    const uint begin = MIN(item * each, groups), end = MIN(begin + each, groups);
    uint count[BINS];
    for (uint bin = 0; bin < BINS; ++bin)
        count[bin] = 0;
    if (begin < end) {
#define TAKE(key) ++count[key >> shift]
        EACH_WINDOW(begin, end, groups)
#undef TAKE
    }
    for (uint bin = 0; bin < BINS; ++bin)
        counts[bin * items + item] = count[bin];
}

__kernel void fill_bins(__global const uint *codes, __global const uint *valid, uint groups, uint each, uint k, uint shift,
                        __global const uint *places, uint first_item, uint all_items, uint low, uint bins, uint spare,
                        __global ulong *keys)
{
    const uint item = get_global_id(0);
    const uint begin = MIN(item * each, groups), end = MIN(begin + each, groups);
    if (begin >= end)
        return;
    uint place[BINS + 1];
    for (uint bin = 0; bin < bins; ++bin)
        place[bin] = places[bin * all_items + first_item + item];
    place[bins] = spare + item;
    // a k-mer of another bin goes where nobody looks, which costs less than a branch that cannot be foretold
#define TAKE(key) \
    const uint bin = (uint)(key >> shift) - low, inside = bin < bins, slot = inside ? bin : bins; \
    keys[place[slot]] = key; \
    place[slot] += inside
    EACH_WINDOW(begin, end, groups)
#undef TAKE
}
