// scan_tiles: for every tile of M and every window that shares it, bounds of the largest omega within the tile (tiles.clh).
//
// windows_of_i, windows_of_j: for each tile column and tile row, the first window that reaches it and the first that has left it; a tile's windows
// are the intersection. peaks: for each window its tiles of this block, tiles_j x tiles_i, counted from the window's first.
//
// Grid: dimension 0 walks the tile columns of a tile row from the diagonal back, dimension 1 the tile rows.
//   GPU      work-groups of LANES_I x LANES_J items (-D), which keep TILE / LANES_I x TILE / LANES_J entries of M each in registers
//   -D CPU=1 one item a tile, VW columns in a vector, the tile in the first-level cache
//   -D REFINE=1  (GPU) a Newton step after native_recip, whose precision OpenCL leaves to the device. The bounds allow a reciprocal a relative
//            error of 2^-21 (tiles.clh): a step gets there from 2^-11, with 2^-22 for its square and 2^-23 for the step's own roundings; without
//            one native_recip has to be so good by itself, which the device's traits tell (measured: 2^-23.6 on an H200)
// save_left_tiles, save_right_tiles: dl and dr of the windows.
#include "common/portable.clh"
#include "omega/tiles.clh"

#ifndef CPU
#define CPU 0
#endif

// dl of the places of a window's slot, which begins at the first column of the window's first tile. Grid: places, windows.
__kernel void save_left_tiles(__global const long *left, int left_stride, __global const int *windows, int window0, __global float *left_tiles,
                              int tiles_stride)
{
    __global const int *window = windows + (window0 + (int)get_global_id(1)) * WINDOW_FIELDS;
    const int first = window[FIRST], x = get_global_id(0), i = first / TILE * TILE + x;
    if (x >= tiles_stride)
        return;
    float difference = 0.0f;
    if (i >= first && i <= window[INNER_LEFT]) {
        __global const long *sums_here = left + (size_t)window[SLOT] * left_stride - first;
        difference = (float)(sums_here[i] - sums_here[MIN(i / TILE * TILE + TILE - 1, window[INNER_LEFT])]);
    }
    left_tiles[(size_t)window[SLOT] * tiles_stride + x] = difference;
}

// dr of the rows of this block. Grid: rows, windows.
__kernel void save_right_tiles(__global const long *sums, __global const int *windows, int window0, __global float *right_tiles, int rows_stride,
                               int row0, int rows, int col0, int stride)
{
    __global const int *window = windows + (window0 + (int)get_global_id(1)) * WINDOW_FIELDS;
    const int c = window[CENTRE], j = row0 + (int)get_global_id(0);
    if (j >= row0 + rows_stride)
        return;
    float difference = 0.0f;
    if (j >= window[INNER_RIGHT] && j <= window[LAST] && j < row0 + rows)
        difference = (float)(RIGHT_SUM(j, c) - RIGHT_SUM(MAX(j / TILE * TILE, window[INNER_RIGHT]), c));
    right_tiles[(size_t)get_global_id(1) * rows_stride + (j - row0)] = difference;
}

#define TILE_ARGUMENTS                                                                                                                         \
    __global const long *sums, __global const long *left, __global const float *left_tiles, __global const float *right_tiles,                   \
        __global const int *windows, __global const int2 *windows_of_i, __global const int2 *windows_of_j, block_t block, tiles_t tiles,         \
        __global float2 *peaks

// Writes the bounds of a window's largest omega in a tile; `number` counts the windows from the first one at work.
static inline void write_bounds(__global float2 *peaks, float peak, __global const long *sums, __global const long *left, __global const int *window,
                                int number, share_t share, int tile_i, int tile_j, block_t block, tiles_t tiles)
{
    const int row = tile_j / TILE - MAX(window[INNER_RIGHT], block.row0) / TILE, column = (tile_i - window[FIRST] / TILE * TILE) / TILE;
    __global const long *left_here = left + (size_t)window[SLOT] * block.left_stride - window[FIRST];
    peaks[((size_t)number * tiles.tiles_j + row) * tiles.tiles_i + column] =
        bounds_of(peak, sums, left_here, window, share, tile_i, tile_j, block.row0, block.col0, block.stride, block.epsilon);
}

#if CPU
__kernel void scan_tiles(TILE_ARGUMENTS)
{
    const int row0 = block.row0, rows = block.rows, col0 = block.col0, stride = block.stride, left_stride = block.left_stride;
    const int window0 = tiles.window0, window_end = tiles.window_end, tiles_stride = tiles.tiles_stride, rows_stride = tiles.rows_stride;
    const float epsilon = block.epsilon;
    const int tile_j = row0 + (int)get_global_id(1) * TILE;
    const int tile_i = tile_j - (int)get_global_id(0) * TILE;
    if (tile_i < col0)
        return;
    const int2 of_i = windows_of_i[tile_i / TILE], of_j = windows_of_j[tile_j / TILE];
    const int from = MAX(MAX(of_i.x, of_j.x), window0), to = MIN(MIN(of_i.y, of_j.y), window_end);
    if (from >= to)
        return;
    const int last_row = row0 + rows - 1, high = MIN(tile_j + TILE - 1, last_row);
    const long reference = REFERENCE(tile_i, tile_j);
    const float reference_float = (float)reference;
    float_v tile[TILE][TILE / VW];
    for (int j = tile_j; j <= high; j++)
        for (int v = 0; v < TILE / VW; v++)
            tile[j - tile_j][v] = to_float(LOAD_V(sum, sums + AT(j, tile_i + v * VW)) - reference);
    for (int p = from; p < to; p++) {
        __global const int *window = windows + p * WINDOW_FIELDS;
        const int c = window[CENTRE], first = window[FIRST];
        const share_t share = share_of(window, tile_i, tile_j, last_row);
        const float corner = (float)(reference - left[(size_t)window[SLOT] * left_stride + (share.i0 - first)] - RIGHT_SUM(share.j0, c));
        __global const float *dl = left_tiles + (size_t)window[SLOT] * tiles_stride + (tile_i - first / TILE * TILE);
        __global const float *dr = right_tiles + (size_t)(p - window0) * rows_stride + (tile_j - row0);
        float m[TILE], m_pairs[TILE], dr_here[TILE];
        for (int y = 0; y < TILE; y++) {
            m[y] = (float)(tile_j + y - c);
            m_pairs[y] = 0.5f * (m[y] * (m[y] - 1.0f));
            dr_here[y] = dr[y] - corner;
        }
        float_v best = 0.0f;
        for (int v = (share.low_i - tile_i) / VW; v <= (share.i0 - tile_i) / VW; v++) {
            const int_v i = tile_i + v * VW + LANE_NUMBERS;
            const int_v used = (i >= share.low_i) & (i <= share.i0);
            const float_v k = used ? CONVERT_V(float, c + 1 - i) : (float_v)0.0f;  // k = 0 makes omega 0 or NaN, which are not kept
            const float_v k_pairs = 0.5f * (k * (k - 1.0f));
            const float_v dl_v = LOAD_V(float, dl + v * VW);
            for (int y = share.j0 - tile_j; y <= share.high_j - tile_j; y++) {
                const float_v within = dl_v + dr_here[y];
                const float_v km = k * m[y];
                const float_v cross = (tile[y][v] - within) + epsilon * km;
                const float_v omega = ((within + reference_float) * km) / ((k_pairs + m_pairs[y]) * cross);
                best = omega > best ? omega : best;
            }
        }
        float peak = 0.0f;
        for (int l = 0; l < VW; l++)
            peak = MAX(peak, ((const float *)&best)[l]);
        write_bounds(peaks, peak, sums, left, window, p - window0, share, tile_i, tile_j, block, tiles);
    }
}
#else

#define EACH_I (TILE / LANES_I)
#define EACH_J (TILE / LANES_J)
// A row of the window table in registers: .s0 centre, .s1 first, .s2 inner left, .s3 inner right, .s4 last, .s5 slot (layout.clh).
#define WINDOW_AT(p) (((__global const int8 *)windows)[p])

static inline share_t share_at(int8 w, int tile_i, int tile_j, int last_row)
{
    share_t share;
    share.low_i = MAX(tile_i, w.s1);
    share.i0 = MIN(tile_i + TILE - 1, w.s2);
    share.j0 = MAX(tile_j, w.s3);
    share.high_j = MIN(MIN(tile_j + TILE - 1, w.s4), last_row);
    return share;
}

// C of a window, from the tile's reference and the sums at the window's own innermost corner.
static inline float corner_of(int8 w, long reference, __global const long *sums, __global const long *left, int left_stride, int tile_i, int tile_j,
                              int row0, int col0, int stride)
{
    const long left_sum = left[(size_t)w.s5 * left_stride + (MIN(tile_i + TILE - 1, w.s2) - w.s1)];
    return (float)(reference - left_sum - RIGHT_SUM(MAX(tile_j, w.s3), w.s0));
}

#ifndef REFINE
#define REFINE 1
#endif
// 1 / x for x > 0. NaN, which no maximum keeps, where x is 0 or infinite: only tiles whose bounds say nothing have such pairs.
static inline float reciprocal(float x)
{
    const float r = native_recip(x);
#if REFINE
    return r * fma(-x, r, 2.0f);
#else
    return r;
#endif
}

#define AT_ONCE 128  // windows whose peaks are gathered in local memory
#define FAR 1e20f

__attribute__((reqd_work_group_size(LANES_I, LANES_J, 1)))
__kernel void scan_tiles(TILE_ARGUMENTS)
{
    __local int gathered[AT_ONCE];  // bits of floats that are not negative, or -0, which is below them as a signed number
    const int row0 = block.row0, rows = block.rows, col0 = block.col0, stride = block.stride, left_stride = block.left_stride;
    const int window0 = tiles.window0, window_end = tiles.window_end, tiles_stride = tiles.tiles_stride, rows_stride = tiles.rows_stride;
    const float epsilon = block.epsilon;
    const int tile_j = row0 + (int)get_group_id(1) * TILE;
    const int tile_i = tile_j - (int)get_group_id(0) * TILE;
    if (tile_i < col0)
        return;
    const int2 of_i = windows_of_i[tile_i / TILE], of_j = windows_of_j[tile_j / TILE];
    const int from = MAX(MAX(of_i.x, of_j.x), window0), to = MIN(MIN(of_i.y, of_j.y), window_end);
    if (from >= to)
        return;
    const int lane_i = get_local_id(0), lane_j = get_local_id(1), lane = lane_j * LANES_I + lane_i;
    const int last_row = row0 + rows - 1, i_here = tile_i + lane_i, j_here = tile_j + lane_j;
    const long reference = REFERENCE(tile_i, tile_j);
    const float reference_float = (float)reference;
    float tile[EACH_J][EACH_I];
#pragma unroll
    for (int b = 0; b < EACH_J; b++)
#pragma unroll
        for (int a = 0; a < EACH_I; a++) {
            const int j = j_here + b * LANES_J, i = i_here + a * LANES_I;
            tile[b][a] = j <= last_row ? (float)(sums[AT(j, i)] - reference) : 0.0f;
        }
    for (int chunk = from; chunk < to; chunk += AT_ONCE) {
        const int chunk_end = MIN(chunk + AT_ONCE, to);
        for (int n = lane; n < AT_ONCE; n += LANES_I * LANES_J)
            gathered[n] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        int8 next_window = WINDOW_AT(chunk);
        float next_corner = corner_of(next_window, reference, sums, left, left_stride, tile_i, tile_j, row0, col0, stride);
        for (int p = chunk; p < chunk_end; p++) {
            // the next window's corner takes two dependent loads: they are under way while this one is scored
            const int8 window = next_window;
            const float corner = next_corner;
            next_window = WINDOW_AT(MIN(p + 1, chunk_end - 1));
            next_corner = corner_of(next_window, reference, sums, left, left_stride, tile_i, tile_j, row0, col0, stride);
            const int c = window.s0, first = window.s1;
            const share_t share = share_at(window, tile_i, tile_j, last_row);
            __global const float *dl = left_tiles + (size_t)window.s5 * tiles_stride + (tile_i - first / TILE * TILE) + lane_i;
            __global const float *dr = right_tiles + (size_t)(p - window0) * rows_stride + (tile_j - row0) + lane_j;
            const float k_here = (float)(c + 1 - i_here), m_here = (float)(j_here - c);
            float dl_here[EACH_I], k[EACH_I], k_pairs[EACH_I], dr_here[EACH_J], m[EACH_J], m_pairs[EACH_J];
#pragma unroll
            for (int a = 0; a < EACH_I; a++) {
                dl_here[a] = dl[a * LANES_I];
                k[a] = k_here - (float)(a * LANES_I);
                k_pairs[a] = k[a] * fma(0.5f, k[a], -0.5f);
            }
#pragma unroll
            for (int b = 0; b < EACH_J; b++) {
                dr_here[b] = dr[b * LANES_J] - corner;
                m[b] = m_here + (float)(b * LANES_J);
                m_pairs[b] = m[b] * fma(0.5f, m[b], -0.5f);
            }
            // Borders outside the window's share: numerator 0 over a large denominator, so that omega is 0 and never NaN.
            if (share.low_i > tile_i || share.i0 < tile_i + TILE - 1) {
#pragma unroll
                for (int a = 0; a < EACH_I; a++)
                    if (i_here + a * LANES_I < share.low_i || i_here + a * LANES_I > share.i0) {
                        dl_here[a] = -FAR;
                        k[a] = 0.0f;
                        k_pairs[a] = 1.0f;
                    }
            }
            if (share.j0 > tile_j || share.high_j < tile_j + TILE - 1) {
#pragma unroll
                for (int b = 0; b < EACH_J; b++)
                    if (j_here + b * LANES_J < share.j0 || j_here + b * LANES_J > share.high_j) {
                        dr_here[b] = -FAR;
                        m[b] = 0.0f;
                        m_pairs[b] = 1.0f;
                    }
            }
            float best = 0.0f;
#pragma unroll
            for (int b = 0; b < EACH_J; b++)
#pragma unroll
                for (int a = 0; a < EACH_I; a++) {
                    const float within = dl_here[a] + dr_here[b];
                    const float km = k[a] * m[b];
                    const float cross = fma(epsilon, km, tile[b][a] - within);
                    const float omega = ((within + reference_float) * km) * reciprocal((k_pairs[a] + m_pairs[b]) * cross);
                    best = fmax(best, omega);
                }
            atomic_max(&gathered[p - chunk], as_int(best));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = chunk + lane; p < chunk_end; p += LANES_I * LANES_J) {
            __global const int *window = windows + p * WINDOW_FIELDS;
            const share_t share = share_of(window, tile_i, tile_j, last_row);
            write_bounds(peaks, as_float(gathered[p - chunk]), sums, left, window, p - window0, share, tile_i, tile_j, block, tiles);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
