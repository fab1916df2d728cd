// Composite likelihood ratios of sweeps: sums of the log ratios of the sites that a sweep of a given alpha reaches.
//
// A site's log ratio depends on its class and on ln(alpha distance) alone. It is read from samples at even steps of that logarithm, with their slopes, by
// the cubic between two of them. Logarithms are sums of whole numbers, ratios are summed as whole numbers, and floats only fill the gap between two
// samples, so results are the same on every device and in every order.
//
// values, slopes: samples of class c from c * nodes on; `rows` holds that place for each site. Places: in the units of LEAST.
// A task is ALPHAS alphas at one place; `first`, `stop`: the sites [first, stop) that each reaches. One work-group a task.
//
// -D LANES=n        work-group size (a power of two)
// -D ALPHAS=n       alphas of a task
// -D UNIT_BITS=n    of a step: positions are counted in units of 2^-UNIT_BITS steps
// -D COARSE_BITS=n, FINE_BITS=n, FINE_FROM=n, FINE_CELL=n   bits of a cell's width, below FINE_FROM steps and above, and the first of the latter
// -D LAST=n         the last cell
// -D VALUE_BITS=n   of ratios, after the point
// -D LEAST=n        the least distance
#include "common/portable.clh"
#pragma OPENCL FP_CONTRACT OFF

#define UNIT_STEP ((float)(1u << UNIT_BITS))
#define FINE_START (FINE_FROM << UNIT_BITS)
#define MOST_RISE 3.99f  // of a ratio within a cell: a sweep with more at a site is no candidate

// ln(distance) in units. The leading 32 bits m of the distance lie near the centre c of one of 128 intervals: ln(m / c) is a series of (m - c) / c.
static inline uint log_distance(ulong distance, float units, __global const uint *octaves, __global const uint *centres, __global const float *reciprocals)
{
    const uint zeros = (uint)clz(distance);
    const uint m = (uint)((distance << zeros) >> 32), interval = (m >> 24) & 127u;
    const float r = (float)((int)(m & 0xffffffu) - 0x800000) * reciprocals[interval];
    const float rest = r - r * r * (0.5f - r * 0.33333334f);
    return octaves[zeros] + centres[interval] + (uint)(int)(rest * units);
}

__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void clr_scores(__global const long *sites, __global const uint *rows, __global const long *values, __global const float *slopes,
                         __global const uint *octaves, __global const uint *centres, __global const float *reciprocals, float units,
                         __global const long *places, __global const uint *first, __global const uint *stop, __global const int *shifts,
                         __global long *sums)
{
    __local long parts[ALPHAS * LANES];
    const uint task = get_group_id(0), lane = get_local_id(0);
    const long place = places[task];
    uint from[ALPHAS], to[ALPHAS];
    int shift[ALPHAS];
    long total[ALPHAS];
    uint begin = 0xffffffffu, end = 0;
    UNROLL
    for (uint a = 0; a < ALPHAS; a++) {
        from[a] = first[task * ALPHAS + a];
        to[a] = stop[task * ALPHAS + a];
        shift[a] = shifts[task * ALPHAS + a];
        total[a] = 0;
        begin = MIN(begin, from[a]);
        end = MAX(end, to[a]);
    }
    for (uint site = begin + lane; site < end; site += LANES) {
        const long away = sites[site] - place;
        const ulong distance = (ulong)ABS(away);
        const uint logarithm = log_distance(MAX(distance, (ulong)LEAST), units, octaves, centres, reciprocals), row = rows[site];
        UNROLL
        for (uint a = 0; a < ALPHAS; a++) {
            int w = (int)(logarithm + (uint)shift[a]);
            w = MAX(w, 0);
            const int fine = w >= FINE_START, bits = fine ? FINE_BITS : COARSE_BITS;
            const int offset = fine ? w - FINE_START : w;
            const int cell = MIN((offset >> bits) + (fine ? FINE_CELL : 0), LAST);
            const float width = (float)(1 << bits) / UNIT_STEP;
            const float t = (float)(offset & ((1 << bits) - 1)) / (float)(1 << bits);
            const uint node = row + (uint)cell;
            const long value = values[node];
            const float rise = (float)(values[node + 1] - value) * (1.0f / (float)(1 << VALUE_BITS));
            const float before = slopes[node] * width, after = slopes[node + 1] * width;
            float gain = t * (before + t * ((3.0f * rise - 2.0f * before - after) + t * (before + after - 2.0f * rise)));
            gain = MIN(MAX(gain, -MOST_RISE), MOST_RISE);
            const long ratio = value + (long)(int)(gain * (float)(1 << VALUE_BITS));
            total[a] += site >= from[a] && site < to[a] ? ratio : 0l;
        }
    }
    UNROLL
    for (uint a = 0; a < ALPHAS; a++)
        parts[a * LANES + lane] = total[a];
    for (uint half_lanes = LANES / 2; half_lanes > 0; half_lanes >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < half_lanes)
            for (uint a = 0; a < ALPHAS; a++)
                parts[a * LANES + lane] += parts[a * LANES + lane + half_lanes];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < ALPHAS)
        sums[task * ALPHAS + lane] = parts[lane * LANES];
}
