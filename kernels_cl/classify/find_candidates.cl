// The candidates of reads with many locations, a work-item a read: for CPUs.
//
// All locations of a read's features are sorted, and two pointers go through them (ranges.clh).
//
// A work-item takes `each` of the `reads` that are `listed`, one after the other. There is room for twice their locations, from
// lists[places[i]] on.
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
                count = put_range(range, start, groups, maxcand, plane, slots, count);
            range.target = target_of(first_window, blocks, window);
            range.hits = 0;
            start = first_window[range.target];
            stop = first_window[range.target + 1];
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
        count = put_range(range, start, groups, maxcand, plane, slots, count);
    for (; count < maxcand; ++count)
        put_candidate(slots, plane, count, NO_TARGET, 0, 0, 0);
}

__kernel void find_candidates(FOUND, TARGETS, CANDIDATES, uint reads, uint each, __global const uint *listed,
                              __global const ulong *places, __global uint *lists)
{
    const uint item = get_global_id(0);
    for (uint i = item * each; i < reads && i < (item + 1) * each; ++i) {
        const uint read = listed[i];
        __global uint *list = lists + places[i];
        const uint size = gather(found, FIRST_FEATURE(read), FIRST_FEATURE(read + 1), locations, APART(read), first_window, blocks, list);
        list = sort_list(list, list + located[read], size);
        find_in_list(list, size, widths[read], first_window, blocks, groups, maxcand, plane, best + (ulong)read * maxcand);
    }
}
