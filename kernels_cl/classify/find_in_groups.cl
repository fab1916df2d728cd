// The candidates of reads as find_candidates.cl finds them, for GPUs: a work-group a read, its locations in local memory.
//
// The locations are sorted by a bitonic network. Each work-item then looks at every LANES-th one as the end of a range, whose
// begin it finds by bisection, and keeps the best: the one with the most hits, of several the first. As locations are in the
// order of targets, the best of all work-items is the first candidate; the next one is the best of those whose taxon is none of
// the candidates so far, and so on. What the work-items say is brought together by a maximum, so their order does not matter.
//
// Without LISTED the reads are those of a row, and `located` is written; with LISTED those of `listed`. Of reads with more than
// CAPACITY locations nothing else is written.
//
// -D LISTED=0|1
// -D LANES=n       work-group size
// -D CAPACITY=n    a power of two, at most 32,768: a range is told by its hits and its end in 32 bits
#include "common/portable.clh"
#include "classify/found_features.clh"

#define LOW_MASK 0xffffu

typedef struct {
    uint low, high;     // sums of the lower and the upper halves of counts
    uint filled;        // of the list
    uint best;          // of a round
    int taken[MAX_CANDIDATES];
} Shared;

// The number of locations of a read, or 2^32 - 1 if there are more. Halves are summed apart, as sums of them cannot overflow.
static inline uint count_together(__global const ulong *found, ulong begin, ulong end, __local Shared *shared)
{
    const uint lane = get_local_id(0);
    if (lane == 0)
        shared->low = shared->high = shared->filled = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    ulong sum = 0;
    for (ulong i = begin + lane; i < end; i += LANES)
        sum += COUNT_OF(found[i]);
    if (sum) {
        atomic_add(&shared->low, (uint)sum & LOW_MASK);
        atomic_add(&shared->high, (uint)MIN(sum >> 16, (ulong)1 << 16));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong all = ((ulong)shared->high << 16) + shared->low;
    return all >> 32 ? 0xffffffffu : (uint)all;
}

// Brings together the locations of a read, in any order.
static inline void gather(__global const ulong *found, ulong begin, ulong end, __global const uint *locations,
                          __local uint *list, __local Shared *shared)
{
    for (ulong i = begin + get_local_id(0); i < end; i += LANES) {
        const ulong one = found[i];
        const uint count = COUNT_OF(one), place = PLACE_OF(one);
        if (count == 0)
            continue;
        const uint to = atomic_add(&shared->filled, count);
        if (count == 1)
            list[to] = place;
        else
            for (uint j = 0; j < count; ++j)
                list[to + j] = locations[place + j];
    }
}

// Sorts a list, which is filled up to the next power of two.
static inline void sort_list(__local uint *list, uint size)
{
    const uint lane = get_local_id(0);
    uint whole = 1;
    while (whole < size)
        whole *= 2;
    for (uint i = size + lane; i < whole; i += LANES)
        list[i] = 0xffffffffu;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint run = 2; run <= whole; run *= 2)
        for (uint apart = run / 2; apart; apart /= 2) {
            for (uint pair = lane; pair < whole / 2; pair += LANES) {
                const uint i = 2 * pair - (pair & (apart - 1)), j = i + apart;
                const uint a = list[i], b = list[j];
                if ((a > b) == !(i & run)) {
                    list[i] = b;
                    list[j] = a;
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
}

// The first of items 0 .. end - 1 that is not below a value; the item at `end` is not.
static inline uint lower_bound(__local const uint *list, uint end, uint value)
{
    uint low = 0, high = end;
    while (low < high) {
        const uint middle = (low + high) / 2;
        if (list[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Ranges as numbers, the best one the largest: most hits, then the first end.
#define RANGE(hits, end) ((hits) << 16 | (LOW_MASK - (end)))
#define HITS_OF(range) ((range) >> 16)
#define END_OF(range) (LOW_MASK - ((range) & LOW_MASK))

static inline uint is_taken(__local const Shared *shared, uint count, int group)
{
    uint taken = group == NO_TAXON;
    for (uint i = 0; i < count; ++i)
        taken |= shared->taken[i] == group;
    return taken;
}

// The best range that ends at this work-item's locations, of targets whose taxa are not among the first `count`; 0 for none.
static inline uint best_range(__local const uint *list, uint size, uint width, TARGETS, __local const Shared *shared,
                              uint count)
{
    uint best = 0;
    for (uint i = get_local_id(0); i < size; i += LANES) {
        const uint window = list[i];
        uint begin = lower_bound(list, i, window < width ? 0 : window - width + 1);
        if (RANGE(i + 1 - begin, i) <= best)
            continue;
        const uint target = target_of(first_window, blocks, window), start = first_window[target];
        if (list[begin] < start)
            begin = lower_bound(list, i, start);
        const uint range = RANGE(i + 1 - begin, i);
        if (range > best && !is_taken(shared, count, groups[target]))
            best = range;
    }
    return best;
}

// Writes the candidates of a sorted list; returns how many there are.
static inline uint find_in_list(__local const uint *list, uint size, uint width, TARGETS, uint maxcand, ulong plane,
                                __global uint *slots, __local Shared *shared)
{
    uint count = 0;
    for (; count < maxcand; ++count) {
        if (get_local_id(0) == 0)
            shared->best = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint own = best_range(list, size, width, first_window, blocks, groups, shared, count);
        if (own)
            atomic_max(&shared->best, own);
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint range = shared->best;
        if (range == 0)
            break;
        if (range == own) {
            const uint end = END_OF(range), hits = HITS_OF(range), last = list[end];
            const uint target = target_of(first_window, blocks, last), start = first_window[target];
            put_candidate(slots, plane, count, target, hits, list[end + 1 - hits] - start, last - start);
            shared->taken[count] = groups[target];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return count;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void find_in_groups(FOUND, TARGETS, CANDIDATES, __global const uint *listed)
{
    __local uint list[CAPACITY];
    __local Shared shared;
    const uint lane = get_local_id(0);
#if LISTED
    const uint read = listed[get_group_id(0)];
#else
    const uint read = get_group_id(0);
#endif
    const ulong begin = FIRST_FEATURE(read), end = FIRST_FEATURE(read + 1);
    const uint size = count_together(found, begin, end, &shared);
#if !LISTED
    if (lane == 0)
        located[read] = size;
#endif
    if (size > CAPACITY)
        return;
    __global uint *slots = best + (ulong)read * maxcand;
    uint count = 0;
    if (size) {
        gather(found, begin, end, locations, list, &shared);
        sort_list(list, size);
        count = find_in_list(list, size, widths[read], first_window, blocks, groups, maxcand, plane, slots, &shared);
    }
    for (uint slot = count + lane; slot < maxcand; slot += LANES)
        put_candidate(slots, plane, slot, NO_TARGET, 0, 0, 0);
}
