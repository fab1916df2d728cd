// Compares whole patterns at candidate starts.
//
//   verify_candidates   facts[6 * c] and on: piece, seed and start of candidate c, its mismatches, or REFUSED if it is no match, if a
//                       filter refuses it, or if it is found by an earlier seed as well, and the qualities under a match, the lower
//                       half first. `found` is that of look_up_seeds.cl
//
// A match is found by each seed of its remainder that has no mismatch, and perhaps by others, as letters of the sample that are no
// single nucleotide meet all in the table. The first seed without a mismatch counts.
//
// -D CPU=0|1          1: a work-item a candidate; 0: a work-group of LANES (a power of two) a candidate
// -D LANES=n
// -D QUALITIES=0|1    there are qualities
// -D MISMATCHES=n     those that a match may have
// -D FILTERED=0|1     a match has to have a least number of informative positions, or a least sum of qualities
#include "common/portable.clh"
#include "signatures/records.clh"

#define REFUSED 0xffffffffu
#define STEP 4 // places from one look-up to the next: remainders of seeds
#define MIN_QUALITY '!'
#define ROUND 16 // letters that a work-item compares before it looks whether they were too many mismatches

// The pattern of a seed, and its place in it.
typedef struct {
    uint pattern, offset;
} Seed;

static inline uint is_single(uint bases)
{
    return (bases & (bases - 1)) == 0;
}

// Whether a seed of a pattern matches the sample as a whole.
static inline uint seed_matches(__global const uchar *sample, __global const uchar *pattern, uint offset, uint seed_size)
{
    uint wrong = 0;
    for (uint j = offset; j < offset + seed_size; ++j)
        wrong |= !(sample[j] & 15 & pattern[j]);
    return !wrong;
}

// Whether a seed matches, and no earlier one of its remainder does. Seeds of a pattern follow each other.
static inline uint is_first(__global const uchar *sample, __global const uchar *pattern, __global const Seed *seeds, uint seed_size,
                            uint seed)
{
    const uint together = STEP * (MISMATCHES + 1), first = seed - seed % together; // of the pattern
    if (MISMATCHES == 0) // one of each remainder
        return 1;
    if (!seed_matches(sample, pattern, seeds[seed].offset, seed_size))
        return 0;
    for (uint before = seed - first; before >= STEP; before -= STEP)
        if (seed_matches(sample, pattern, seeds[first + before - STEP].offset, seed_size))
            return 0;
    return 1;
}

#if CPU
#define GROUP_SIZE
typedef ulong8 letters_u __attribute__((aligned(1)));
#else
#define GROUP_SIZE __attribute__((reqd_work_group_size(LANES, 1, 1)))
#endif

// Counts mismatches of the letters begin, begin + stride ... of a pattern; where they are too many, at least one too many.
static inline uint count_mismatches(__global const uchar *sample, __global const uchar *pattern, uint length, uint begin, uint stride)
{
    uint count = 0, i = begin;
#if CPU
    for (; i + 64 <= length && count <= MISMATCHES; i += 64) { // bit 4 of a byte: the low four have something in common
        const ulong8 common = *(__global const letters_u *)(sample + i) & *(__global const letters_u *)(pattern + i);
        const ulong8 wrong = ~(common + 0x0f0f0f0f0f0f0f0ful) & 0x1010101010101010ul;
        const ulong4 four = wrong.lo | wrong.hi << 1;
        const ulong2 two = four.lo | four.hi << 2;
        if (two.x | two.y)
            count += POPCOUNT64(two.x) + POPCOUNT64(two.y);
    }
#endif
    while (i < length && count <= MISMATCHES)
        for (uint j = 0; j < ROUND && i < length; ++j, i += stride)
            count += (sample[i] & 15 & pattern[i]) == 0;
    return count;
}

// Counts positions at which both letters are a single nucleotide.
static inline uint count_informative(__global const uchar *sample, __global const uchar *pattern, uint length, uint begin, uint stride)
{
    uint count = 0;
    for (uint i = begin; i < length; i += stride)
        count += is_single(sample[i] & 15) & is_single(pattern[i]);
    return count;
}

static inline ulong sum_qualities(__global const uchar *quality, uint length, uint begin, uint stride)
{
    ulong sum = 0;
    for (uint i = begin; i < length;) {
        const uint stop = MIN(length, i + (1u << 16) * stride);
        uint part = 0;
        for (; i < stop; i += stride)
            part += quality[i] - MIN_QUALITY;
        sum += part;
    }
    return sum;
}

GROUP_SIZE
__kernel void verify_candidates(__global const uchar *memory, uint skip, __global const uchar *codes, __global const Piece *pieces,
                               __global const uchar *sets, __global const Pattern *patterns, __global const Seed *seeds,
                               uint seed_size, __global const uint *found, uint room, __global uint *facts)
{
#if CPU
    const uint c = get_global_id(0), lane = 0, lanes = 1;
#else
    const uint c = get_group_id(0), lane = get_local_id(0), lanes = LANES;
    __local uint bads[LANES], singles[LANES];
    __local ulong quality_sums[LANES];
#endif
    const uint seed = found[room + c], start = found[2 * room + c];
    const Piece piece = pieces[found[c]];
    const Pattern pattern = patterns[seeds[seed].pattern];
    const uint length = (uint)pattern.length;
    __global const uchar *sample = codes + piece.letters + start, *own = sets + pattern.begin;
    uint bad = count_mismatches(sample, own, length, lane, lanes), informative = 0;
#if FILTERED
    informative = count_informative(sample, own, length, lane, lanes);
#endif
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
    if (bad <= MISMATCHES)
        sum = sum_qualities(memory + skip + piece.qualities + start, length, lane, lanes);
#endif
#if !CPU
    quality_sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane)
        return;
    for (uint other = 1; other < LANES; ++other)
        sum += quality_sums[other];
#endif
    uint kept = bad <= MISMATCHES;
#if FILTERED
    kept = kept && informative >= pattern.least_informative && sum >= pattern.least_sum;
#endif
    kept = kept && is_first(sample, own, seeds, seed_size, seed);
    __global uint *told = facts + 6 * (size_t)c;
    told[0] = found[c];
    told[1] = seed;
    told[2] = start;
    told[3] = kept ? bad : REFUSED;
    told[4] = (uint)sum;
    told[5] = (uint)(sum >> 32);
}
