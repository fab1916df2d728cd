// Levels of prefixes of reads, exactly as `sdtw/reference.py` defines them.
//
// A row x is the median of the first three of STEP samples, or the only one; samples of a prefix that are left over are not looked at.
//
//   BLOCK = 0    z = x * slope + intercept, one product and one sum in single precision; slope and intercept are the
//                host's, from n, sum x and sum x^2 of all rows, which `sum_prefixes` leaves
//   BLOCK = 500  z = (x - m) / a of each block of 500 samples: m = sum x / n and a = max(1, sum |x - m| / n) of all
//                samples up to the block's end, both cut to integers, which `measure_blocks` leaves
//
// A level is z clipped to -4 .. 4 (STANDARD), or floor((z + 4) * per_unit), from 0 to `most`.
//
// Layout: samples, row-major (reads, length); levels (lanes / group, rows - skipped, group): row i of read q is at
// ((q / group) * (rows - skipped) + i - skipped) * group + q % group, and lanes without a read are 0. On GPUs a work-group turns a
// tile over in local memory. On CPUs a work-item does so in memory of its own, for the lanes of a group.
//
// Bounds, for n <= 65,536: sum x^2 <= 2^46, -2^31 <= sum x < 2^31, sum |x - m| < 2^32, a < 2^16.
//
// -D SCORE=ushort|int|float   type of the levels
// -D STANDARD=0|1             1: levels are standard scores (SCORE=float)
// -D BLOCK=0|n                samples of a block; 0: the prefix is normalised as a whole
// -D STEP=n                   samples of a row, 1 or 3 and more; 1 with blocks
// -D GROUP=n                  lanes of a group (CPUs)
// -D CPU=0|1                  1: a work-item a read or a tile; else a work-group of LANES work-items
// -D LANES=n                  work-group size (GPUs)
#include "common/portable.clh"

#pragma OPENCL FP_CONTRACT OFF

#define CLIP 4
#define DOUBT 0.001f

#if BLOCK
#define SCALE int // mean and deviation of each block of each read
#else
#define SCALE float // slope and intercept of each read
#endif

#if CPU
#define TILE_ROWS 100 // BLOCK is a multiple
#define TILE_LANES GROUP
#define ONE_GROUP
#define LANE 0
#define STRIDE 1
#define READ get_global_id(0)
#define SUM_GROUP(value) (value)
#else
#define TILE 32
#define ONE_GROUP __attribute__((reqd_work_group_size(LANES, 1, 1)))
#define LANE get_local_id(0)
#define STRIDE LANES
#define READ get_group_id(0)
#define SUM_GROUP(value) sum_group(value, parts)

// The sum over all work-items of the group, for each of them.
static inline long sum_group(long value, __local long *parts)
{
    const uint lane = get_local_id(0);
    parts[lane] = value;
    for (uint others = LANES / 2; others; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others)
            parts[lane] += parts[lane + others];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const long sum = parts[0];
    barrier(CLK_LOCAL_MEM_FENCE); // before the next sum
    return sum;
}
#endif

// A row of a read.
static inline int row_of(__global const short *read, uint i)
{
#if STEP == 1
    return read[i];
#else
    const int a = read[i * STEP], b = read[i * STEP + 1], c = read[i * STEP + 2];
    const int lower = MIN(a, b), upper = MAX(a, b), below = MIN(upper, c);
    return MAX(lower, below);
#endif
}

#if BLOCK

// scales[2 * (q * blocks + b)] and the next: mean and deviation of block b of read q; a read for each work-item or group.
__kernel ONE_GROUP void measure_blocks(__global const short *samples, uint rows, __global int *scales)
{
#if !CPU
    __local long parts[LANES];
#endif
    __global const short *read = samples + (ulong)READ * rows;
    __global int *scale = scales + 2 * (ulong)READ * CEIL_DIV(rows, BLOCK);
    int total = 0;
    for (uint begin = 0; begin < rows; begin += BLOCK) {
        const uint end = MIN(begin + BLOCK, rows);
        int own = 0;
        for (uint i = begin + LANE; i < end; i += STRIDE)
            own += read[i];
        total += (int)SUM_GROUP(own);
        const int mean = total / (int)end;
        uint deviations = 0;
        for (uint i = LANE; i < end; i += STRIDE) {
            const int difference = read[i] - mean;
            deviations += (uint)ABS(difference);
        }
        const uint deviation = (uint)SUM_GROUP(deviations) / end;
        if (LANE == 0) {
            *scale++ = mean;
            *scale++ = deviation ? (int)deviation : 1;
        }
    }
}

// Quotients p / a of integers, |p| <= 4a < 2^18, as floats and correctly rounded whatever the device's division is:
// such a quotient is no middle of two floats, and at least 2^-17 of their distance from any. The product is within 8
// such distances of it, what is left is exact, and its own product is off by less than 2^-18.
static inline float divided(int p, int a)
{
    const float number = (float)p, divisor = (float)a, reciprocal = 1.0f / divisor, quotient = number * reciprocal;
    return fma(fma(-quotient, divisor, number), reciprocal, quotient);
}

static inline SCORE level_of(int sample, int mean, int deviation, int per_unit, int most)
{
    const int limit = CLIP * deviation, above = sample - mean, upper = MIN(above, limit), clipped = MAX(upper, -limit);
#if STANDARD
    return divided(clipped, deviation);
#else
    const int number = (clipped + limit) * per_unit; // at most 256 * a < 2^24, so the float is exact
    // The quotient is off by less than 0.0002 whatever the device's division is: without DOUBT, it is never too high.
    const int least = (int)((float)number * (1.0f / (float)deviation) - DOUBT);
    const int level = least + (number - least * deviation >= deviation);
    return (SCORE)MIN(level, most);
#endif
}

#else

// sums[2 * q] and the next: sums of the samples of read q and of their squares; a read for each work-item or group.
__kernel ONE_GROUP void sum_prefixes(__global const short *samples, uint length, uint rows, __global long *sums)
{
#if !CPU
    __local long parts[LANES];
#endif
    __global const short *read = samples + (ulong)READ * length;
    int total = 0;
    long squares = 0;
    for (uint i = LANE; i < rows; i += STRIDE) {
        const int row = row_of(read, i);
        total += row;
        squares += row * row;
    }
    const long all = SUM_GROUP(total), all_squares = SUM_GROUP(squares);
    if (LANE == 0) {
        sums[2 * READ] = all;
        sums[2 * READ + 1] = all_squares;
    }
}

static inline SCORE level_of(int sample, float slope, float intercept, int per_unit, int most)
{
    const float product = (float)sample * slope, z = product + intercept;
#if STANDARD
    const float upper = MIN(z, (float)CLIP);
    return MAX(upper, -(float)CLIP);
#else
    const float place = (z + (float)CLIP) * (float)per_unit;
    const int level = place < 0.0f ? 0 : (int)place;
    return (SCORE)MIN(level, most);
#endif
}

#endif

// Where the scales of row i of read q are.
static inline ulong scale_of(uint q, uint i, uint rows)
{
#if BLOCK
    return 2 * ((ulong)q * CEIL_DIV(rows, BLOCK) + i / BLOCK);
#else
    return 2 * (ulong)q;
#endif
}

// A tile of reads and rows for each work-item or group; reads in the first dimension.
__kernel ONE_GROUP void write_levels(__global const short *restrict samples, uint reads, uint length, uint rows, uint skipped,
                                     __global const SCALE *restrict scales, int per_unit, int most, uint lanes, uint group,
                                     __global SCORE *restrict levels)
{
#if CPU
    const uint q0 = get_global_id(0) * TILE_LANES, i0 = skipped + get_global_id(1) * TILE_ROWS;
    const uint height = MIN(TILE_ROWS, rows - i0);
    SCORE tile[TILE_ROWS * TILE_LANES];
    for (uint c = 0; c < TILE_LANES; ++c) {
        if (q0 + c < reads) {
            __global const short *read = samples + (ulong)(q0 + c) * length + i0 * STEP;
            const ulong place = scale_of(q0 + c, i0, rows);
            const SCALE first = scales[place], second = scales[place + 1];
            for (uint r = 0; r < height; ++r)
                tile[r * TILE_LANES + c] = level_of(row_of(read, r), first, second, per_unit, most);
        } else {
            for (uint r = 0; r < height; ++r)
                tile[r * TILE_LANES + c] = 0;
        }
    }
    __global SCORE *written = levels + (ulong)q0 * (rows - skipped) + (ulong)(i0 - skipped) * TILE_LANES;
    for (uint n = 0; n < height * TILE_LANES; ++n)
        written[n] = tile[n];
#else
    __local SCORE tile[TILE][TILE + 1]; // one more, so that a column is spread over all banks
    const uint q0 = get_group_id(0) * TILE, i0 = skipped + get_group_id(1) * TILE;
    for (uint t = LANE; t < TILE * TILE; t += LANES) {
        const uint c = t / TILE, r = t % TILE, q = q0 + c, i = i0 + r;
        SCORE level = 0;
        if (q < reads && i < rows) {
            const ulong place = scale_of(q, i, rows);
            level = level_of(row_of(samples + (ulong)q * length, i), scales[place], scales[place + 1], per_unit, most);
        }
        tile[r][c] = level;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = LANE; t < TILE * TILE; t += LANES) {
        const uint r = t / TILE, c = t % TILE, q = q0 + c;
        if (q < lanes && i0 + r < rows)
            levels[((ulong)(q / group) * (rows - skipped) + i0 + r - skipped) * group + q % group] = tile[r][c];
    }
#endif
}
