// scan_one: Kernel I of the paper (section IV-B), for windows with few scores: one score a work-item.
//
// Right border and left border come from the flat index of the score, so that only the tail of a window is padding. M is read where it
// lies. Grid: scores, -, windows.
#include "common/portable.clh"
#include "omega/candidate.clh"

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void scan_one(__global const sum_t *sums, __global const sum_t *left, __global const float *left_float, __global const int *windows, int window0,
                       block_t block, __global scored_t *candidates)
{
    __local group_t group;
    const int row0 = block.row0, rows = block.rows, col0 = block.col0, stride = block.stride, left_stride = block.left_stride, border = block.border;
    const float epsilon = block.epsilon;
    __global const int *window = windows + (window0 + (int)get_group_id(2)) * WINDOW_FIELDS;
    const int c = window[CENTRE], first = window[FIRST], lefts = window[INNER_LEFT] - first + 1;
    const int row_low = MAX(window[INNER_RIGHT], row0), row_high = MIN(window[LAST], row0 + rows - 1);
    const int score = get_global_id(0);
    const int x = score % lefts, j = row_low + score / lefts;
    const int i = first + x, k = c - i + 1, m = j - c;
    float omega = 0.0f;
    if (j <= row_high && k - m <= border && m - k <= border) {
        const sum_t right = j > c + 1 ? sums[AT(j, c + 1)] : 0;
        const size_t place = (size_t)window[SLOT] * left_stride + x;
        const float w = omega_of(sums[AT(j, i)], left[place], left_float[place], right, (float)right, k, m, epsilon);
        omega = w > 0.0f ? w : 0.0f;  // also drops NaN
    }
    const int place = (int)get_group_id(2) * (int)get_num_groups(0) + (int)get_group_id(0);
    const scored_t own = {omega, i, j};
    __global const sum_t *left_here = left + (size_t)window[SLOT] * left_stride - first;
    write_candidate(own, top_of_group(omega, &group), &group, candidates + place, SUMS_VALUES);
}
