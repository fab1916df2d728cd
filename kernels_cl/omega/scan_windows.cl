// scan_one and scan_two: the best borders of every window among the rows of one block (Kernels I and II of the paper, section IV).
//
// Both read M where it lies. Each work-group writes one candidate (omega, i, j); best_omega.cl picks the best of them.
//
// Kernel I (few scores): one score a work-item, right border and left border from the flat index, so that only the tail is padding.
// Kernel II (many scores): a work-item keeps its left border(s) and walks `load` rows. Lanes lie along the left borders, which are
// neighbours in memory; `lanes_i` of a work-group's lanes lie along a row and the rest over further rows, so that a short left side does not
// leave lanes idle (the order switch of the paper, without repacking M).
//
// -D COLUMNS=n   left borders a work-item walks in Kernel II: 1 on GPUs, some hundred on CPUs, whose compilers vectorise that loop
// -D LANES=n     work-group size
// Grid of Kernel II: left borders, rows, windows. Grid of Kernel I: scores, -, windows.
#include "common/portable.clh"
#include "omega/layout.clh"
#include "omega/score.clh"

#ifndef COLUMNS
#define COLUMNS 1
#endif

#define BLOCK_ARGUMENTS                                                                                                                        \
    __global const sum_t *sums, __global const sum_t *left, __global const float *left_float, __global const int *windows, int window0,          \
        int left_stride, int row0, int rows, int col0, int stride, int border, float epsilon

// The best candidate of the work-group, written by its first lane.
static inline void write_candidate(float omega, int i, int j, __local float *omegas, __local int *is, __local int *js, int place,
                                   __global float *out_omega, __global int *out_i, __global int *out_j)
{
#if LANES > 1
    const int lane = get_local_id(0);
    omegas[lane] = omega;
    is[lane] = i;
    js[lane] = j;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int reach = LANES / 2; reach > 0; reach >>= 1) {
        if (lane < reach && is_better(omegas[lane + reach], is[lane + reach], js[lane + reach], omegas[lane], is[lane], js[lane])) {
            omegas[lane] = omegas[lane + reach];
            is[lane] = is[lane + reach];
            js[lane] = js[lane + reach];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane > 0)
        return;
    omega = omegas[0];
    i = is[0];
    j = js[0];
#endif
    out_omega[place] = omega;
    out_i[place] = i;
    out_j[place] = j;
}

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void scan_one(BLOCK_ARGUMENTS, __global float *out_omega, __global int *out_i, __global int *out_j)
{
    __local float omegas[LANES];
    __local int is[LANES], js[LANES];
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
    write_candidate(omega, i, j, omegas, is, js, place, out_omega, out_i, out_j);
}

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void scan_two(BLOCK_ARGUMENTS, int lanes_i, int load, __global float *out_omega, __global int *out_i, __global int *out_j)
{
    __local float omegas[LANES];
    __local int is[LANES], js[LANES];
    __global const int *window = windows + (window0 + (int)get_group_id(2)) * WINDOW_FIELDS;
    const int c = window[CENTRE], first = window[FIRST], inner_left = window[INNER_LEFT];
    const int lane = get_local_id(0), lanes_j = LANES / lanes_i;
    const int i0 = first + ((int)get_group_id(0) * lanes_i + lane % lanes_i) * COLUMNS;
    const int row_low = MAX(window[INNER_RIGHT], row0), row_high = MIN(window[LAST], row0 + rows - 1);
    const int begin = row_low + (int)get_group_id(1) * load * lanes_j + lane / lanes_i;
    const int end = MIN(begin + load * lanes_j, row_high + 1);
    const size_t place = (size_t)window[SLOT] * left_stride + (i0 - first);
    __global const sum_t *restrict left_here = left + place;
    __global const float *restrict left_float_here = left_float + place;
    float best[COLUMNS];
    int best_j[COLUMNS];
    for (int x = 0; x < COLUMNS; x++) {
        best[x] = 0.0f;
        best_j[x] = 0;
    }
    for (int j = begin; j < end; j += lanes_j) {
        const int m = j - c;
        const sum_t right = m > 1 ? sums[AT(j, c + 1)] : 0;
        const float right_float = (float)right;
        // left borders of this item with a left part of m - border to m + border sites
        const int from = MAX(i0, c + 1 - m - border) - i0, to = MIN(MIN(i0 + COLUMNS - 1, inner_left), c + 1 - m + border) - i0;
        __global const sum_t *restrict row = sums + AT(j, i0);
        for (int x = from; x <= to; x++) {
            const float omega = omega_of(row[x], left_here[x], left_float_here[x], right, right_float, c + 1 - i0 - x, m, epsilon);
            best_j[x] = omega > best[x] ? j : best_j[x];
            best[x] = omega > best[x] ? omega : best[x];
        }
    }
    float omega = best[0];
    int i = i0, j = best_j[0];
    for (int x = 1; x < COLUMNS; x++)
        if (is_better(best[x], i0 + x, best_j[x], omega, i, j)) {
            omega = best[x];
            i = i0 + x;
            j = best_j[x];
        }
    const int candidate = ((int)get_group_id(2) * (int)get_num_groups(1) + (int)get_group_id(1)) * (int)get_num_groups(0) + (int)get_group_id(0);
    write_candidate(omega, i, j, omegas, is, js, candidate, out_omega, out_i, out_j);
}
