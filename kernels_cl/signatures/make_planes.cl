// Makes bit planes (planes.clh) of the letters of pieces, those of the rows: a work-item a block of words.
//
// Plane k is that of sets[k]; the set 0 stands for "a single nucleotide". Of the latter, which comes last where it is there,
// `ranks` gets the number of bits of each word.
//
// -D CPU=0|1         see planes.clh
// -D FILTERED=0|1    there is a plane of single nucleotides, and `ranks` is filled
#include "sequence/text.clh"
#include "signatures/records.clh"
#include "signatures/planes.clh"

#define EVERY_BYTE_TO_BIT 0x0102040810204080ul  // moves bit 0 of byte i to bit 56 + i

// The row that holds a word: the last one that does not start behind it.
static inline uint row_of(__global const uint *places, uint rows, uint word)
{
    uint low = 0, high = rows;
    while (high - low > 1) {
        const uint middle = (low + high) / 2;
        if (places[middle] <= word)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// Bits of up to 32 letters from a place on, one number for each nucleotide.
static inline uint4 bits_of(__global const uchar *codes, uint at, uint letters, uint size)
{
    uint bits[4] = {0, 0, 0, 0};
    for (uint i = 0; i < 32 && i < letters; i += 8) {
        const uint count = MIN(letters - i, 8);
        const ulong eight = load_some(codes, at + i, count, size) & LOW_BITS64(8 * count);
        UNROLL
        for (uint b = 0; b < 4; ++b)
            bits[b] |= (uint)(((eight >> b & EVERY_BYTE(1)) * EVERY_BYTE_TO_BIT) >> 56) << i;
    }
    return (uint4)(bits[0], bits[1], bits[2], bits[3]);
}

// Letters that have a nucleotide of a set, or for the set 0 those that are a single nucleotide.
static inline uint letters_with(uint4 bits, uint set)
{
    if (set == 0) {
        const uint two = (bits.x & bits.y) | (bits.z & bits.w) | ((bits.x | bits.y) & (bits.z | bits.w));
        return (bits.x | bits.y | bits.z | bits.w) & ~two;
    }
    return (set & 1 ? bits.x : 0) | (set & 2 ? bits.y : 0) | (set & 4 ? bits.z : 0) | (set & 8 ? bits.w : 0);
}

// The hint keeps CPUs' compilers from joining work-items, whose letters lie far apart.
__kernel __attribute__((vec_type_hint(uint4)))
void make_planes(__global const uchar *codes, uint text_size, __global const Piece *pieces, __global const uint *places, uint rows,
                 __global const uchar *sets, uint count, ulong stride, __global uint *planes, __global uint *ranks)
{
    const ulong first = get_global_id(0) * BLOCK;
    if (first >= stride)
        return;
    const uint row = row_of(places, rows, (uint)first), letters = pieces[row].letters, size = pieces[row].size;
    for (ulong word = first; word < first + BLOCK; ++word) {
        const ulong start = (word - places[row]) * 32;
        uint4 bits = (uint4)(0, 0, 0, 0);
        if (start < size)
            bits = bits_of(codes, letters + (uint)start, size - (uint)start, text_size);
        for (uint k = 0; k < count; ++k)
            planes[k * stride + word] = letters_with(bits, sets[k]);
#if FILTERED
        ranks[word] = POPCOUNT(letters_with(bits, 0));
#endif
    }
}
