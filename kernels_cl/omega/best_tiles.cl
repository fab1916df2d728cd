// best_tiles: the best pair of borders of each window among the tiles of one block, from the bounds of their peaks (scan_tiles.cl).
//
// Every tile whose upper bound reaches the best lower bound is evaluated again with the arithmetic of Kernels I and II, so the result is theirs to
// the bit.
// One work-group of LANES items a window.
#include "common/portable.clh"
#include "omega/tiles.clh"

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void best_tiles(__global const float2 *peaks, tiles_t tiles, __global const long *sums, __global const long *left,
                         __global const float *left_float, __global const int *windows, block_t block, BEST_ARGUMENTS)
{
    const int row0 = block.row0, col0 = block.col0, stride = block.stride, tiles_i = tiles.tiles_i;
    const float epsilon = block.epsilon;
    __local group_t group;
    __local float floors[LANES];
    __local int chosen[LANES];
    __global const int *window = windows + (tiles.window0 + (int)get_group_id(0)) * WINDOW_FIELDS;
    const int lane = get_local_id(0), c = window[CENTRE], first = window[FIRST];
    const int last_row = row0 + block.rows - 1;
    const int begin_i = first / TILE, count_i = window[INNER_LEFT] / TILE - begin_i + 1;
    const int begin_j = MAX(window[INNER_RIGHT], row0) / TILE, count = (MIN(window[LAST], last_row) / TILE - begin_j + 1) * count_i;
    __global const float2 *own = peaks + (size_t)get_group_id(0) * tiles_i * tiles.tiles_j;
    const size_t slot = (size_t)window[SLOT] * block.left_stride;
    __global const long *left_here = left + slot - first;
    float floor_here = lane == 0 ? best[window[TARGET]] : 0.0f;  // read by the lane that may write it below
    for (int n = lane; n < count; n += LANES)
        floor_here = MAX(floor_here, own[n / count_i * tiles_i + n % count_i].x);
    floors[lane] = floor_here;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int l = 0; l < LANES; l++)
        floor_here = MAX(floor_here, floors[l]);
    barrier(CLK_LOCAL_MEM_FENCE);
    scored_t winner = {0.0f, -1, 0};
    for (int start = 0; start < count; start += LANES) {
        const int n = start + lane;
        chosen[lane] = n < count && own[n / count_i * tiles_i + n % count_i].y >= floor_here;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int l = 0; l < LANES && start + l < count; l++) {
            if (!chosen[l])
                continue;
            const int tile_i = (begin_i + (start + l) % count_i) * TILE, tile_j = (begin_j + (start + l) / count_i) * TILE;
            const share_t share = share_of(window, tile_i, tile_j, last_row);
            const int wide = share.i0 - share.low_i + 1;
            for (int cell = lane; cell < wide * (share.high_j - share.j0 + 1); cell += LANES) {
                const int x = share.low_i + cell % wide, y = share.j0 + cell / wide;
                const long right = RIGHT_SUM(y, c);
                const scored_t other = {
                    omega_of(sums[AT(y, x)], left_here[x], left_float[slot + (x - first)], right, (float)right, c - x + 1, y - c, epsilon), x, y};
                if (is_better(other, winner, SUMS_VALUES))
                    winner = other;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    keep_best(winner, &group, window[TARGET], BEST_VALUES, SUMS_VALUES);
}
