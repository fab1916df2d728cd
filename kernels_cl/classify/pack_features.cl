// Features as docs/classify-format.md packs them: numbers of `width` bits one behind the other, the first bit of a number the lowest one.
//
//   sum_counts     sums[r] = the sum of the counts from starts[r] to before starts[r + 1], for r < ranges
//   mark_last      last[i] = 1 if the location begin + i is the last one of its feature, for i < end - begin. Features come in groups of
//                  `step`, which all have locations; before[g]: locations before those of the group g
//   pack_numbers   the words of the last `width` bits of numbers, or with FLAGGED of number << 1 | last. Bits behind the last one are 0
//
// A work-item makes one word: in groups of 64 numbers, which fill `width` words, all numbers that have bits in it.
#include "common/portable.clh"

#ifndef COUNT
#define COUNT uchar
#endif
#ifndef FLAGGED
#define FLAGGED 0
#endif
#define WORD 64

__kernel void sum_counts(__global const COUNT *counts, __global const uint *starts, uint ranges, __global ulong *sums)
{
    const uint r = get_global_id(0);
    if (r >= ranges)
        return;
    ulong sum = 0;
    for (uint i = starts[r]; i < starts[r + 1]; ++i)
        sum += counts[i];
    sums[r] = sum;
}

__kernel void mark_last(__global const COUNT *counts, __global const ulong *before, ulong size, uint step, ulong begin, ulong end,
                        __global uchar *last)
{
    const ulong first = get_global_id(0) * (ulong)step;
    if (first >= size)
        return;
    const ulong behind = MIN(first + step, size);
    ulong place = before[get_global_id(0)];
    for (ulong i = first; i < behind; ++i) {
        place += counts[i];
        if (place > begin && place <= end)
            last[place - 1 - begin] = 1;
    }
}

__kernel void pack_numbers(__global const uint *numbers,
#if FLAGGED
                           __global const uchar *last,
#endif
                           ulong size, uint width, ulong words, __global ulong *packed)
{
    const ulong word = get_global_id(0);
    if (word >= words)
        return;
    const ulong mask = ((ulong)1 << width) - 1, base = word / width * WORD;
    const uint bit = (uint)(word % width) * WORD, first = bit / width;
    int shift = (int)(first * width) - (int)bit;
    ulong found = 0;
    for (ulong i = base + first; shift < WORD && i < size; ++i, shift += (int)width) {
#if FLAGGED
        const ulong number = ((ulong)numbers[i] << 1 | last[i]) & mask;
#else
        const ulong number = numbers[i] & mask;
#endif
        found |= shift < 0 ? number >> -shift : number << shift;
    }
    packed[word] = found;
}
