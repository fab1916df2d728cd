// The index of index_features.cl, of features that are packed as docs/classify-format.md has them.
//
// Buckets come piece by piece. keys[] and locations[] hold the numbers of a piece, `width` bits each from the bit `at` on, the first bit
// of a number the lowest one. key_starts[b] and location_starts[b] say how many of them are before those of the bucket b of the piece;
// they ascend, and what they say is there. A location is window << 1 | 1 if it is the last one of its feature. Before the piece,
// `before` features are in the index, and carry[0] locations in the lists.
//
// Whatever keys and locations are, nothing is read or written out of bounds, and faults[0] is set if the keys of a bucket do not ascend,
// a window is not below `windows`, those of a feature do not ascend or are more than `most`, or the features of a bucket do not have just
// its locations.
//
//   count_lists     sums[0] = carry[0], and sums[b + 1]: locations in the lists of the bucket b; to be summed up by an inclusive scan
//   index_buckets   the entries, the table as index_features.cl makes it, and the lists, of which `listed` are in memory; then carry[0]
//   want_features   the filter of some features
//
// A work-item takes `each` buckets: on CPUs many, on GPUs one.
//
// -D WANTED=0|1   1: only features are indexed that pass a filter: the bit key >> shift of wanted[] is set for each one that is wanted.
//                 passed[] and carry[1] are to those that pass as sums[] and carry[0] are to lists. No more than `room` entries are
//                 written, and whether all were is what carry[] says. `bits` are those of a bucket at least.
#include "common/portable.clh"
#include "classify/hashes.clh"

#define WORD 64
#define FILTER_WORD 32

#if WANTED
#define FILTER , __global const uint *wanted, uint shift, __global ulong *passed, ulong room
#define PASSES(key) (wanted[((key) >> shift) / FILTER_WORD] >> ((key) >> shift) % FILTER_WORD & 1)
#else
#define FILTER
#define PASSES(key) 1
#endif

static inline ulong number_at(__global const ulong *words, ulong at, uint width, uint place)
{
    const ulong bit = at + (ulong)place * width, word = bit / WORD;
    const uint shift = bit % WORD;
    ulong found = words[word] >> shift;
    if (shift + width > WORD)
        found |= words[word + 1] << (WORD - shift);
    return found & (((ulong)1 << width) - 1);
}

__kernel void count_lists(__global const ulong *keys, ulong keys_at, uint key_width, __global const uint *key_starts,
                          __global const ulong *locations, ulong locations_at, uint location_width,
                          __global const uint *location_starts, uint first_bucket, uint buckets, uint each,
                          __global const ulong *carry, __global ulong *sums FILTER)
{
    const uint begin = MIN(get_global_id(0) * each, buckets), end = MIN(begin + each, buckets);
    for (uint b = begin; b < end; ++b) {
#if WANTED
        const uint behind = key_starts[b + 1], bucket = (uint)((ulong)(first_bucket + b) << key_width);
        uint feature = key_starts[b];
        passed[b + 1] = 0;
#endif
        ulong sum = 0;
        uint count = 0;
        for (uint i = location_starts[b]; i < location_starts[b + 1]; ++i) {
            const ulong bit = locations_at + (ulong)i * location_width;
            ++count;
            if (locations[bit / WORD] >> (bit % WORD) & 1) {
#if WANTED
                if (feature < behind && PASSES(bucket | (uint)number_at(keys, keys_at, key_width, feature)))
                    ++passed[b + 1];
                else
                    count = 0;
                ++feature;
#endif
                sum += count > 1 ? count : 0;
                count = 0;
            }
        }
        sums[b + 1] = sum;
    }
    if (begin == 0) {
        sums[0] = carry[0];
#if WANTED
        passed[0] = carry[1];
#endif
    }
}

__kernel void index_buckets(__global const ulong *keys, ulong keys_at, uint key_width, __global const uint *key_starts,
                            __global const ulong *locations, ulong locations_at, uint location_width,
                            __global const uint *location_starts, uint first_bucket, uint buckets, uint each, ulong before,
                            __global const ulong *sums, uint bits, uint windows, uint most, __global ulong *entries,
                            __global uint *table, __global uint *lists, ulong listed, __global ulong *carry,
                            __global uint *faults FILTER)
{
    const uint begin = MIN(get_global_id(0) * each, buckets), end = MIN(begin + each, buckets);
    uint wrong = 0;
    for (uint b = begin; b < end; ++b) {
        const uint first = key_starts[b], behind = key_starts[b + 1], located = location_starts[b + 1];
        const uint bucket = (uint)((ulong)(first_bucket + b) << key_width);
        uint place = location_starts[b], key = 0, next = 0;
        ulong list = sums[b];
#if WANTED
        ulong entry = passed[b];
#endif
        if (first < behind)
            next = bucket | (uint)number_at(keys, keys_at, key_width, first);
        for (uint i = first; i < behind; ++i) {
            uint count = 0, head = 0, window = 0;
            ulong location = 0;
            key = next;
            const uint kept = PASSES(key);
            while (!(location & 1) && place < located) {
                const uint above = window;
                location = number_at(locations, locations_at, location_width, place++);
                window = (uint)(location >> 1);
                wrong |= window >= windows || (count && window <= above);
                head = count ? head : window;
                if (kept && count == 1 && list < listed)
                    lists[list] = head;
                if (kept && count && list + count < listed)
                    lists[list + count] = window;
                ++count;
            }
            wrong |= !(location & 1) || count > most;
#if !WANTED
            wrong |= count > 1 && list + count > listed;
#endif
            const ulong made = (ulong)(key << bits | MIN(count, most)) << 32 | (count == 1 ? head : (uint)list);
            list += kept && count > 1 ? count : 0;
#if WANTED
            if (kept && entry < room) {
                entries[entry++] = made;
                table[(key >> (32 - bits)) + 1] = (uint)entry;
            }
#else
            entries[before + i] = made;
#endif
            if (i + 1 < behind) {
                next = bucket | (uint)number_at(keys, keys_at, key_width, i + 1);
                wrong |= next <= key;
            }
#if !WANTED
            if (i + 1 == behind || next >> (32 - bits) != key >> (32 - bits))
                table[(key >> (32 - bits)) + 1] = (uint)before + i + 1;
#endif
        }
        wrong |= place != located;
        if (b + 1 == buckets) {
            carry[0] = sums[buckets];
#if WANTED
            carry[1] = passed[buckets];
#endif
        }
    }
    if (wrong)
        atomic_or(faults, 1u);
}

#if WANTED

__kernel void want_features(__global const uint *features, ulong size, uint shift, __global uint *wanted)
{
    const ulong i = get_global_id(0);
    if (i >= size || features[i] == NO_FEATURE)
        return;
    const uint bit = mix_feature(features[i]) >> shift;
    atomic_or(&wanted[bit / FILTER_WORD], 1u << bit % FILTER_WORD);
}

#endif
