// scan_tiles: for every tile of M and every window that shares it, bounds of the largest omega within the tile (tiles.clh).
//
// windows_of_i, windows_of_j: for each tile column and tile row, the first window that reaches it and the first that has left it; a tile's windows
// are the intersection. peaks: for each window its tiles of this block, tiles_j x tiles_i, counted from the window's first.
//
// Grid: dimension 0 walks the tile columns of a tile row from the diagonal back, dimension 1 the tile rows; on CPUs dimension 0 the tile rows and
// dimension 1 the block's tile columns, as a column's sums of windows serve all rows.
//   GPU      work-groups of LANES_I x LANES_J items (-D), which keep TILE / LANES_I x TILE / LANES_J entries of M each in registers. An
//            omega takes nine instructions: with g = P / (k m) it is LS + RS over g (X + epsilon k m), and with (p, q) the place of a pair from
//            the tile's innermost corner, of which k0 and m0 are the sides, epsilon k m = epsilon (p q + m0 p + k0 (m0 + q)), of which the tile
//            has the first part, dl the second and dr the last
//   -D CPU=1 one item a tile, VW columns in a vector, the tile in the first-level cache; it leaves out what cannot be a window's best
//   -D REFINE=1  (GPU) a Newton step after native_recip, whose precision OpenCL leaves to the device. The bounds allow a reciprocal a relative
//            error of 2^-21 (tiles.clh): a step gets there from 2^-11, with 2^-22 for its square and 2^-23 for the step's own roundings; without
//            one native_recip has to be so good by itself, which the device's traits tell (measured: 2^-23.6 on an H200)
// save_left_tiles, save_right_tiles: dl and dr of the windows; on GPUs -FAR outside, which gives an omega below 0.
// sides (GPU): at n + TILE the numbers n - 1 and 1 / (2 n) of a side of n sites, which make g. So that g is above 0, 2^-30 is there for n - 1 = 0,
//            and 1 and 1 for n < 1
#include "common/portable.clh"
#include "omega/tiles.clh"

#define FAR 1e20f
#if CPU
#define OUTSIDE 0.0f
#else
#define OUTSIDE -FAR
#endif

// dl of the places of a window's slot, which begins at the first column of the window's first tile. Grid: places, windows.
__kernel void save_left_tiles(__global const long *left, int left_stride, __global const int *windows, int window0, __global float *left_tiles,
                              int tiles_stride)
{
    __global const int *window = windows + (window0 + (int)get_global_id(1)) * WINDOW_FIELDS;
    const int first = window[FIRST], x = get_global_id(0), i = first / TILE * TILE + x;
    if (x >= tiles_stride)
        return;
    float difference = OUTSIDE;
    if (i >= first && i <= window[INNER_LEFT]) {
        __global const long *sums_here = left + (size_t)window[SLOT] * left_stride - first;
        difference = float_of(sums_here[i] - sums_here[MIN(i / TILE * TILE + TILE - 1, window[INNER_LEFT])]);
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
    float difference = OUTSIDE;
    if (j >= window[INNER_RIGHT] && j <= window[LAST] && j < row0 + rows)
        difference = float_of(RIGHT_SUM(j, c) - RIGHT_SUM(MAX(j / TILE * TILE, window[INNER_RIGHT]), c));
    right_tiles[(size_t)get_global_id(1) * rows_stride + (j - row0)] = difference;
}

#if CPU
#define WINDOWS  // which take the floors of their bests
#define SIDES
#else
#define WINDOWS const
#define SIDES , __global const float2 *sides
#endif
#define TILE_ARGUMENTS                                                                                                                         \
    __global const long *sums, __global const long *left, __global const float *left_tiles, __global const float *right_tiles,                   \
        __global WINDOWS int *windows, __global const int2 *windows_of_i, __global const int2 *windows_of_j, block_t block, tiles_t tiles,         \
        __global float2 *peaks SIDES

// Where the bounds of a window's largest omega in a tile are kept; `number` counts the windows from the first one at work.
static inline __global float2 *bounds_at(__global float2 *peaks, __global const int *window, int number, int tile_i, int tile_j, int row0,
                                         tiles_t tiles)
{
    const int row = tile_j / TILE - MAX(window[INNER_RIGHT], row0) / TILE, column = (tile_i - window[FIRST] / TILE * TILE) / TILE;
    return peaks + ((size_t)number * tiles.tiles_j + row) * tiles.tiles_i + column;
}

#if CPU
// A tile is searched from coarse to fine: first as a whole, then its squares of VW x VW borders, then the columns of a square, and only then pair
// by pair. On each level it is dropped where no omega can reach what another tile of the window is known to hold. All values of pairs being
// positive, omega <= W / (g (X + epsilon k m)) with W = LS + RS of the outermost pair, X, k and m of the innermost one, and the least of
//
//     g = P / (k m) = ((k - 1) / m + (m - 1) / k) / 2,      P = C(k,2) + C(m,2).
//
// Where all k are above all m, g grows with k and falls with m, and the other way round; elsewhere it is above 1 - 1 / min(k, m).
#if VW * VW != TILE
#error "a row of squares is a vector"
#endif

// The least g of k_in <= k <= k_out and m_in <= m <= m_out.
static inline float_v least_g(float_v k_in, float_v k_out, float m_in, float m_out)
{
    const float_v wide = (k_in - 1.0f) / m_out + (m_out - 1.0f) / k_in, high = (k_out - 1.0f) / m_in + (m_in - 1.0f) / k_out;
    const float_v fewest = k_in < m_in ? k_in : (float_v)m_in;
    const int_v alike = (k_in <= m_out) & (k_out >= m_in);
    return alike ? 1.0f - 1.0f / fewest : 0.5f * (wide < high ? wide : high);
}

static inline int any_lane(int_v x)
{
    int any = 0;
    for (int l = 0; l < VW; l++)
        any |= ((const int *)&x)[l];
    return any;
}

// What is searched of a tile, in places within it, and what the windows' sums are there.
typedef struct {
    int x_out, x_in, y_in, y_out;  // columns [x_out, x_in], rows [y_in, y_out]
    int c, tile_i, tile_j;
    float reference, epsilon;
    float dr[TILE];        // dr - C of the rows
    __global const float *dl;
} search_t;

// The largest omega of the rows [y_in, y_out] and the columns [x, x + VW), where any may reach `floor`.
static inline float search_columns(const float_v (*tile)[TILE / VW], const search_t *search, int x, int y_in, int y_out, float floor)
{
    const int_v place = x + LANE_NUMBERS, used = (place >= search->x_out) & (place <= search->x_in);
    const float_v k = CONVERT_V(float, search->c + 1 - search->tile_i - place), dl = LOAD_V(float, search->dl + x);
    const float m_in = (float)(search->tile_j + y_in - search->c), m_out = (float)(search->tile_j + y_out - search->c);
    const float_v within_out = (dl + search->dr[y_out]) + search->reference;
    const float_v cross_in = (tile[y_in][x / VW] - (dl + search->dr[y_in])) + search->epsilon * (k * m_in);
    if (!any_lane((within_out >= floor * (least_g(k, k, m_in, m_out) * cross_in)) & used))
        return 0.0f;
    const float_v k_pairs = 0.5f * (k * (k - 1.0f));
    float_v best = 0.0f;
    for (int y = y_in; y <= y_out; y++) {
        const float m = (float)(search->tile_j + y - search->c);
        const float_v within = dl + search->dr[y], km = k * m;
        const float_v cross = (tile[y][x / VW] - within) + search->epsilon * km;
        const float_v omega = ((within + search->reference) * km) / ((k_pairs + 0.5f * (m * (m - 1.0f))) * cross);
        best = omega > best ? omega : best;
    }
    float peak = 0.0f;
    for (int l = 0; l < VW; l++)
        peak = MAX(peak, ((const int *)&used)[l] ? ((const float *)&best)[l] : 0.0f);
    return peak;
}

// The largest omega of a tile, where it reaches `floor`; corners: M of the innermost pair of each square.
static inline float search_tile(const float_v (*tile)[TILE / VW], const float_v *corners, const search_t *search, float floor)
{
    float_v k_in, k_out, dl_in, dl_out;
    int_v used;
    for (int b = 0; b < VW; b++) {
        const int in = MIN(b * VW + VW - 1, search->x_in), out = MAX(b * VW, search->x_out);
        ((int *)&used)[b] = in >= out ? -1 : 0;
        ((float *)&k_in)[b] = (float)(search->c + 1 - search->tile_i - in);
        ((float *)&k_out)[b] = (float)(search->c + 1 - search->tile_i - out);
        ((float *)&dl_in)[b] = search->dl[in];
        ((float *)&dl_out)[b] = search->dl[out];
    }
    int_v squares = 0;  // of each column of squares, a bit for each that is searched
    for (int r = search->y_in / VW; r <= search->y_out / VW; r++) {
        const int y_in = MAX(r * VW, search->y_in), y_out = MIN(r * VW + VW - 1, search->y_out);
        const float m_in = (float)(search->tile_j + y_in - search->c), m_out = (float)(search->tile_j + y_out - search->c);
        const float_v within_out = (dl_out + search->dr[y_out]) + search->reference;
        const float_v cross_in = (corners[r] - (dl_in + search->dr[y_in])) + search->epsilon * (k_in * m_in);
        const int_v reach = within_out >= floor * (least_g(k_in, k_out, m_in, m_out) * cross_in);
        squares |= reach & used & (1 << r);
    }
    float peak = 0.0f;
    for (int b = 0; b < VW; b++)
        for (int r = 0, left = ((const int *)&squares)[b]; left >> r; r++)
            if (left >> r & 1) {
                const int y_in = MAX(r * VW, search->y_in), y_out = MIN(r * VW + VW - 1, search->y_out);
                peak = MAX(peak, search_columns(tile, search, b * VW, y_in, y_out, MAX(floor, peak)));
            }
    return peak;
}

__kernel void scan_tiles(TILE_ARGUMENTS)
{
    const int row0 = block.row0, rows = block.rows, col0 = block.col0, stride = block.stride;
    const int window0 = tiles.window0, window_end = tiles.window_end, tiles_stride = tiles.tiles_stride, rows_stride = tiles.rows_stride;
    const int tile_j = row0 + (int)get_global_id(0) * TILE;
    const int tile_i = col0 + (int)get_global_id(1) * TILE;
    const int2 of_i = windows_of_i[tile_i / TILE], of_j = windows_of_j[tile_j / TILE];
    const int from = MAX(MAX(of_i.x, of_j.x), window0), to = MIN(MIN(of_i.y, of_j.y), window_end);
    const int last_row = row0 + rows - 1, high = MIN(tile_j + TILE - 1, last_row);
    float_v tile[TILE][TILE / VW], corners[VW];
    int loaded = 0;
    search_t search;
    search.tile_i = tile_i;
    search.tile_j = tile_j;
    search.epsilon = block.epsilon;
    for (int p = from; p < to; p++) {
        __global int *window = windows + p * WINDOW_FIELDS;
        const int c = window[CENTRE], first = window[FIRST];
        const share_t share = share_of(window, tile_i, tile_j, last_row);
        __global const long *left_here = left + (size_t)window[SLOT] * block.left_stride - first;
        __global float2 *bounds = bounds_at(peaks, window, p - window0, tile_i, tile_j, row0, tiles);
        const extremes_t extremes = extremes_of(sums, left_here, window, share, tile_i, tile_j, row0, col0, stride, block.epsilon);
        // a floor that this tile's pairs and their bounds are certainly below, if they seem to be
        const float known = as_float(window[FLOOR]), floor = known * (1.0f - 6.0f * extremes.error);
        const float_v g = least_g((float_v)(c + 1 - share.i0), (float_v)(c + 1 - share.low_i), (float)(share.j0 - c), (float)(share.high_j - c));
        if (extremes.error < UNSURE && extremes.within_out < floor * (((const float *)&g)[0] * extremes.cross_in)) {
            *bounds = (float2)(0.0f, 0.0f);
            continue;
        }
        if (!(extremes.error < UNSURE)) {
            *bounds = bounds_of(0.0f, extremes.error);
            continue;
        }
        const long reference = REFERENCE(tile_i, tile_j);
        if (!loaded) {
            for (int j = tile_j; j <= high; j++)
                for (int v = 0; v < TILE / VW; v++)
                    tile[j - tile_j][v] = to_float(LOAD_V(sum, sums + AT(j, tile_i + v * VW)) - reference);
            for (int r = 0; r < VW && tile_j + r * VW <= high; r++)
                for (int b = 0; b < VW; b++)
                    ((float *)&corners[r])[b] = ((const float *)tile[r * VW])[b * VW + VW - 1];
            search.reference = float_of(reference);
            loaded = 1;
        }
        search.c = c;
        search.x_out = share.low_i - tile_i;
        search.x_in = share.i0 - tile_i;
        search.y_in = share.j0 - tile_j;
        search.y_out = share.high_j - tile_j;
        search.dl = left_tiles + (size_t)window[SLOT] * tiles_stride + (tile_i - first / TILE * TILE);
        const float corner = float_of(reference - left_here[share.i0] - RIGHT_SUM(share.j0, c));
        __global const float *dr = right_tiles + (size_t)(p - window0) * rows_stride + (tile_j - row0);
        for (int y = 0; y < TILE; y++)
            search.dr[y] = dr[y] - corner;
        *bounds = bounds_of(search_tile(tile, corners, &search, floor), extremes.error);
        if ((*bounds).x > known)
            atomic_max(window + FLOOR, as_int((*bounds).x));
    }
}
#else

#define EACH_I (TILE / LANES_I)
#define EACH_J (TILE / LANES_J)
// A row of the window table in registers: .s0 centre, .s1 first, .s2 inner left, .s3 inner right, .s4 last, .s5 slot (layout.clh).
#define WINDOW_AT(p) (((__global const int8 *)windows)[p])

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
// 1 / x for x > 0. Anything where x is 0 or infinite: only tiles whose bounds say nothing have such pairs within a window.
static inline float reciprocal(float x)
{
#ifdef __NV_CL_C_VERSION
    float r;  // that of the built-in function, which takes four instructions as it also knows denormal numbers
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
#else
    const float r = native_recip(x);
#endif
#if REFINE
    return r * fma(-x, r, 2.0f);
#else
    return r;
#endif
}

#define AT_ONCE 128  // windows whose peaks are gathered in local memory
#define STAGED 16    // windows of which that also has what they are scored by: to wait for each from global memory takes as long as to score it

__attribute__((reqd_work_group_size(LANES_I, LANES_J, 1)))
__kernel void scan_tiles(TILE_ARGUMENTS)
{
    __local float2 columns[STAGED * TILE], rows_here[STAGED * TILE];  // of cross and of LS + RS
    __local float corners[STAGED];
    __local int centres[STAGED];
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
    barrier(CLK_LOCAL_MEM_FENCE);  // between what takes many registers: whole numbers, and their parts of epsilon k m
#pragma unroll
    for (int b = 0; b < EACH_J; b++)
#pragma unroll
        for (int a = 0; a < EACH_I; a++)
            tile[b][a] = fma(epsilon * (float)(TILE - 1 - lane_i - a * LANES_I), (float)(lane_j + b * LANES_J), tile[b][a]);
    for (int chunk = from; chunk < to; chunk += AT_ONCE) {
        const int chunk_end = MIN(chunk + AT_ONCE, to);
        for (int n = lane; n < AT_ONCE; n += LANES_I * LANES_J)
            gathered[n] = 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int stage = chunk; stage < chunk_end; stage += STAGED) {
            const int staged = MIN(STAGED, chunk_end - stage);
            for (int n = lane; n < staged; n += LANES_I * LANES_J) {
                const int8 window = WINDOW_AT(stage + n);
                centres[n] = window.s0;
                corners[n] = corner_of(window, reference, sums, left, left_stride, tile_i, tile_j, row0, col0, stride);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int n = lane; n < staged * TILE; n += LANES_I * LANES_J) {
                const int p = stage + n / TILE, x = n % TILE, c = centres[n / TILE];
                const int8 window = WINDOW_AT(p);
                const float k0 = (float)(c + 1 - (tile_i + TILE - 1)), m0 = (float)(tile_j - c);
                const float dl = left_tiles[(size_t)window.s5 * tiles_stride + (tile_i - window.s1 / TILE * TILE) + x];
                const float dr = right_tiles[(size_t)(p - window0) * rows_stride + (tile_j - row0) + x] - corners[n / TILE];
                columns[n] = (float2)(fma(-epsilon * m0, (float)(TILE - 1 - x), dl), dl + reference_float);
                rows_here[n] = (float2)(fma(-epsilon * k0, m0 + (float)x, dr), dr);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
            for (int n = 0; n < staged; n++) {
                const int c = centres[n];
                __local const float2 *column = columns + n * TILE + lane_i, *row = rows_here + n * TILE + lane_j;
                __global const float2 *k_sides = sides + (c + 1 - i_here + TILE), *m_sides = sides + (j_here - c + TILE);
                float2 dl[EACH_I], k[EACH_I];
#pragma unroll
                for (int a = 0; a < EACH_I; a++) {
                    dl[a] = column[a * LANES_I];
                    k[a] = k_sides[-a * LANES_I];
                }
                int best = 0;  // bits of a float, which order numbers that are not negative, and are below 0 for others
#pragma unroll
                for (int b = 0; b < EACH_J; b++) {
                    const float2 dr = row[b * LANES_J], m = m_sides[b * LANES_J];
#pragma unroll
                    for (int a = 0; a < EACH_I; a++) {
                        const float cross = tile[b][a] - (dl[a].s0 + dr.s0);
                        const float g = fma(k[a].s0, m.s1, k[a].s1 * m.s0);
                        const int omega = as_int((dl[a].s1 + dr.s1) * reciprocal(g * cross));
                        best = MAX(best, omega);
                    }
                }
                atomic_max(&gathered[stage - chunk + n], best);
            }
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int p = chunk + lane; p < chunk_end; p += LANES_I * LANES_J) {
            __global const int *window = windows + p * WINDOW_FIELDS;
            const share_t share = share_of(window, tile_i, tile_j, last_row);
            __global const long *left_here = left + (size_t)window[SLOT] * left_stride - window[FIRST];
            const extremes_t extremes = extremes_of(sums, left_here, window, share, tile_i, tile_j, row0, col0, stride, epsilon);
            *bounds_at(peaks, window, p - window0, tile_i, tile_j, row0, tiles) = bounds_of(as_float(gathered[p - chunk]), extremes.error);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}
#endif
