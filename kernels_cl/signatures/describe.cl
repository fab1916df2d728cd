// What is told of matches: sums over the letters under a pattern, all of them integers.
//
//   describe_matches   of match m, a pattern without its first `skip` letters at start .. end - 1 of a piece: facts[6 * m] and on are the sum
//                      of qualities, mismatches, informative positions (both letters are a single nucleotide), positions where
//                      the sample has N, positions where the pattern has N, and expected errors in units of 2^-32.
//                      What needs a pattern is 0 without patterns
//
// `codes` are those of encode.cl; places count from memory[skip]; units[q] are the expected errors of a letter of quality q.
//
// -D CPU=0|1         1: a work-item a match; 0: a work-group of LANES (a power of two) a match
// -D LANES=n
// -D QUALITIES=0|1   there are qualities
// -D PATTERNS=0|1    letters lie under patterns
#include "common/portable.clh"
#include "signatures/records.clh"

#define MIN_QUALITY '!'
#define ANY 15

typedef struct {
    uint piece, pattern, start, end, skip;
} Match;

typedef struct {
    ulong sum, units;
    uint mismatches, informative, sample_ns, pattern_ns;
} Facts;

static inline Facts join(Facts a, Facts b)
{
    const Facts both = {a.sum + b.sum, a.units + b.units, a.mismatches + b.mismatches, a.informative + b.informative,
                        a.sample_ns + b.sample_ns, a.pattern_ns + b.pattern_ns};
    return both;
}

static inline uint is_single(uint bases)
{
    return (bases & (bases - 1)) == 0;
}

#if CPU
__kernel
#else
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
#endif
void describe_matches(__global const uchar *memory, uint skip, __global const uchar *codes, __global const Piece *pieces,
                      __global const uchar *sets, __global const Pattern *patterns, __global const Match *matches, uint count,
                      __global const ulong *units, __global ulong *facts)
{
#if CPU
    const uint m = get_global_id(0), lane = 0, lanes = 1;
    if (m >= count)
        return;
#else
    const uint m = get_group_id(0), lane = get_local_id(0), lanes = LANES;
    __local Facts parts[LANES];
#endif
    const Match match = matches[m];
#if PATTERNS
    __global const uchar *signature = sets + patterns[match.pattern].begin + match.skip;
#endif
    const uint length = match.end - match.start;
    __global const uchar *under = codes + pieces[match.piece].letters + match.start;
    __global const uchar *quality = memory + skip + pieces[match.piece].qualities + match.start;
    Facts own = {0, 0, 0, 0, 0, 0};
    for (uint i = lane; i < length; i += lanes) {
        const uint a = under[i] & ANY;
        own.sample_ns += a == ANY;
#if PATTERNS
        const uint b = signature[i];
        own.mismatches += (a & b) == 0;
        own.informative += is_single(a) & is_single(b);
        own.pattern_ns += b == ANY;
#endif
#if QUALITIES
        const uint q = quality[i] - MIN_QUALITY;
        own.sum += q;
        own.units += units[q];
#endif
    }
#if !CPU
    parts[lane] = own;
    for (uint others = LANES / 2; others; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others)
            parts[lane] = join(parts[lane], parts[lane + others]);
    }
    if (lane)
        return;
    own = parts[0];
#endif
    __global ulong *to = facts + 6 * (ulong)m;
    to[0] = own.sum;
    to[1] = own.mismatches;
    to[2] = own.informative;
    to[3] = own.sample_ns;
    to[4] = own.pattern_ns;
    to[5] = own.units;
}
