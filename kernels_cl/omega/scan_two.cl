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

#if VW == 1
#define ANY(x) (x)
#else
#define ANY(x) any(x)
#endif

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void scan_two(BLOCK_ARGUMENTS, int lanes_i, int load, __global float *candidate_omega, __global int *candidate_i, __global int *candidate_j)
{
    __local scored_t lanes[LANES];
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
    for (int v = 0; v < COLUMNS / VW; v++) {
        best_v[v] = 0.0f;
        best_j_v[v] = 0;
    }
    for (int j = begin; j < end; j += lanes_j) {
        const int m = j - c;
        const sum_t right = m > 1 ? sums[AT(j, c + 1)] : 0;
        // left borders of this item with a left part of m - border to m + border sites
        const int from = MAX(i0, c + 1 - m - border) - i0, to = MIN(MIN(i0 + COLUMNS - 1, inner_left), c + 1 - m + border) - i0;
        if (from > to)
            continue;
        __global const sum_t *row = sums + AT(j, i0);
        for (int v = from / VW; v <= to / VW; v++) {
            const int_v x = v * VW + LANE_NUMBERS;
            const float_v omega = omega_of(LOAD_V(sum, row + v * VW), LOAD_V(sum, left + place + v * VW), LOAD_V(float, left_float + place + v * VW),
                                           right, (float)right, c + 1 - i0 - x, m, epsilon);
            const int_v inside = (x >= from) & (x <= to);
#if RANKED
            // omegas too near to the best so far to be told apart in float32 are ranked, one by one
            const float_v reach = NEAR * best_v[v];
            const int_v better = (omega > best_v[v] + reach) & inside;
            if (ANY(inside & (omega > 0.0f) & (omega >= best_v[v] - reach) & (omega <= best_v[v] + reach)))
                for (int l = 0; l < VW; l++) {
                    const int place_here = v * VW + l;
                    const scored_t other = {((const float *)&omega)[l], i0 + place_here, j};
                    const scored_t own = {((const float *)best_v)[place_here], i0 + place_here, ((const int *)best_j_v)[place_here]};
                    if (place_here >= from && place_here <= to && is_near(other.omega, own.omega) && is_better(other, own, SUMS_VALUES)) {
                        ((float *)best_v)[place_here] = other.omega;
                        ((int *)best_j_v)[place_here] = j;
                    }
                }
#else
            const int_v better = (omega > best_v[v]) & inside;
#endif
            best_j_v[v] = better ? (int_v)j : best_j_v[v];
            best_v[v] = better ? omega : best_v[v];
        }
    }
    const float *best = (const float *)best_v;
    const int *best_j = (const int *)best_j_v;
    scored_t own = {best[0], i0, best_j[0]};
    for (int x = 1; x < COLUMNS; x++) {
        const scored_t other = {best[x], i0 + x, best_j[x]};
        if (is_better(other, own, SUMS_VALUES))
            own = other;
    }
    const int candidate = ((int)get_group_id(2) * (int)get_num_groups(1) + (int)get_group_id(1)) * (int)get_num_groups(0) + (int)get_group_id(0);
    write_candidate(own, lanes, candidate, candidate_omega, candidate_i, candidate_j, SUMS_VALUES);
}
