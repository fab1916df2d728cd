// One pass of a stable radix sort by a digit of 8 bits: counts per tile and digit, and, after their scan, the scatter.
//
// A key has WORDS words, least significant first, each in a channel of its own: word w of key i is keys[w * stride + i]. The
// digit is bits shift .. shift + bits - 1 of word `word`, or, with SPLIT, of the number of the part that a key belongs to, which
// is searched once: the digits are kept in `digits`. A value per key may go along.
//
//   counts[digit * tiles + tile]     keys of the tile with that digit, up to the last one, `mask`; their exclusive scan is where
//                                    the first of them goes
//
// The scatter (GPUs) ranks a tile's keys in local memory in two rounds of 4 bits. In a round each work-item counts its own EACH
// neighbouring keys by digit in registers, so the order stays; the counters' scan over the tile gives the places. Then the tile
// lies sorted in local memory and goes out in runs. Only the digit and where the key came from are moved; words and values are
// read again, from a tile that is in the cache. What bounds it is the traffic of local memory.
//
// -D KEY=uint|ulong   a word
// -D WORDS=n          words of a key
// -D VALUE=type       the value's type, where there are values
// -D CPU=0|1          1: a work-item a tile, serial, the tile's size in `tile`; else LANES work-items a tile of LANES x EACH
// -D LANES=n, ROOT=n  (GPUs) LANES = 4 x ROOT x ROOT, 16 to 256
// -D EACH=n           (GPUs) odd, so that neighbours use different banks of local memory, and at most 15: counters have 4 bits
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
    for (uint d = 0; d <= mask; ++d)
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
    for (uint d = 0; d <= mask; ++d)
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
#define COUNTED 8 // tiles that a work-group of count_digits takes, so that its writes fill whole sectors

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_digits(__global const KEY *keys, ulong stride, uint word, ulong size, ulong tile, uint tiles, uint shift, uint mask,
                  __global uint *counts COUNT_SPLIT)
{
    __local uint count[COUNTED * DIGITS];
    const uint lane = get_local_id(0), first = get_group_id(0) * COUNTED;
    const uint used = COUNTED * (mask + 1);
    for (uint i = lane; i < used; i += LANES)
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
    for (uint i = lane; i < used; i += LANES)
        if (first + i % COUNTED < tiles)
            counts[(ulong)(i / COUNTED) * tiles + first + i % COUNTED] = count[i];
}

// Counters of a round, while a work-item counts: 4 bits each, those of digits 0 to 7 in `low` and of 8 to 15 in `high`.
#define COUNTER(low, high, digit) (((digit) < 8 ? (low) : (high)) >> 4 * ((digit) & 7) & 15)
#define COUNT(low, high, digit)                                                                                                 \
    {                                                                                                                          \
        const uint one = 1u << 4 * ((digit) & 7);                                                                              \
        low += (digit) < 8 ? one : 0;                                                                                          \
        high += (digit) < 8 ? 0 : one;                                                                                         \
    }
// And in local memory, by digit and then work-item: 16 bits each, that of digit d in the low half of a word and that of d + 8 in
// its high half. SCANNERS work-items scan SCANNED words each; the gaps keep them on different banks.
#define PAIRS 8
#define SCANNERS (ROOT * ROOT)
#define SCANNED (PAIRS * LANES / SCANNERS)
#define GAPPED(i) ((i) + (i) / SCANNED)

// Exclusive scan of the counters; the totals of digits 0 to 7 come before all of 8 to 15. `sums` holds SCANNERS + ROOT.
static inline void scan_counters(__local uint *counters, __local uint *sums)
{
    __local uint *rows = sums + SCANNERS;
    const uint lane = get_local_id(0);
    uint running = 0, all = 0;
    if (lane < SCANNERS) {
        for (uint i = 0; i < SCANNED; ++i)
            running += counters[GAPPED(lane * SCANNED + i)];
        sums[lane] = running;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < ROOT) {
        for (uint i = 0; i < ROOT; ++i)
            all += sums[lane * ROOT + i];
        rows[lane] = all;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lane < SCANNERS) {
        running = all = 0;
        for (uint row = 0; row < ROOT; ++row) {
            running += row < lane / ROOT ? rows[row] : 0;
            all += rows[row];
        }
        for (uint i = lane / ROOT * ROOT; i < lane; ++i)
            running += sums[i];
        running += all << 16;
        for (uint i = 0; i < SCANNED; ++i) {
            const uint count = counters[GAPPED(lane * SCANNED + i)];
            counters[GAPPED(lane * SCANNED + i)] = running;
            running += count;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Put records in the order of 4 bits. A record is the digit in its high half and the key's place in the tile in its low half.
static inline void rank_round(__local uint *records, __local uint *counters, __local uint *sums, uint from)
{
    const uint lane = get_local_id(0);
    uint record[EACH];
    uint low = 0, high = 0;
    for (uint i = 0; i < EACH; ++i) {
        record[i] = records[lane * EACH + i];
        COUNT(low, high, record[i] >> from & 15);
    }
    for (uint d = 0; d < PAIRS; ++d)
        counters[GAPPED(d * LANES + lane)] = COUNTER(low, high, d) | COUNTER(low, high, d + 8) << 16;
    barrier(CLK_LOCAL_MEM_FENCE);
    scan_counters(counters, sums);
    low = high = 0;
    for (uint i = 0; i < EACH; ++i) {
        const uint digit = record[i] >> from & 15;
        const uint first = counters[GAPPED((digit & 7) * LANES + lane)] >> (digit < 8 ? 0 : 16) & 0xffff;
        records[first + COUNTER(low, high, digit)] = record[i];
        COUNT(low, high, digit);
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
    __local uint records[TILE];
    __local uint counters[GAPPED(PAIRS * LANES)];
    __local uint sums[SCANNERS + ROOT];
    __local uint base[DIGITS];
    const uint lane = get_local_id(0);
    const ulong begin = (ulong)get_group_id(0) * TILE;
    const uint here = (uint)MIN((ulong)TILE, size - begin);
    // what is beyond the end has the last digit and the last places
    for (uint i = 0; i < EACH; ++i) {
        const uint at = i * LANES + lane;
        const uint digit = at < here ? DIGIT_OF(ITEM_AT(begin + at)) : mask;
        records[at] = digit << 16 | at;
    }
    for (uint d = lane; d <= mask; d += LANES)
        base[d] = places[(ulong)d * tiles + get_group_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    rank_round(records, counters, sums, 16);
    rank_round(records, counters, sums, 20);
    // where the first key of each digit lies in the tile, taken off its place in the output
    uint record[EACH];
    for (uint i = 0; i < EACH; ++i) {
        const uint at = i * LANES + lane;
        record[i] = records[at];
        if (at == 0 || records[at - 1] >> 16 != record[i] >> 16)
            base[record[i] >> 16] -= at;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint w = 0; w < WORDS; ++w)
        for (uint i = 0; i < EACH; ++i) {
            const uint at = i * LANES + lane;
            if (at < here)
                out[w * stride + base[record[i] >> 16] + at] = keys[w * stride + begin + (record[i] & 0xffff)];
        }
#ifdef VALUE
    for (uint i = 0; i < EACH; ++i) {
        const uint at = i * LANES + lane;
        if (at < here)
            values_out[base[record[i] >> 16] + at] = values[begin + (record[i] & 0xffff)];
    }
#endif
}

#endif
