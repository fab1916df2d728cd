// The candidates of reads, a work-item a read: for CPUs.
//
// All locations of a read's features are sorted. Two pointers then go through them: at each location, those of the same target
// in the `width` windows that end there are its hits. The range with the most is the target's, of several the first. Of each
// taxon the best target is a candidate, and the best `maxcand` of those are kept; of equal ones the target that comes first.
//
// A work-item takes `each` reads one after the other. Without LISTED those are reads of a row; lists have room for `room`
// locations, and of reads that have more only `located` is written. With LISTED they are those of `listed`, whose lists have
// room for twice their locations, from places[i] on.
//
// -D LISTED=0|1
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
                              __global const ulong *places, uint room, __global uint *lists)
{
    const uint item = get_global_id(0);
    for (uint i = item * each; i < reads && i < (item + 1) * each; ++i) {
#if LISTED
        const uint read = listed[i];
#else
        const uint read = i;
#endif
        const ulong begin = FIRST_FEATURE(read), end = FIRST_FEATURE(read + 1);
#if LISTED
        const uint size = located[read];
        __global uint *list = lists + places[i];
#else
        uint size = count_locations(found, begin, end);
        located[read] = size;
        size = size > room ? 0 : size;
        __global uint *list = lists + 2 * (ulong)item * room;
#endif
        if (size) {
            gather(found, begin, end, locations, list);
            list = sort_list(list, list + size, size);
        }
        find_in_list(list, size, widths[read], first_window, blocks, groups, maxcand, plane, best + (ulong)read * maxcand);
    }
}
