// Compares whole patterns at candidate starts.
//
//   verify_candidates   differ[c]: the mismatches of candidate c, or REFUSED if it is no match, if a filter refuses it, or if it is
//                       found by an earlier seed as well; sums[c] the qualities under a match
//
// A start that matches is found by each seed of its remainder that lies there as a whole in the sense of the table, in which
// letters of the sample that are no single nucleotide match all. The first of these seeds counts.
//
// -D HEAD=n           seeds.clh
// -D CPU=0|1          1: a work-item a candidate; 0: a work-group of LANES (a power of two) a candidate
// -D LANES=n
// -D QUALITIES=0|1    there are qualities
// -D FILTERED=0|1     a match has to have a least number of informative positions, or a least sum of qualities
#include "common/portable.clh"
#include "signatures/seeds.clh"

#define REFUSED 0xffffffffu
#define MIN_QUALITY '!'
#define BLOCK 64 // letters that a work-item compares before it looks whether they were too many mismatches

static inline uint is_single(uint bases)
{
    return (bases & (bases - 1)) == 0;
}

// Whether a seed of a pattern lies under the sample in the sense of the table.
static inline uint lies_under(__global const uchar *sample, __global const uchar *pattern, uint offset)
{
    uint wrong = 0;
    for (uint j = offset; j < offset + SEED; ++j)
        wrong |= (sample[j] >> 4) < 4 && !(sample[j] & 15 & pattern[j]);
    return !wrong;
}

// Whether a seed lies under the sample, and no earlier one of its remainder does. Seeds of a pattern follow each other.
static inline uint is_first(__global const uchar *sample, __global const uchar *pattern, __global const uint *seed_offset, uint seed,
                            uint seeds)
{
    if (seeds == STEP) // one of each remainder
        return 1;
    if (!lies_under(sample, pattern, seed_offset[seed]))
        return 0;
    for (uint before = seed % seeds; before >= STEP; before -= STEP)
        if (lies_under(sample, pattern, seed_offset[seed - seed % seeds + before - STEP]))
            return 0;
    return 1;
}

#if CPU
#define GROUP_SIZE
#else
#define GROUP_SIZE __attribute__((reqd_work_group_size(LANES, 1, 1)))
#endif

__kernel GROUP_SIZE void verify_candidates(__global const uchar *memory, uint skip, __global const uchar *codes,
                                           __global const uint *letters, __global const uint *qualities,
                                           __global const uchar *sets, __global const ulong *offsets,
                                           __global const uint *seed_pattern, __global const uint *seed_offset,
                                           __global const uint *found_piece, __global const uint *found_seed,
                                           __global const uint *found_start, uint count, uint mismatches,
                                           __global const ulong *least_sum,
                                           __global const uint *least_informative, __global uint *differ, __global ulong *sums)
{
#if CPU
    const uint c = get_global_id(0), lane = 0, lanes = 1;
    if (c >= count)
        return;
#else
    const uint c = get_group_id(0), lane = get_local_id(0), lanes = LANES;
    __local uint bads[LANES], singles[LANES];
    __local ulong quality_sums[LANES];
#endif
    const uint seed = found_seed[c], piece = found_piece[c], pattern = seed_pattern[seed];
    const uint length = offsets[pattern + 1] - offsets[pattern];
    __global const uchar *sample = codes + letters[piece] + found_start[c], *own = sets + offsets[pattern];
    uint bad = 0, informative = 0;
    for (uint i = lane; i < length && bad <= mismatches;) {
        const uint stop = MIN(length, i + BLOCK * lanes);
        for (; i < stop; i += lanes) {
            const uint a = sample[i] & 15, b = own[i];
            bad += (a & b) == 0;
#if FILTERED
            informative += is_single(a) & is_single(b);
#endif
        }
    }
    ulong sum = 0;
#if !CPU
    bads[lane] = bad;
    singles[lane] = informative;
    barrier(CLK_LOCAL_MEM_FENCE);
    bad = informative = 0;
    for (uint other = 0; other < LANES; ++other) {
        bad += bads[other];
        informative += singles[other];
    }
#endif
#if QUALITIES
    if (bad <= mismatches)
        for (uint i = lane; i < length; i += lanes)
            sum += memory[skip + qualities[piece] + found_start[c] + i] - MIN_QUALITY;
#endif
#if !CPU
    quality_sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane)
        return;
    for (uint other = 1; other < LANES; ++other)
        sum += quality_sums[other];
#endif
    uint kept = bad <= mismatches;
#if FILTERED
    kept = kept && informative >= least_informative[pattern] && sum >= least_sum[pattern];
#endif
    kept = kept && is_first(sample, own, seed_offset, seed, STEP * (mismatches + 1));
    differ[c] = kept ? bad : REFUSED;
    sums[c] = sum;
}
