// K-mers cut out of packed symbols and dealt out by a digit of their prefix at once: the first pass of a sort.
//
// The digit is the lowest DIGIT_BITS of a k-mer's first `bits` bits. A tile is TILE symbols of a stream.
//
//   count_digits   counts[digit * tiles + first_tile + t]: k-mers of tile t of the stream with each digit
//   deal_kmers     keys[w * stride + place]: word w of each k-mer, those of a tile and digit from the scan of the counts on;
//                  k-mers of one tile and digit are in any order
//
// Only a k-mer's ends are looked at for the digit; it is cut out when it is written, in runs.
//
// -D WORDS=n       words of a k-mer
// -D CANONICAL=0|1 the lesser of a k-mer and its reverse complement
// -D LANES=n       work-items of a tile, a power of two, 16 to 256
// -D EACH=n        symbols of each; LANES x EACH is a multiple of 32 and at most 65,536
#include "common/portable.clh"
#include "kmers/kmer.clh"

#define DIGIT_BITS 8
#define DIGITS (1 << DIGIT_BITS)
#define TILE (LANES * EACH)

static inline uint starts_here(__global const uint *starts, uint groups, uint at)
{
    return at / 32 < groups ? starts[at / 32] << at % 32 >> 31 : 0;
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void count_digits(__global const uint *codes, __global const uint *starts, uint groups, uint k, uint bits, uint first_tile,
                  uint tiles, __global uint *counts)
{
    __local uint count[DIGITS];
    const uint lane = get_local_id(0), tile = get_group_id(0);
    for (uint d = lane; d < DIGITS; d += LANES)
        count[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint e = 0; e < EACH; ++e) {
        const uint at = tile * TILE + e * LANES + lane;
        if (starts_here(starts, groups, at))
            atomic_inc(&count[cut_prefix(codes, at, k, CANONICAL, bits) % DIGITS]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = lane; d < DIGITS; d += LANES)
        counts[(ulong)d * tiles + first_tile + tile] = count[d];
}

__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
void deal_kmers(__global const uint *codes, __global const uint *starts, uint groups, uint k, uint bits, uint first_tile,
                uint tiles, __global const uint *places, ulong stride, __global ulong *keys)
{
    __local uint records[TILE]; // digit in the high half and symbol in the low half, by digit
    __local uint count[DIGITS], base[DIGITS], sums[LANES];
    const uint lane = get_local_id(0), tile = get_group_id(0);
    for (uint d = lane; d < DIGITS; d += LANES)
        count[d] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint record[EACH];
    ushort rank[EACH];
    uint found = 0;
    UNROLL
    for (uint e = 0; e < EACH; ++e) {
        const uint at = tile * TILE + e * LANES + lane;
        if (starts_here(starts, groups, at)) {
            const uint digit = cut_prefix(codes, at, k, CANONICAL, bits) % DIGITS;
            record[e] = digit << 16 | (e * LANES + lane);
            rank[e] = (ushort)atomic_inc(&count[digit]);
            found |= 1u << e;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    // where each digit begins in the tile
    uint own = 0;
    for (uint d = lane * (DIGITS / LANES); d < (lane + 1) * (DIGITS / LANES); ++d)
        own += count[d];
    sums[lane] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    uint sum = own;
    for (uint reach = 1; reach < LANES; reach *= 2) {
        const uint before = lane >= reach ? sums[lane - reach] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        sum += before;
        sums[lane] = sum;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    const uint here = sums[LANES - 1];
    sum -= own;
    for (uint d = lane * (DIGITS / LANES); d < (lane + 1) * (DIGITS / LANES); ++d) {
        const uint size = count[d];
        count[d] = sum;
        base[d] = places[(ulong)d * tiles + first_tile + tile] - sum;
        sum += size;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    UNROLL
    for (uint e = 0; e < EACH; ++e)
        if (found >> e & 1)
            records[count[record[e] >> 16] + rank[e]] = record[e];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < here; i += LANES) {
        const uint one = records[i];
        ulong key[WORDS];
        cut_kmer(codes, tile * TILE + (one & 0xffff), k, CANONICAL, key);
        const uint place = base[one >> 16] + i;
        for (uint w = 0; w < WORDS; ++w)
            keys[w * stride + place] = key[w];
    }
}
