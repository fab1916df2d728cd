// scan_two: Kernel II of the paper (section IV-C), for windows with many scores: a work-item keeps its left border(s) and walks `load` rows.
//
// Lanes lie along the left borders, which are neighbours in memory; `lanes_i` of a work-group's lanes lie along a row and the rest over further
// rows, so that a short left side does not leave lanes idle (the paper's order switch, without repacking M).
//
// -D COLUMNS=n   left borders a work-item walks in each row, a multiple of VW: 1 on GPUs, some hundred on CPUs
// -D VW=n        how many of them at a time
// Grid: left borders, rows, windows.
#include "common/portable.clh"
#include "omega/candidate.clh"

// Left borders of an item, counted from its first one, with a left part of m - border to m + border sites.
#define FROM (MAX(i0, c + 1 - m - border) - i0)
#define TO (MIN(MIN(i0 + COLUMNS - 1, inner_left), c + 1 - m + border) - i0)
#define OMEGA_V(v, place)                                                                                                                      \
    omega_of(LOAD_V(sum, sums + AT(j, i0) + (v) * VW), LOAD_V(sum, left + (place) + (v) * VW), LOAD_V(float, left_float + (place) + (v) * VW), right,      \
             (float)right, c + 1 - i0 - ((v) * VW + LANE_NUMBERS), m, epsilon)

#if RANKED
// The best right border of left border i0 + at, several of which come near to the largest omega `top`.
__attribute__((noinline)) static scored_t settle_column(int at, float top, int i0, int inner_left, int begin, int end, int step, int border,
                                                         __global const long *left, __global const float *left_float, size_t place, SUMS_ARGUMENTS)
{
    scored_t best = {0.0f, i0 + at, 0};
    for (int j = begin; j < end; j += step) {
        const int m = j - c, from = FROM, to = TO;
        if (at < from || at > to)
            continue;
        const long right = m > 1 ? sums[AT(j, c + 1)] : 0;
        const float_v omega = OMEGA_V(at / VW, place);
        const scored_t other = {((const float *)&omega)[at % VW], i0 + at, j};
        if (is_near(other.omega, top) && is_better(other, best, SUMS_VALUES))
            best = other;
    }
    return best;
}
#endif

// What a launch looks at: its first window, rows of the block, and how its lanes walk.
typedef struct {
    int window0, rows, lanes_i, load;
} walk_t;

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void scan_two(__global const sum_t *sums, __global const sum_t *left, __global const float *left_float, __global const int *windows, int row0,
                       int col0, int stride, int left_stride, int border, float epsilon, walk_t walk, __global scored_t *candidates)
{
    __local group_t group;
    const int window0 = walk.window0, rows = walk.rows, lanes_i = walk.lanes_i, load = walk.load;
    __global const int *window = windows + (window0 + (int)get_group_id(2)) * WINDOW_FIELDS;
    const int c = window[CENTRE], first = window[FIRST], inner_left = window[INNER_LEFT];
    const int lane = get_local_id(0), lanes_j = LANES / lanes_i;
    const int i0 = first + ((int)get_group_id(0) * lanes_i + lane % lanes_i) * COLUMNS;
    const int row_low = MAX(window[INNER_RIGHT], row0), row_high = MIN(window[LAST], row0 + rows - 1);
    const int begin = row_low + (int)get_group_id(1) * load * lanes_j + lane / lanes_i;
    const int end = MIN(begin + load * lanes_j, row_high + 1);
    const size_t place = (size_t)window[SLOT] * left_stride + (i0 - first);
    __global const sum_t *left_here = left + (size_t)window[SLOT] * left_stride - first;
    float_v best_v[COLUMNS / VW];
    int_v best_j_v[COLUMNS / VW];
#if RANKED
    float_v second_v[COLUMNS / VW];  // the largest omega but one
#endif
    for (int v = 0; v < COLUMNS / VW; v++) {
        best_v[v] = 0.0f;
        best_j_v[v] = 0;
#if RANKED
        second_v[v] = 0.0f;
#endif
    }
    for (int j = begin; j < end; j += lanes_j) {
        const int m = j - c, from = FROM, to = TO;
        if (from > to)
            continue;
        const sum_t right = m > 1 ? sums[AT(j, c + 1)] : 0;
        for (int v = from / VW; v <= to / VW; v++) {
            const int_v x = v * VW + LANE_NUMBERS;
            const int_v inside = (x >= from) & (x <= to);
            const float_v scored = OMEGA_V(v, place), omega = inside ? scored : (float_v)0.0f;
            const int_v better = omega > best_v[v];
#if RANKED
            const float_v lower = best_v[v] < omega ? best_v[v] : omega;  // NaN, if omega is
            second_v[v] = lower > second_v[v] ? lower : second_v[v];
#endif
            best_j_v[v] = better ? (int_v)j : best_j_v[v];
            best_v[v] = better ? omega : best_v[v];
        }
    }
    const float *best = (const float *)best_v;
    const int *best_j = (const int *)best_j_v;
    float top = best[0];
    for (int x = 1; x < COLUMNS; x++)
        top = MAX(top, best[x]);
    top = top_of_group(top, &group);
    scored_t own = {0.0f, i0, 0};
    for (int x = 0; x < COLUMNS; x++) {
        if (!is_near(best[x], top))
            continue;
        scored_t other = {best[x], i0 + x, best_j[x]};
#if RANKED
        if (is_near(((const float *)second_v)[x], top) && top > 0.0f)
            other = settle_column(x, top, i0, inner_left, begin, end, lanes_j, border, left, left_float, place, SUMS_VALUES);
#endif
        if (is_better(other, own, SUMS_VALUES))
            own = other;
    }
    const int candidate = ((int)get_group_id(2) * (int)get_num_groups(1) + (int)get_group_id(1)) * (int)get_num_groups(0) + (int)get_group_id(0);
    write_candidate(own, top, &group, candidates + candidate, SUMS_VALUES);
}
