// Features as docs/classify-format.md packs them: numbers of `width` bits one behind the other, the first bit of a number the lowest one.
//
//   sum_steps      facts[4 * g] and on, of the group g of `step` features: their locations, how many features have any, how many have one,
//                  and the most that one has
//   check_steps    faults[g] = whether a key or a location of group g is out of order, or a location not below `windows`. before[g] as below
//   find_buckets   starts[b] = how many keys are below b << width, for b <= buckets; all of them for the last one
//   sum_counts     sums[r] = the sum of the counts from starts[r] to before starts[r + 1], for r < ranges
//   mark_last      last[i] = 1 if the location begin + i is the last one of its feature, for i < end - begin. Features come in groups of
//                  `step`, which all have locations, the first one with counts[counts_at]; before[g]: locations before those of the group g
//   pack_numbers   the words of the last `width` bits of numbers[numbers_at] and on, or with FLAGGED of number << 1 | last. Bits behind the last one are 0
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

__kernel void sum_steps(__global const COUNT *counts, ulong size, uint step, __global uint *facts)
{
    const ulong first = get_global_id(0) * (ulong)step;
    if (first >= size)
        return;
    const ulong behind = MIN(first + step, size);
    uint located = 0, alive = 0, single = 0, largest = 0;
    for (ulong i = first; i < behind; ++i) {
        const uint count = counts[i];
        located += count;
        alive += count > 0;
        single += count == 1;
        largest = MAX(largest, count);
    }
    __global uint *own = facts + 4 * get_global_id(0);
    own[0] = located;
    own[1] = alive;
    own[2] = single;
    own[3] = largest;
}

__kernel void check_steps(__global const uint *keys, __global const COUNT *counts, __global const uint *locations,
                          __global const ulong *before, ulong size, uint step, uint windows, __global uchar *faults)
{
    const ulong first = get_global_id(0) * (ulong)step;
    if (first >= size)
        return;
    const ulong behind = MIN(first + step, size);
    __global const uint *own = locations + before[get_global_id(0)];
    uint wrong = 0;
    for (ulong i = first; i < behind; ++i) {
        const uint count = counts[i];
        wrong |= i && keys[i] <= keys[i - 1];
        for (uint j = 0; j < count; ++j)
            wrong |= own[j] >= windows || (j && own[j] <= own[j - 1]);
        own += count;
    }
    faults[get_global_id(0)] = wrong;
}

__kernel void find_buckets(__global const uint *keys, uint size, uint width, uint buckets, __global uint *starts)
{
    const uint bucket = get_global_id(0);
    if (bucket > buckets)
        return;
    const ulong least = (ulong)bucket << width;
    uint low = 0, high = size;
    while (low < high) {
        const uint middle = low + (high - low) / 2;
        if (keys[middle] < least)
            low = middle + 1;
        else
            high = middle;
    }
    starts[bucket] = low;
}

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

__kernel void mark_last(__global const COUNT *counts, ulong counts_at, __global const ulong *before, ulong size, uint step, ulong begin,
                        ulong end, __global uchar *last)
{
    counts += counts_at;
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

__kernel void pack_numbers(__global const uint *numbers, ulong numbers_at,
#if FLAGGED
                           __global const uchar *last,
#endif
                           ulong size, uint width, ulong words, __global ulong *packed)
{
    const ulong word = get_global_id(0);
    if (word >= words)
        return;
    numbers += numbers_at;
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
