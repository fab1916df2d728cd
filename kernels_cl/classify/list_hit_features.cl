// Which features of a read lie in a range of windows: those that it shares with its best candidate.
//
//   features[base + i]   the i-th feature of the reads, whose locations found[i] says
//   ranges[2 * r], ranges[2 * r + 1]   first and last window of read r, through all targets; no range if the last is below the first
//   hit[i]               the feature, or NO_FEATURE where it has no location in the range of its read
//
// A work-item takes `each` reads.
#include "common/portable.clh"
#include "classify/found_features.clh"
#include "classify/hashes.clh"

// Whether one of `count` ascending windows is first .. last.
static inline int lies_within(__global const uint *list, uint count, uint first, uint last)
{
    uint low = 0;
    while (low < count) {
        const uint middle = low + (count - low) / 2;
        if (list[middle] < first)
            low = middle + 1;
        else if (list[middle] > last)
            count = middle;
        else
            return 1;
    }
    return 0;
}

__kernel void list_hit_features(FOUND, __global const uint *features, ulong base, __global const uint *ranges, uint reads, uint each,
                                __global uint *hit)
{
    const uint begin = get_global_id(0) * each;
    for (uint read = begin; read < reads && read < begin + each; ++read) {
        const uint from = ranges[2 * (ulong)read], to = ranges[2 * (ulong)read + 1];
        for (ulong i = FIRST_FEATURE(read); i < FIRST_FEATURE(read + 1); ++i) {
            const uint count = COUNT_OF(found[i]), place = PLACE_OF(found[i]);
            const int within =
                count == 1 ? place >= from && place <= to : lies_within(locations + (count ? place : 0), count, from, to);
            hit[i] = within ? features[base + i] : NO_FEATURE;
        }
    }
}
