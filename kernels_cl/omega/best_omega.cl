// best_omega: merges the candidates of one block into the best borders so far of each window, and reads the exact sums there while the block is at
// hand, from which the host recomputes the winner's omega in float64. One work-group of LANES items a window.
#include "common/portable.clh"
#include "omega/layout.clh"
#include "omega/score.clh"

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void best_omega(__global const float *candidate_omega, __global const int *candidate_i, __global const int *candidate_j,
                         int candidates, __global const sum_t *sums, __global const sum_t *left, __global const int *windows, int window0,
                         int left_stride, int row0, int col0, int stride, __global float *best, __global int *best_i, __global int *best_j,
                         __global sum_t *within, __global sum_t *cross)
{
    __local float omegas[LANES];
    __local int is[LANES], js[LANES];
    __global const int *window = windows + (window0 + (int)get_group_id(0)) * WINDOW_FIELDS;
    const int lane = get_local_id(0), target = window[TARGET];
    const size_t base = (size_t)get_group_id(0) * candidates;
    float omega = 0.0f;
    int i = -1, j = 0;
    for (int n = lane; n < candidates; n += LANES) {
        const float w = candidate_omega[base + n];
        if (is_better(w, candidate_i[base + n], candidate_j[base + n], omega, i, j)) {
            omega = w;
            i = candidate_i[base + n];
            j = candidate_j[base + n];
        }
    }
    omegas[lane] = omega;
    is[lane] = i;
    js[lane] = j;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane > 0)
        return;
    for (int l = 1; l < LANES; l++)
        if (is_better(omegas[l], is[l], js[l], omega, i, j)) {
            omega = omegas[l];
            i = is[l];
            j = js[l];
        }
    if (!is_better(omega, i, j, best[target], best_i[target], best_j[target]))
        return;
    const int c = window[CENTRE];
    const sum_t left_sum = left[(size_t)window[SLOT] * left_stride + (i - window[FIRST])];
    const sum_t right_sum = j > c + 1 ? sums[AT(j, c + 1)] : 0;
    best[target] = omega;
    best_i[target] = i;
    best_j[target] = j;
    within[target] = left_sum + right_sum;
    cross[target] = (sums[AT(j, i)] - left_sum) - right_sum;
}
