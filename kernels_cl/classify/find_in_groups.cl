// The candidates of reads as find_candidates.cl finds them, for GPUs: a work-group a read.
//
// The locations are sorted by a bitonic network. Each work-item then looks at every LANES-th one as the end of a range, whose
// begin it finds by bisection, and keeps the best: the one with the most hits, of several the first. As locations are in the
// order of targets, the best of all work-items is the first candidate; the next one is the best of those whose taxon is none of
// the candidates so far, and so on. What the work-items say is brought together by a maximum of hits and then a minimum of ends,
// so their order does not matter.
//
// Without LISTED the reads are those of a row, and `located` is written; with LISTED they are
// listed[0], listed[2], ... Of reads with more than
// CAPACITY locations nothing else is written. With CAPACITY 0 there is no such limit: lists are in global memory, that of
// listed[2 * i] from listed[2 * i + 1] on, with room for the next power of two.
//
// -D REPEATS=0|1   see found_features.clh
// -D LISTED=0|1
// -D LANES=n       work-group size
// -D CAPACITY=n    a power of two: locations in local memory; or 0
#include "common/portable.clh"
#include "classify/found_features.clh"

#define LOW_MASK 0xffffu
#define NO_END 0xffffffffu

#if CAPACITY
#define LIST __local uint
#define FENCE CLK_LOCAL_MEM_FENCE
#else
#define LIST __global uint
#define FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

typedef struct {
    uint low, high;    // sums of the lower and the upper halves of counts
    uint filled;       // of the list
    uint hits, end;    // of the best range of a round
    int taken[MAX_CANDIDATES];
} Shared;

// A range, by its hits and the location at which it ends.
typedef struct {
    uint hits, end;
} Range;

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

// Brings together the locations of a read that count, in any order; returns how many.
static inline uint gather(__global const ulong *found, ulong begin, ulong end, __global const uint *locations, uint apart,
                          TARGETS, LIST *list, __local Shared *shared)
{
    for (ulong i = begin + get_local_id(0); i < end; i += LANES) {
        const ulong one = found[i];
        const uint count = COUNT_OF(one), place = PLACE_OF(one);
        if (count == 0)
            continue;
        if (count == 1) {
            list[atomic_inc(&shared->filled)] = place;
            continue;
        }
        uint counting = 0;
        for (uint j = 0; j < count; j = next_counting(locations + place, j, count, apart, targets, blocks))
            ++counting;
        uint to = atomic_add(&shared->filled, counting);
        for (uint j = 0; j < count; j = next_counting(locations + place, j, count, apart, targets, blocks))
            list[to++] = locations[place + j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return shared->filled;
}

// Sorts a list, which is filled up to the next power of two.
static inline void sort_list(LIST *list, uint size)
{
    const uint lane = get_local_id(0);
    uint whole = 1;
    while (whole < size)
        whole *= 2;
    for (uint i = size + lane; i < whole; i += LANES)
        list[i] = 0xffffffffu;
    barrier(FENCE);
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
            barrier(FENCE);
        }
}

// The first of items 0 .. end - 1 that is not below a value; the item at `end` is not.
static inline uint lower_bound(const LIST *list, uint end, uint value)
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

static inline uint is_taken(__local const Shared *shared, uint count, int group)
{
    uint taken = group == NO_TAXON;
    for (uint i = 0; i < count; ++i)
        taken |= shared->taken[i] == group;
    return taken;
}

// The best range that ends at this work-item's locations, of targets whose taxa are not among the first `count`.
static inline Range best_range(const LIST *list, uint size, uint width, TARGETS, __local const Shared *shared, uint count)
{
    Range best = {0, NO_END};
    for (uint i = get_local_id(0); i < size; i += LANES) {
        const uint window = list[i];
        uint begin = lower_bound(list, i, window < width ? 0 : window - width + 1);
        if (i + 1 - begin <= best.hits)
            continue;
        const uint target = target_of(targets, blocks, window), start = FIRST_WINDOW(target);
        if (list[begin] < start)
            begin = lower_bound(list, i, start);
        if (i + 1 - begin > best.hits && !is_taken(shared, count, GROUP(target))) {
            best.hits = i + 1 - begin;
            best.end = i;
        }
    }
    return best;
}

// Brings together the best ranges of all work-items; returns the hits of the best one, whose end is in `shared`.
static inline uint best_of_all(Range own, __local Shared *shared)
{
    if (get_local_id(0) == 0) {
        shared->hits = 0;
        shared->end = NO_END;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (own.hits)
        atomic_max(&shared->hits, own.hits);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint hits = shared->hits;
    if (hits && own.hits == hits)
        atomic_min(&shared->end, own.end);
    barrier(CLK_LOCAL_MEM_FENCE);
    return hits;
}

// Writes the candidates of a sorted list; returns how many there are.
static inline uint find_in_list(const LIST *list, uint size, uint width, TARGETS, uint maxcand, ulong plane,
                                __global uint *slots, __local Shared *shared)
{
    uint count = 0;
    for (; count < maxcand; ++count) {
        const Range own = best_range(list, size, width, targets, blocks, shared, count);
        const uint hits = best_of_all(own, shared);
        if (hits == 0)
            break;
        if (shared->end == own.end) {
            const uint last = list[own.end], target = target_of(targets, blocks, last), start = FIRST_WINDOW(target);
            put_candidate(slots, plane, count, target, hits, list[own.end + 1 - hits] - start, last - start);
            shared->taken[count] = GROUP(target);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    return count;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void find_in_groups(FOUND, TARGETS, CANDIDATES, __global const ulong *listed, __global uint *lists)
{
    __local Shared shared;
    const uint lane = get_local_id(0), group = get_group_id(0);
#if CAPACITY
    __local uint list[CAPACITY];
#else
    __global uint *list = lists + listed[2 * group + 1];
#endif
#if LISTED
    const uint read = listed[2 * group];
#else
    const uint read = group;
#endif
    const ulong begin = FIRST_FEATURE(read), end = FIRST_FEATURE(read + 1);
    const uint size = count_together(found, begin, end, &shared);
#if !LISTED
    if (lane == 0)
        located[read] = size;
#endif
#if CAPACITY
    if (size > CAPACITY)
        return;
#endif
    __global uint *slots = BEST(read);
    uint count = 0;
    if (size) {
        const uint counting = gather(found, begin, end, locations, APART(read), targets, blocks, list, &shared);
        sort_list(list, counting);
        count = find_in_list(list, counting, widths[read], targets, blocks, maxcand, PLANE, slots, &shared);
    }
    for (uint slot = count + lane; slot < maxcand; slot += LANES)
        put_candidate(slots, PLANE, slot, NO_TARGET, 0, 0, 0);
}
