// What is told of the letters of matches whose lengths differ from their patterns'.
//
//   describe_spans   of match m, letters starts[m] .. ends[m] - 1 of piece pieces[m]: facts[2 * m] is the number of Ns,
//                    facts[2 * m + 1] the expected errors in units of 2^-32
//
// `codes` are those of encode.cl; places count from memory[skip]; units[q] are the expected errors of a letter of quality q.
//
// -D CPU=0|1         1: a work-item a match; 0: a work-group of LANES (a power of two) a match
// -D LANES=n
// -D QUALITIES=0|1   there are qualities
#include "common/portable.clh"

#define MIN_QUALITY '!'
#define ANY 15

#if CPU
#define GROUP_SIZE
#else
#define GROUP_SIZE __attribute__((reqd_work_group_size(LANES, 1, 1)))
#endif

__kernel GROUP_SIZE void describe_spans(__global const uchar *memory, uint skip, __global const uchar *codes,
                                        __global const uint *letters, __global const uint *qualities,
                                        __global const uint *pieces, __global const uint *starts, __global const uint *ends,
                                        uint matches, __global const ulong *units, __global ulong *facts)
{
#if CPU
    const uint m = get_global_id(0), lane = 0, lanes = 1;
    if (m >= matches)
        return;
#else
    const uint m = get_group_id(0), lane = get_local_id(0), lanes = LANES;
    __local ulong all_ns[LANES], all_errors[LANES];
#endif
    const uint piece = pieces[m];
    __global const uchar *under = codes + letters[piece], *quality = memory + skip + qualities[piece];
    ulong ns = 0, errors = 0;
    for (uint i = starts[m] + lane; i < ends[m]; i += lanes) {
        ns += (under[i] & ANY) == ANY;
#if QUALITIES
        errors += units[quality[i] - MIN_QUALITY];
#endif
    }
#if !CPU
    all_ns[lane] = ns;
    all_errors[lane] = errors;
    for (uint others = LANES / 2; others; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others) {
            all_ns[lane] += all_ns[lane + others];
            all_errors[lane] += all_errors[lane + others];
        }
    }
    if (lane)
        return;
    ns = all_ns[0];
    errors = all_errors[0];
#endif
    facts[2 * (ulong)m] = ns;
    facts[2 * (ulong)m + 1] = errors;
}
