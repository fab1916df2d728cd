// All locations of reads, sorted, for those who want to see them rather than the candidates. A work-item takes `each` reads.
//
//   count_locations_of_reads   located[r]
//   sort_locations             lists[places[r] - places[from]] and on: the windows of read r in ascending order, each as often as
//                              it is hit, for `reads` reads from `from` on; spare: as large as lists
#include "common/portable.clh"
#include "classify/found_features.clh"
#include "classify/sort_list.clh"

__kernel void count_locations_of_reads(FOUND, uint reads, uint each, __global uint *located)
{
    const uint begin = get_global_id(0) * each;
    for (uint read = begin; read < reads && read < begin + each; ++read)
        located[read] = count_locations(found, FIRST_FEATURE(read), FIRST_FEATURE(read + 1));
}

__kernel void sort_locations(FOUND, uint from, uint reads, uint each, __global const ulong *places, __global uint *lists,
                             __global uint *spare)
{
    const uint begin = get_global_id(0) * each;
    for (uint i = begin; i < reads && i < begin + each; ++i) {
        const uint read = from + i;
        const ulong place = places[read] - places[from];
        __global uint *list = lists + place;
        const uint size = gather(found, FIRST_FEATURE(read), FIRST_FEATURE(read + 1), locations, 0, 0, 0, list);
        __global const uint *sorted = sort_list(list, spare + place, size);
        if (sorted != list)
            for (uint j = 0; j < size; ++j)
                list[j] = sorted[j];
    }
}
