// draft
#include "common/portable.clh"
#include "classify/found_features.clh"
#include "classify/ranges.clh"
#include "classify/sort_lanes.clh"

#define ROW (CAPACITY + LANES)

typedef uint4 four_items __attribute__((aligned(4)));

static inline uint gather_row(__global const ulong *found, ulong begin, ulong end, __global const uint *locations,
                              ulong all, uint *row)
{
    uint size = 0;
    for (ulong i = begin; i < end; ++i) {
        const ulong one = found[i];
        const uint count = COUNT_OF(one), place = PLACE_OF(one);
        const ulong from = count > 1 ? place : 0;
        if (from + count + 3 > all) {
            for (uint j = 0; j < count; ++j)
                row[size + j] = count > 1 ? locations[from + j] : place;
        } else {
            uint4 items = *(__global const four_items *)(locations + from);
            items.s0 = count > 1 ? items.s0 : place;
            *(four_items *)(row + size) = items;
            for (uint j = 4; j < count; j += 4)
                *(four_items *)(row + size + j) = *(__global const four_items *)(locations + from + j);
        }
        size += count;
    }
    return size;
}

static inline void find_in_lane(const uint *items, const uint *next, uint size, uint width, TARGETS, uint maxcand, ulong plane,
                                __global uint *slots)
{
    uint count = 0, left = 0, start = 0, stop = 0, end;
    Range range = {NO_TARGET, 0, 0, 0};
    for (uint i = 0; i < size; i = end) {
        const uint window = items[i * LANES];
        end = next[(i + 1) * LANES];
        if (window >= stop) {
            if (range.hits)
                count = put_range(range, start, groups, maxcand, plane, slots, count);
            range.target = target_of(first_window, blocks, window);
            range.hits = 0;
            start = first_window[range.target];
            stop = first_window[range.target + 1];
            left = i;
        }
        while (window - items[left * LANES] >= width)
            left = next[(left + 1) * LANES];
        if (end - left > range.hits) {
            range.hits = end - left;
            range.first = items[left * LANES];
            range.last = window;
        }
    }
    if (range.hits)
        count = put_range(range, start, groups, maxcand, plane, slots, count);
    for (; count < maxcand; ++count)
        put_candidate(slots, plane, count, NO_TARGET, 0, 0, 0);
}

static inline void find_starts(const lanes *x, uint slots, lanes *next)
{
    lanes at = slots;
    next[slots] = at;
    for (uint i = slots - 1; i; --i) {
        at = x[i] != x[i - 1] ? (lanes)i : at;
        next[i] = at;
    }
}

__kernel
__attribute__((vec_type_hint(lanes)))
void find_in_lanes(FOUND, TARGETS, CANDIDATES, uint reads, uint each, ulong all)
{
    lanes memory[ROW], sorted[CAPACITY + LANES];
    uint *rows = (uint *)memory;
    for (uint begin = get_global_id(0) * each; begin < reads && begin < (get_global_id(0) + 1) * each; begin += LANES) {
        uint most = 0;
        const uint taken = MIN((uint)LANES, reads - begin);
        uint own[LANES];
        for (uint lane = 0; lane < LANES; ++lane) {
            const uint read = begin + lane;
            own[lane] = 0;
            if (lane >= taken)
                continue;
            const ulong from = FIRST_FEATURE(read), to = FIRST_FEATURE(read + 1);
            uint size = count_locations(found, from, to);
            located[read] = size;
            if (size > CAPACITY)
                continue;
            own[lane] = size;
            most = MAX(most, size);
            gather_row(found, from, to, locations, all, rows + lane * ROW);
        }
        const uint slots = CEIL_DIV(most, LANES) * LANES;
        for (uint lane = 0; lane < LANES; ++lane)
            for (uint i = own[lane]; i < slots; ++i)
                rows[lane * ROW + i] = 0xffffffffu;
        turn_rows(rows, ROW, slots, sorted);
        sort_lanes(sorted, slots);
        if (slots)
            find_starts(sorted, slots, memory);
        for (uint lane = 0; lane < taken; ++lane) {
            const uint read = begin + lane;
            if (located[read] <= CAPACITY)
            find_in_lane((uint *)sorted + lane, (uint *)memory + lane, own[lane], widths[read], first_window, blocks, groups, maxcand, plane, best + (ulong)read * maxcand);
        }
    }
}
