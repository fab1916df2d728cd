// The candidates of reads with many locations, a work-item a read: for CPUs.
//
// All locations of a read's features are sorted, and two pointers go through them (ranges.clh).
//
// Work-item i takes the read listed[2 * i]; there is room for twice its locations from lists[listed[2 * i + 1]] on.
//
// -D REPEATS=0|1   see found_features.clh
#include "common/portable.clh"
#include "classify/found_features.clh"
#include "classify/ranges.clh"
#include "classify/sort_list.clh"

static inline void find_in_list(__global const uint *list, uint size, uint width, TARGETS, uint maxcand, ulong plane,
                                __global uint *slots)
{
    uint count = 0, left = 0, start = 0, stop = 0; // start .. stop - 1: windows of the target
    Range range = {NO_TARGET, 0, 0, 0};
    for (uint i = 0; i < size; ++i) {
        const uint window = list[i];
        if (window >= stop) {
            if (range.hits)
                count = put_range(range, start, targets, maxcand, plane, slots, count);
            range.target = target_of(targets, blocks, window);
            range.hits = 0;
            start = FIRST_WINDOW(range.target);
            stop = FIRST_WINDOW(range.target + 1);
            left = i;
        }
        while (window - list[left] >= width)
            ++left;
        if (i + 1 - left > range.hits) {
            range.hits = i + 1 - left;
            range.first = list[left];
            range.last = window;
        }
    }
    if (range.hits)
        count = put_range(range, start, targets, maxcand, plane, slots, count);
    for (; count < maxcand; ++count)
        put_candidate(slots, plane, count, NO_TARGET, 0, 0, 0);
}

__kernel ALONE void find_candidates(FOUND, TARGETS, CANDIDATES, __global const ulong *listed, __global uint *lists)
{
    const uint item = get_global_id(0), read = listed[2 * item];
    __global uint *list = lists + listed[2 * item + 1];
    const uint size = gather(found, FIRST_FEATURE(read), FIRST_FEATURE(read + 1), locations, APART(read), targets, blocks, list);
    list = sort_list(list, list + located[read], size);
    find_in_list(list, size, widths[read], targets, blocks, maxcand, PLANE, BEST(read));
}
