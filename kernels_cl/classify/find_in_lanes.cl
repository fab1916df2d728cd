// The candidates of reads with few locations, LANES reads at a time: for CPUs.
//
// The locations of a read are gathered into a row. The rows are turned into columns, a read in each lane of the vectors, and all
// lanes are sorted at once by one network. From the end of the columns the place where the next other window starts is carried
// back, so that the pass over a read's sorted locations (ranges.clh has what it looks for) goes from window to window.
//
// A work-item takes `each` reads, a multiple of LANES. Of reads that have more than CAPACITY locations only `located` is right.
// There are `stored` locations in all.
//
// -D REPEATS=0|1    see found_features.clh
// -D LANES=8|16     reads in a vector
// -D CAPACITY=      locations of a read at most, a multiple of LANES
#include "common/portable.clh"
#include "classify/found_features.clh"
#include "classify/ranges.clh"
#include "classify/sort_lanes.clh"

#define ROW (CAPACITY + LANES) // rows are written by four items, and columns have an end

typedef uint4 items4 __attribute__((aligned(4)));

// Ask for the lists of reads from .. to - 1. This built-in is no function but at most an instruction, and no load does what it
// does: loads that miss the caches keep all that comes after them from being finished.
static inline void prefetch_lists(FOUND, uint from, uint to)
{
    if (from >= to)
        return;
    const ulong end = FIRST_FEATURE(to);
    for (ulong i = FIRST_FEATURE(from); i < end; ++i)
        prefetch(locations + (COUNT_OF(found[i]) > 1 ? PLACE_OF(found[i]) : 0), 1);
}

// Which of items 0 to 3 of a feature's list are followed by one that is fewer than `apart` windows behind; `left`: locations there
// and behind. More is read of the list than it has.
static inline int4 are_followed(uint4 items, __global const uint *list, uint left, uint apart)
{
    const uint4 behind = *(__global const items4 *)(list + 1);
    return (behind - items < (uint4)apart) & ((uint4)(1, 2, 3, 4) < (uint4)left);
}

// Brings together the locations of features begin .. end - 1 that count; returns how many.
static inline uint gather_counting(__global const ulong *found, ulong begin, ulong end, __global const uint *locations, uint apart,
                                   TARGETS, uint *row)
{
    uint size = 0;
    for (ulong i = begin; i < end; ++i) {
        const uint count = COUNT_OF(found[i]), place = PLACE_OF(found[i]);
        if (count == 1)
            row[size++] = place;
        else
            for (uint j = 0; j < count; j = next_counting(locations + place, j, count, apart, targets, blocks))
                row[size++] = locations[place + j];
    }
    return size;
}

// Brings together the locations of features begin .. end - 1, and says whether some of a feature are close to each other. Lists mostly have few; four are copied without a look at how many
// there are, which nobody could foresee, and what is too much is overwritten.
static inline uint gather_row(__global const ulong *found, ulong begin, ulong end, __global const uint *locations, ulong stored,
                              uint apart, uint *row)
{
    int4 close = 0;
    for (ulong i = begin; i < end; ++i) {
        const uint count = COUNT_OF(found[i]), place = PLACE_OF(found[i]);
        const ulong from = count > 1 ? place : 0;
        if (from + count + 4 > stored) {
            for (uint j = 0; j < count; ++j) {
                row[j] = count > 1 ? locations[from + j] : place;
                close.s0 |= j && row[j] - row[j - 1] < apart;
            }
        } else {
            const uint4 items = *(__global const items4 *)(locations + from);
            *(items4 *)row = (uint4)count > 1u ? items : (uint4)place;
            close |= are_followed(items, locations + from, count, apart);
            for (uint j = 4; j < count; j += 4) {
                const uint4 more = *(__global const items4 *)(locations + from + j);
                *(items4 *)(row + j) = more;
                close |= are_followed(more, locations + from + j, count - j, apart);
            }
        }
        row += count;
    }
    return (close.s0 | close.s1) | (close.s2 | close.s3) ? 1 : 0;
}

// next[i]: the place of the first window that is another one than that of place i - 1.
static inline void find_starts(const lanes *sorted, uint slots, lanes *next)
{
    lanes start = slots;
    next[slots] = start;
    for (uint i = slots; i-- > 1;) {
        start = sorted[i] != sorted[i - 1] ? (lanes)i : start;
        next[i] = start;
    }
}

// The candidates of one lane's read; `sorted` and `next` point to the lane.
static inline void find_in_lane(const uint *sorted, const uint *next, uint size, uint width, TARGETS, uint maxcand, ulong plane,
                                __global uint *slots)
{
    uint count = 0, left = 0, start = 0, stop = 0, end; // start .. stop - 1: windows of the target
    Range range = {NO_TARGET, 0, 0, 0};
    for (uint i = 0; i < size; i = end) {
        const uint window = sorted[i * LANES];
        end = next[(i + 1) * LANES];
        if (window >= stop) {
            if (range.hits)
                count = put_range(range, start, targets, maxcand, plane, slots, count);
            range.target = target_of(targets, blocks, window);
            range.hits = 0;
            start = FIRST_WINDOW(range.target);
            stop = FIRST_WINDOW(range.target + 1);
            left = i;
        }
        while (window - sorted[left * LANES] >= width)
            left = next[(left + 1) * LANES];
        if (end - left > range.hits) {
            range.hits = end - left;
            range.first = sorted[left * LANES];
            range.last = window;
        }
    }
    if (range.hits)
        count = put_range(range, start, targets, maxcand, plane, slots, count);
    for (; count < maxcand; ++count)
        put_candidate(slots, plane, count, NO_TARGET, 0, 0, 0);
}

// The hint keeps compilers from making vectors of these vectors.
__kernel
__attribute__((vec_type_hint(lanes)))
void find_in_lanes(FOUND, TARGETS, CANDIDATES, uint each, ulong stored)
{
    lanes memory[ROW], sorted[CAPACITY]; // memory: first the rows, then where windows start
    uint *rows = (uint *)memory, sizes[LANES];
    const uint begin = get_global_id(0) * each, end = MIN(begin + each, reads);
    for (uint from = begin; from < end; from += LANES) {
        const uint taken = MIN((uint)LANES, end - from);
        uint most = 0;
        prefetch_lists(found, first, sketch, locations, from == begin ? from : from + LANES, MIN(from + 2 * LANES, end));
        for (uint lane = 0; lane < LANES; ++lane)
            sizes[lane] = 0;
        for (uint lane = 0; lane < taken; ++lane) {
            const ulong own = FIRST_FEATURE(from + lane), next = FIRST_FEATURE(from + lane + 1);
            uint size = count_locations(found, own, next);
            located[from + lane] = size;
            if (size <= CAPACITY) {
                const uint apart = APART(from + lane);
                uint *row = rows + lane * ROW;
                if (gather_row(found, own, next, locations, stored, apart, row))
                    size = gather_counting(found, own, next, locations, apart, targets, blocks, row);
                sizes[lane] = size;
                most = MAX(most, size);
            }
        }
        const uint slots = CEIL_DIV(most, LANES) * LANES;
        if (slots) {
            turn_rows(rows, ROW, sizes, slots, sorted);
            sort_lanes(sorted, slots);
            find_starts(sorted, slots, memory);
        }
        for (uint lane = 0; lane < taken; ++lane)
            find_in_lane((const uint *)sorted + lane, (const uint *)memory + lane, sizes[lane], widths[from + lane], targets,
                         blocks, maxcand, PLANE, BEST(from + lane));
    }
}
