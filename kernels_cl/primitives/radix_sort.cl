// One pass of a stable radix sort by a digit of 8 bits: counts per tile and digit, and, after their scan, the scatter.
//
// A key has WORDS words, least significant first, each in a channel of its own: word w of key i is keys[w * stride + i]. The
// digit is bits shift .. shift + bits - 1 of word `word`, or, with SPLIT, of the number of the part that a key belongs to, which
// is searched once: the digits are kept in `digits`. A value per key may go along.
//
//   counts[digit * tiles + tile]     keys of the tile with that digit; its exclusive scan is where the first of them goes
//
// The scatter (GPUs) ranks a tile's keys in local memory in two rounds of 4 bits. In a round each work-item counts its own EACH
// neighbouring keys by digit, in counters that no other work-item touches, so the order stays; the counters' scan gives the
// places. Then the tile lies sorted in local memory and goes out in runs. Only the digit and where the key came from are
// moved; words and values are read again, from a tile that is in the cache.
//
// -D KEY=uint|ulong   a word
// -D WORDS=n          words of a key
// -D VALUE=type       the value's type, where there are values
// -D CPU=0|1          1: a work-item a tile, serial, the tile's size in `tile`; else LANES work-items a tile of LANES x EACH
// -D LANES=n, EACH=n  (GPUs) LANES is a power of two, 16 to 256; EACH at most 16
// -D PASSES           the digit passes from word `word` into the next one
// -D SPLIT            keys belong to parts by splitters; primitives/splitters.clh
#include "common/bits.clh"
#ifdef SPLIT
#include "primitives/splitters.clh"
#endif

#define DIGITS 256
#define SEARCHES 8 // for parts at a time, on CPUs

// The item that has the digit of key i, a word of the key or the digit itself, where it is counted and where it is scattered.
#ifdef SPLIT
#define ITEM uchar
#define DIGIT_OF(item) (item)
#define PART_DIGIT(part) (uchar)((part) >> shift & mask)
#define FIND_ITEM(i) (digits[i] = PART_DIGIT(part_of(keys, stride, i, splitters, number)))
#define ITEM_AT(i) digits[i]
#define COUNT_SPLIT , __global const KEY *splitters, uint number, __global uchar *digits
#define SCATTER_SPLIT , __global const uchar *digits
#else
#define ITEM KEY
#ifdef PASSES
#define DIGIT_OF(item) ((uint)(item) & mask)
#define FIND_ITEM(i) (keys[word * stride + (i)] >> shift | keys[(word + 1) * stride + (i)] << (8 * sizeof(KEY) - shift))
#else
#define DIGIT_OF(item) ((uint)((item) >> shift) & mask)
#define FIND_ITEM(i) keys[word * stride + (i)]
#endif
#define ITEM_AT(i) FIND_ITEM(i)
#define COUNT_SPLIT
#define SCATTER_SPLIT
#endif

#if CPU

__kernel void count_digits(__global const KEY *keys, ulong stride, uint word, ulong size, ulong tile, uint tiles, uint shift,
                           uint mask, __global uint *counts COUNT_SPLIT)
{
    const uint t = get_global_id(0);
    const ulong end = MIN((t + 1) * tile, size);
    uint count[DIGITS];
    for (uint d = 0; d < DIGITS; ++d)
        count[d] = 0;
    ulong i = t * tile;
#ifdef SPLIT
    for (; i + SEARCHES <= end; i += SEARCHES) {
        uint part[SEARCHES];
        find_parts(keys, stride, i, splitters, number, SEARCHES, part);
        for (uint s = 0; s < SEARCHES; ++s) {
            digits[i + s] = PART_DIGIT(part[s]);
            ++count[digits[i + s]];
        }
    }
#endif
    for (; i < end; ++i)
        ++count[DIGIT_OF(FIND_ITEM(i))];
    for (uint d = 0; d < DIGITS; ++d)
        counts[(ulong)d * tiles + t] = count[d];
}

__kernel void scatter_keys(__global const KEY *keys, __global KEY *out, ulong stride, uint word, ulong size, ulong tile,
                           uint tiles, uint shift, uint mask, __global const uint *places SCATTER_SPLIT
#ifdef VALUE
                           , __global const VALUE *values, __global VALUE *values_out
#endif
)
{
    const uint t = get_global_id(0);
    const ulong end = MIN((t + 1) * tile, size);
    uint place[DIGITS];
    for (uint d = 0; d < DIGITS; ++d)
        place[d] = places[(ulong)d * tiles + t];
    for (ulong i = t * tile; i < end; ++i) {
        const uint to = place[DIGIT_OF(ITEM_AT(i))]++;
        for (uint w = 0; w < WORDS; ++w)
            out[w * stride + to] = keys[w * stride + i];
#ifdef VALUE
        values_out[to] = values[i];
#endif
    }
}

#else

#define TILE (LANES * EACH)
#define ROUND 16             // digits of a round
#define PARTS (LANES / ROUND) // work-items that scan the counters of a digit, ROUND each
#define COUNTED 8 // tiles that a work-group of count_digits takes, so that its writes fill whole sectors

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_digits(__global const KEY *keys, ulong stride, uint word, ulong size, ulong tile, uint tiles, uint shift, uint mask,
                  __global uint *counts COUNT_SPLIT)
{
    __local uint count[COUNTED * DIGITS];
    const uint lane = get_local_id(0), first = get_group_id(0) * COUNTED;
    for (uint i = lane; i < COUNTED * DIGITS; i += LANES)
        count[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint t = 0; t < COUNTED; ++t) {
        const ulong begin = (ulong)(first + t) * TILE;
        if (begin + TILE <= size) {
            ITEM item[EACH];
            for (uint i = 0; i < EACH; ++i)
                item[i] = FIND_ITEM(begin + i * LANES + lane);
            for (uint i = 0; i < EACH; ++i)
                atomic_inc(&count[DIGIT_OF(item[i]) * COUNTED + t]);
        } else {
            for (ulong i = begin + lane; i < size; i += LANES)
                atomic_inc(&count[DIGIT_OF(FIND_ITEM(i)) * COUNTED + t]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < COUNTED * DIGITS; i += LANES)
        if (first + i % COUNTED < tiles)
            counts[(ulong)(i / COUNTED) * tiles + first + i % COUNTED] = count[i];
}

// A record is the digit in its high half and the key's place in the tile in its low half. Work-items read EACH neighbouring
// records; the gaps keep them on different banks.
#define PADDED(i) ((i) + (i) / EACH)
// Counters of 16 bits, by digit of 4 bits and work-item; the work-items of either half share words, so that neighbours do not.
#define HALF (LANES / 2)
#define ROW (HALF + HALF / 16)
#define COUNTER(digit, lane) (2 * ((digit) * ROW + ((lane) % HALF) + ((lane) % HALF) / 16) + (lane) / HALF)

static inline void rank_round(__local uint *records, __local ushort *counters, __local ushort *sums, uint from)
{
    const uint lane = get_local_id(0);
    uint record[EACH];
    ushort before[EACH];
    for (uint i = 0; i < EACH; ++i)
        record[i] = records[PADDED(lane * EACH + i)];
    for (uint d = 0; d < ROUND; ++d)
        counters[COUNTER(d, lane)] = 0;
    for (uint i = 0; i < EACH; ++i) {
        const uint counter = COUNTER((record[i] >> from) & 15, lane);
        before[i] = counters[counter];
        counters[counter] = before[i] + 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // exclusive scan of the counters, by digit and then work-item: each work-item takes ROUND of a digit's
    const uint digit = lane / PARTS, part = lane % PARTS;
    ushort sum = 0;
    for (uint i = 0; i < ROUND; ++i)
        sum += counters[COUNTER(digit, part * ROUND + i)];
    sums[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < ROUND) {
        ushort row = 0;
        for (uint i = 0; i < PARTS; ++i)
            row += sums[lane * PARTS + i];
        sums[LANES + lane] = row;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    ushort running = 0;
    for (uint i = 0; i < digit; ++i)
        running += sums[LANES + i];
    for (uint i = 0; i < part; ++i)
        running += sums[digit * PARTS + i];
    for (uint i = 0; i < ROUND; ++i) {
        const uint counter = COUNTER(digit, part * ROUND + i);
        const ushort count = counters[counter];
        counters[counter] = running;
        running += count;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < EACH; ++i) {
        const uint place = counters[COUNTER((record[i] >> from) & 15, lane)] + before[i];
        records[PADDED(place)] = record[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void scatter_keys(__global const KEY *keys, __global KEY *out, ulong stride, uint word, ulong size, ulong tile, uint tiles,
                  uint shift, uint mask, __global const uint *places SCATTER_SPLIT
#ifdef VALUE
                  , __global const VALUE *values, __global VALUE *values_out
#endif
)
{
    __local uint records[TILE + TILE / EACH];
    __local ushort counters[2 * ROUND * ROW];
    __local ushort sums[LANES + ROUND];
    __local uint base[DIGITS];
    const uint lane = get_local_id(0);
    const ulong begin = (ulong)get_group_id(0) * TILE;
    const uint here = (uint)MIN((ulong)TILE, size - begin);
    // what is beyond the end has the last digit and the last places
    for (uint i = 0; i < EACH; ++i) {
        const uint at = i * LANES + lane;
        const uint digit = at < here ? DIGIT_OF(ITEM_AT(begin + at)) : DIGITS - 1;
        records[PADDED(at)] = digit << 16 | at;
    }
    for (uint d = lane; d < DIGITS; d += LANES)
        base[d] = places[(ulong)d * tiles + get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_round(records, counters, sums, 16);
    rank_round(records, counters, sums, 20);
    // where the first key of each digit lies in the tile, taken off its place in the output
    for (uint i = 0; i < EACH; ++i) {
        const uint at = i * LANES + lane, digit = records[PADDED(at)] >> 16;
        if (at == 0 || records[PADDED(at - 1)] >> 16 != digit)
            base[digit] -= at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < WORDS; ++w)
        for (uint i = 0; i < EACH; ++i) {
            const uint at = i * LANES + lane, record = records[PADDED(at)];
            if (at < here)
                out[w * stride + base[record >> 16] + at] = keys[w * stride + begin + (record & 0xffff)];
        }
#ifdef VALUE
    for (uint i = 0; i < EACH; ++i) {
        const uint at = i * LANES + lane, record = records[PADDED(at)];
        if (at < here)
            values_out[base[record >> 16] + at] = values[begin + (record & 0xffff)];
    }
#endif
}

#endif
