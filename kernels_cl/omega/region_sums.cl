// From pairwise values to M, the sums over all regions, by additions only; and what the scores need of it beyond its own block.
//
// Accurate precision, in fixed-point integers: suffix sums along each row, S_j[i] = sum of v(a, j) for i <= a < j, then down the columns,
//
//     M[i, j] = M[i, j - 1] + S_j[i],      M[i, i] = 0.
//
// Nothing is subtracted and nothing is rounded, so M does not depend on where blocks begin. The last row of a block is carried to the next.
// Layout: layout.clh. -D CPU=1: one work-item does a whole row or a strip of columns, where a GPU spreads lanes.
// -D CHECKED=1: watch for sums of windows that outgrow the fixed-point format (values that are never negative only). `reach` has for each
// column the last row of any window that begins there or before: sums beyond belong to no window, and may be anything.
#include "common/portable.clh"
#include "omega/layout.clh"
#pragma OPENCL FP_CONTRACT OFF

#ifndef CPU
#define CPU 0
#endif
#ifndef CHECKED
#define CHECKED 0
#endif

#if !COMPAT
// Suffix sums of row j from i = j - 1 down to the band's edge. One work-group a row; -D SCAN_LANES=n: its size, a power of two.
#ifndef SCAN_LANES
#define SCAN_LANES 256
#endif
#define SCAN_EACH 4
#if !CPU
__attribute__((reqd_work_group_size(SCAN_LANES, 1, 1)))
#endif
__kernel void suffix_rows(__global long *sums, int row0, int col0, int stride, int band)
{
    const int j = row0 + (int)get_group_id(0);
    const int low = MAX(j - band + 1, col0);
    __global long *row = sums + AT(j, col0);  // row[i - col0]
#if CPU
    long sum = 0;
    for (int i = j - 1; i >= low; i--) {
        sum += row[i - col0];
        row[i - col0] = sum;
    }
#else
    __local long total[2][SCAN_LANES];
    const int lane = get_local_id(0);
    long carried = 0;
    for (int top = j - 1; top >= low; top -= SCAN_LANES * SCAN_EACH) {
        const int high = top - lane * SCAN_EACH;  // this lane: high, high - 1, ...
        long part[SCAN_EACH], sum = 0;
#pragma unroll
        for (int e = 0; e < SCAN_EACH; e++) {
            sum += high - e >= low ? row[high - e - col0] : 0;
            part[e] = sum;
        }
        int from = 0;
        total[from][lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int step = 1; step < SCAN_LANES; step <<= 1) {
            total[1 - from][lane] = total[from][lane] + (lane >= step ? total[from][lane - step] : 0);
            from = 1 - from;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        const long before = carried + (lane > 0 ? total[from][lane - 1] : 0);
        carried += total[from][SCAN_LANES - 1];
#pragma unroll
        for (int e = 0; e < SCAN_EACH; e++)
            if (high - e >= low)
                row[high - e - col0] = before + part[e];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
}

// Running sums down the columns, STRIP columns an item; `carry` is the last row of the block before. `overflow` is set when a sum of a
// window leaves the range of its fixed-point format (all terms are positive and below 2^62, so the sign bit shows every such step).
#if CPU
#define STRIP 64
#else
#define STRIP 1
#define AHEAD 16
#endif
__kernel void accumulate_columns(__global long *sums, __global const long *carry, __global const int *reach, __global int *overflow, int row0,
                                 int rows, int col0, int stride, int band, int width)
{
    const int begin = col0 + (int)get_global_id(0) * STRIP;
    const int end = MIN(begin + STRIP, col0 + width);
    if (begin >= end)
        return;
    int from = MAX(begin + 1, row0);
    const int to = MIN(end - 1 + band - 1, row0 + rows - 1);
    long sum[STRIP];
    for (int x = 0; x < STRIP; x++)
        sum[x] = begin + x < row0 - 1 && begin + x < end ? carry[begin + x - col0] : 0;
    long outside = 0;
#if !CPU
    const int reached = reach[begin];
    // several rows are in flight at a time, for a lane has only its own column to hide the memory's latency with
    for (; from + AHEAD - 1 <= to; from += AHEAD) {
        long next[AHEAD];
#pragma unroll
        for (int e = 0; e < AHEAD; e++)
            next[e] = sums[AT(from + e, begin)];
#pragma unroll
        for (int e = 0; e < AHEAD; e++) {
            sum[0] += next[e];
            sums[AT(from + e, begin)] = sum[0];
            outside |= from + e <= reached ? sum[0] : 0;
        }
    }
#endif
    for (int j = from; j <= to; j++) {
        const int low = MAX(begin, j - band + 1), high = MIN(end, j);  // columns of this strip that row j holds
        __global long *row = sums + AT(j, low);
        for (int x = 0; x < high - low; x++) {
            const long s = sum[low - begin + x] + row[x];
            sum[low - begin + x] = s;
            row[x] = s;
            outside |= j <= reach[low + x] ? s : 0;
        }
    }
    if (CHECKED && outside < 0)
        *overflow = 1;
}
#else

// OmegaPlus' recurrence M[j][i] = ((v + M[j-1][i]) + M[j][i+1]) - M[j-1][i+1] in float32. Tiles of 32 x 32 on one tile diagonal are
// independent: the host walks the diagonals (tile column = tile row - diagonal), a work-group sweeps its tile as a wavefront.
#define WAVE 32
__kernel void sum_tiles(__global float *sums, __global const float *carry, int row0, int rows, int col0, int stride, int band, int diagonal)
{
    const int tile_j = row0 + (int)get_group_id(0) * WAVE;
    const int tile_i = (tile_j / WAVE - diagonal) * WAVE;
    if (tile_i < col0)
        return;
    for (int step = 0; step < 2 * WAVE - 1; step++) {
        for (int r = get_local_id(0); r < WAVE; r += get_local_size(0)) {
            const int back = step - r;
            const int j = tile_j + r, i = tile_i + WAVE - 1 - back;
            if (back < 0 || back >= WAVE || i >= j - 1 || j - i >= band || j >= row0 + rows)
                continue;
            const float above = j > row0 ? sums[AT(j - 1, i)] : carry[i - col0];
            const float corner = j > row0 ? sums[AT(j - 1, i + 1)] : carry[i + 1 - col0];
            const float right = sums[AT(j, i + 1)];
            sums[AT(j, i)] = ((sums[AT(j, i)] + above) + right) - (j - 1 > i + 1 ? corner : 0.0f);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}
#endif

// The block's last row, for the next block, whose columns begin at next_col0.
__kernel void save_carry(__global const sum_t *sums, __global sum_t *carry, int row0, int rows, int col0, int stride, int band, int next_col0)
{
    const int j = row0 + rows - 1, i = next_col0 + (int)get_global_id(0);
    if (i < j && i > j - band)
        carry[i - next_col0] = sums[AT(j, i)];
}

// The sums M[i, centre] of the left parts of windows whose centre lies in this block; they serve until the window's last row is done. The
// rest of the slot is 0, because vectors reach past the last left border.
// Grid: dimension 0 the places of a slot, dimension 1 the windows.
__kernel void save_left_sums(__global const sum_t *sums, __global const int *windows, int window0, __global sum_t *left,
                             __global float *left_float, int left_stride, int row0, int col0, int stride)
{
    __global const int *window = windows + (window0 + (int)get_global_id(1)) * WINDOW_FIELDS;
    const int c = window[CENTRE], x = get_global_id(0), i = window[FIRST] + x;
    if (x >= left_stride)
        return;
    const sum_t sum = i <= window[INNER_LEFT] && i < c ? sums[AT(c, i)] : 0;
    const size_t place = (size_t)window[SLOT] * left_stride + x;
    left[place] = sum;
    left_float[place] = (float)sum;
}
