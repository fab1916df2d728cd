// What is told of matches: sums over the letters under a pattern, all of them integers.
//
//   describe_matches   of match m, pattern patterns[m] at letter starts[m] of piece pieces[m]: facts[6 * m] and on are the sum
//                      of qualities, mismatches, informative positions (both letters are a single nucleotide), positions where
//                      the sample has N, positions where the pattern has N, and expected errors in units of 2^-32.
//                      Without patterns, the match is letters starts[m] .. ends[m] - 1, and what needs a pattern is 0
//
// `codes` are those of encode.cl; places count from memory[skip]; units[q] are the expected errors of a letter of quality q.
//
// -D CPU=0|1         1: a work-item a match; 0: a work-group of LANES (a power of two) a match
// -D LANES=n
// -D QUALITIES=0|1   there are qualities
// -D PATTERNS=0|1    letters lie under patterns; `ends` is not read
#include "common/portable.clh"

#define MIN_QUALITY '!'
#define ANY 15

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
void describe_matches(__global const uchar *memory, uint skip, __global const uchar *codes,
                      __global const uint *letters, __global const uint *qualities,
                      __global const uchar *sets, __global const ulong *offsets,
                      __global const uint *pieces, __global const uint *patterns, __global const uint *starts,
                      __global const uint *ends, uint matches, __global const ulong *units, __global ulong *facts)
{
#if CPU
    const uint m = get_global_id(0), lane = 0, lanes = 1;
    if (m >= matches)
        return;
#else
    const uint m = get_group_id(0), lane = get_local_id(0), lanes = LANES;
    __local Facts parts[LANES];
#endif
    const uint piece = pieces[m];
#if PATTERNS
    const ulong pattern = offsets[patterns[m]], length = offsets[patterns[m] + 1] - pattern;
    __global const uchar *signature = sets + pattern;
#else
    const ulong length = ends[m] - starts[m];
#endif
    __global const uchar *under = codes + letters[piece] + starts[m];
    __global const uchar *quality = memory + skip + qualities[piece] + starts[m];
    Facts own = {0, 0, 0, 0, 0, 0};
    for (ulong i = lane; i < length; i += lanes) {
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
