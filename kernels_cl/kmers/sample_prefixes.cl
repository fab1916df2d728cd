// How many k-mers have each prefix, of every n-th group of packed symbols, on CPUs.
//
// A prefix is the first 16 letters of the canonical k-mer as a number of 32 bits, with zeros behind where it has fewer. Those from `low`
// to `last` are counted, in `bins` bins of 2 ^ shift each. Group t * every + h(t) is taken for every t, where h(t) is a number below `every` without a pattern that
// lengths of reads could have in common. Of every = 1 all groups are taken.
//
//   sample_prefixes   counts[item * bins + bin], added up
//
// -D CANONICAL=0|1  the lesser of a k-mer and its reverse complement
// -D SHORT=0|1      a k-mer has less than 16 letters
#include "common/portable.clh"
#include "kmers/prefixes.clh"

// 16 letters from letter `at` on; none behind the last word.
static inline uint letters16(__global const uint *codes, ulong words, ulong at)
{
    const ulong w = at / 16;
    const ulong both = (w < words ? (ulong)codes[w] << 32 : 0) | (w + 1 < words ? codes[w + 1] : 0);
    return (uint)(both << 2 * (at % 16) >> 32);
}

static inline uint complement16(uint letters)
{
    return (uint)reverse_letters((ulong)~letters << 32);
}

// Of k-mers with less than 16 letters the prefix is shorter: the highest bits, the others 0.
#if SHORT
#define CUT_FORWARD(prefix) ((prefix) >> unused << unused)
#define CUT_BACKWARD(prefix) ((prefix) << unused)
#else
#define CUT_FORWARD(prefix) (prefix)
#define CUT_BACKWARD(prefix) (prefix)
#endif

__kernel ALONE void sample_prefixes(__global const uint *codes, __global const uint *starts, uint groups, uint every, uint k, uint low,
                                    uint last, uint shift, uint bins, __global ulong *counts)
{
    const uint unused = 32 - 2 * MIN(k, 16u), ends = MAX(k, 16u) - 16;
    const ulong words = 2 * (ulong)groups;
    counts += (ulong)get_global_id(0) * bins;
    for (ulong t = get_global_id(0); t * every < groups; t += get_global_size(0)) {
        const ulong g = t * every + ((ulong)((uint)t * 2654435769u) * every >> 32);
        if (g >= groups || !starts[g])
            continue;
        uint16 prefixes[2];
        UNROLL
        for (uint q = 0; q < 2; ++q) {
            const ulong first = 32 * g + 16 * q;
            uint16 prefix = CUT_FORWARD(forward_prefixes(letters16(codes, words, first), letters16(codes, words, first + 16)));
#if CANONICAL
            const uint x = complement16(letters16(codes, words, first + ends)), y = complement16(letters16(codes, words, first + ends + 16));
            const uint16 other = CUT_BACKWARD(backward_prefixes(x, y));
            prefix = other < prefix ? other : prefix;
#endif
            prefixes[q] = prefix - low;
        }
        for (uint left = starts[g]; left; left &= left - 1) {
            const uint offset = ((const uint *)prefixes)[31 - lowest_bit32(left)];
            if (offset <= last - low)
                ++counts[offset >> shift];
        }
    }
}
