// Haplotypes of windows of sites: how often the most common ones occur, and the sum of the squares of all counts.
//
// A haplotype's hash in a window is the sum mod 2^64 of a random word for each site at which it has the derived state, so it is the difference of two
// prefix sums, which are kept where windows begin or end (borders). A haplotype with a missing state in a window is left out there.
//
// bits, valid: word-major, (words, stride): word w of site s is at w * stride + s.
// prefixes, gaps: (borders, count): hashes, and missing states, of the sites before a border.
//
// -D MASKED=1      some states are missing; `valid` says which are observed
// -D GENOTYPES=1   multilocus genotypes of samples instead: bit 2s is "sample s carries the allele", bit 2s + 1 "carries it twice"
// -D CAPACITY=n    a power of two: places of a list, at least `count`
// -D SPILLED=1     lists are in global memory, because local memory has no room for them
// -D LANES=n       work-group size of count_haplotypes
#include "common/portable.clh"

#ifndef MASKED
#define MASKED 0
#endif
#ifndef GENOTYPES
#define GENOTYPES 0
#endif

#if SPILLED
#define SPACE __global
#define FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define SPACE __local
#define FENCE CLK_LOCAL_MEM_FENCE
#endif

// The hash and the missing states of each haplotype (or sample) in each stretch between two borders, in the row of the second one.
__kernel void hash_stretches(__global const uint *bits, __global const uint *valid, uint stride, uint count, uint stretches, __global const uint *borders,
                             __global const ulong *words, __global ulong *prefixes, __global uint *gaps)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)stretches * count)
        return;
    const uint stretch = (uint)(item / count), one = (uint)(item % count);
    const uint bit = one << GENOTYPES, shift = bit & 31;
    const size_t row = (size_t)(bit >> 5) * stride;
    ulong hash = 0;
    uint missing = 0;
    for (uint site = borders[stretch]; site < borders[stretch + 1]; site++) {
        const uint x = bits[row + site] >> shift;
        hash += words[site << GENOTYPES] & (0ul - (x & 1u));
#if GENOTYPES
        hash += words[2 * site + 1] & (0ul - (x >> 1 & 1u));
#endif
#if MASKED
        missing += ~(valid[row + site] >> shift) & 1u;
#endif
    }
    prefixes[item + count] = hash;
#if MASKED
    gaps[item + count] = missing;
#endif
}

// Adds up the stretches: a work-item a haplotype.
__kernel void add_stretches(uint count, uint stretches, __global ulong *prefixes, __global uint *gaps)
{
    const uint one = get_global_id(0);
    if (one >= count)
        return;
    ulong hash = 0;
    uint missing = 0;
    for (uint border = 0; border <= stretches; border++) {
        const size_t item = (size_t)border * count + one;
        hash += border ? prefixes[item] : 0ul;
        prefixes[item] = hash;
#if MASKED
        missing += border ? gaps[item] : 0u;
        gaps[item] = missing;
#endif
    }
}

#ifdef CAPACITY
// The counts of the `kept` most common haplotypes of each window, the sum of the squares of all counts, and how many haplotypes have no missing state:
// a work-group a window. Windows reach from border first[w] to border last[w]; the group's window is `offset` further. Hashes are sorted by a bitonic
// network; places without a haplotype have the largest hash, and count by their number only, so a hash that is equal to theirs does no harm.
__attribute__((reqd_work_group_size(LANES, 1, 1)))
__kernel void count_haplotypes(uint offset, uint windows, uint count, __global const uint *first, __global const uint *last, __global const ulong *prefixes,
                               __global const uint *gaps, __global ulong *spilled, __global uint *spilled_runs, uint kept, __global uint *top,
                               __global ulong *squares, __global uint *complete)
{
    const uint lane = get_local_id(0), window = offset + get_group_id(0);
#if SPILLED
    SPACE ulong *list = spilled + (size_t)get_group_id(0) * CAPACITY;
    SPACE uint *runs = spilled_runs + (size_t)get_group_id(0) * CAPACITY;
#else
    __local ulong list[CAPACITY];
    __local uint runs[CAPACITY];
#endif
    __local ulong found[LANES];
    const size_t begin = (size_t)first[window] * count, end = (size_t)last[window] * count;
    uint seen = 0;
    for (uint i = lane; i < CAPACITY; i += LANES) {
        uint whole = i < count;
#if MASKED
        if (whole)
            whole = gaps[end + i] == gaps[begin + i];
#endif
        list[i] = whole ? prefixes[end + i] - prefixes[begin + i] : 0xfffffffffffffffful;
        seen += whole;
    }
    found[lane] = seen;
    barrier(FENCE);
    uint used = 0;
    for (uint i = 0; i < LANES; i++)
        used += (uint)found[i];
    for (uint run = 2; run <= CAPACITY; run *= 2)
        for (uint apart = run / 2; apart; apart /= 2) {
            for (uint pair = lane; pair < CAPACITY / 2; pair += LANES) {
                const uint m = 2 * pair - (pair & (apart - 1)), n = m + apart;
                const ulong a = list[m], b = list[n];
                if ((a > b) == !(m & run)) {
                    list[m] = b;
                    list[n] = a;
                }
            }
            barrier(FENCE);
        }
    // The length of each run of equal hashes, at its first place; its end is found by bisection.
    ulong sum = 0;
    for (uint i = lane; i < CAPACITY; i += LANES) {
        uint length = 0;
        if (i < used && (i == 0 || list[i - 1] != list[i])) {
            uint low = i + 1, high = used;
            while (low < high) {
                const uint middle = (low + high) / 2;
                if (list[middle] == list[i])
                    low = middle + 1;
                else
                    high = middle;
            }
            length = low - i;
        }
        runs[i] = length;
        sum += (ulong)length * length;
    }
    barrier(FENCE);
    found[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane == 0) {
        ulong all = 0;
        for (uint i = 0; i < LANES; i++)
            all += found[i];
        squares[window] = all;
        complete[window] = used;
    }
    for (uint k = 0; k < kept; k++) {
        ulong best = 0;
        for (uint i = lane; i < CAPACITY; i += LANES) {
            const ulong own = (ulong)runs[i] << 32 | i;
            best = MAX(best, own);
        }
        barrier(FENCE);  // what is in `found` was read
        found[lane] = best;
        barrier(FENCE);
        if (lane == 0) {
            for (uint i = 1; i < LANES; i++)
                best = MAX(best, found[i]);
            top[(size_t)k * windows + window] = (uint)(best >> 32);
            runs[(uint)best] = 0;
        }
        barrier(FENCE);
    }
}
#endif
