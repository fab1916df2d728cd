// Where the parts of partitioned keys start: in ascending order of their parts, the first key of each part or a later one.
//
//   starts[p]   how many keys belong to parts before p, found by bisection; 0 <= p <= parts
//
// The part of a key is a digit, bits shift .. shift + bits - 1 counted from word `word` on, which may reach into the next word
// (`mask` has `bits` ones, at most 31), or, with SPLIT, what splitters say.
//
// -D KEY=uint|ulong -D WORDS=n -D SPLIT   as in primitives/radix_sort.cl
#include "common/portable.clh"

#ifdef SPLIT
#include "primitives/splitters.clh"

#define PART_AT(i) part_of(keys, stride, i, splitters, number)
#else
#define PART_AT(i) digit_at(keys, stride, i, word, shift, mask)

static inline uint digit_at(__global const KEY *keys, ulong stride, ulong i, uint word, uint shift, uint mask)
{
    const uint width = 8 * sizeof(KEY);
    KEY digit = keys[word * stride + i] >> shift;
    if (shift > 0 && word + 1 < WORDS)
        digit |= keys[(word + 1) * stride + i] << (width - shift);
    return (uint)digit & mask;
}
#endif

__kernel void find_starts(__global const KEY *keys, ulong stride, ulong size, uint parts,
#ifdef SPLIT
                          __global const KEY *splitters, uint number,
#else
                          uint word, uint shift, uint mask,
#endif
                          __global uint *starts)
{
    const uint p = get_global_id(0);
    if (p > parts)
        return;
    ulong low = 0, high = size;
    while (low < high) {
        const ulong middle = low + (high - low) / 2;
        if (PART_AT(middle) < p)
            low = middle + 1;
        else
            high = middle;
    }
    starts[p] = (uint)low;
}
