// best_omega: merges the candidates of one block into the best borders so far of each window, and reads the exact sums there while the block is at
// hand, from which the host recomputes the winner's omega in float64. One work-group of LANES items a window.
// groups: work-groups that wrote a candidate for each window.
#include "common/portable.clh"
#include "omega/candidate.clh"

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void best_omega(__global const scored_t *candidates, int groups, __global const sum_t *sums, __global const sum_t *left,
                         __global const int *windows, int window0, block_t block, BEST_ARGUMENTS)
{
    __local group_t group;
    const int row0 = block.row0, col0 = block.col0, stride = block.stride;
    const float epsilon = block.epsilon;
    __global const int *window = windows + (window0 + (int)get_group_id(0)) * WINDOW_FIELDS;
    const int lane = get_local_id(0), c = window[CENTRE];
    __global const scored_t *here = candidates + (size_t)get_group_id(0) * groups;
    __global const sum_t *left_here = left + (size_t)window[SLOT] * block.left_stride - window[FIRST];
    scored_t own = {0.0f, -1, 0};
    for (int n = lane; n < groups; n += LANES) {
        const scored_t other = here[n];
        if (is_better(other, own, SUMS_VALUES))
            own = other;
    }
    keep_best(own, &group, window[TARGET], BEST_VALUES, SUMS_VALUES);
}
