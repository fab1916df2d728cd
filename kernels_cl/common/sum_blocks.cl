// Checksums of the blocks of a section of a file of arrays: SipHash-2-4 of each. A work-item a block, so that a device hashes blocks
// side by side.
//
// Layout: `data` are little-endian words from the beginning of block `first` on, `size` of them. A block has BLOCK words, the last one
// of a section may have fewer; all have a multiple of 8. sums[first + i] is the checksum of the i-th of `blocks` blocks.
//
// -D BLOCK=n   words of a block; a multiple of 8
#include "common/hash.clh"

#define AHEAD 8 // words that are loaded at a time, as each load takes as long as several words take to hash

__kernel void sum_blocks(__global const ulong *data, ulong size, uint blocks, ulong first, ulong k0, ulong k1, __global ulong *sums)
{
    const uint block = get_global_id(0);
    if (block >= blocks)
        return;
    const ulong begin = (ulong)block * BLOCK;
    const uint words = (uint)MIN((ulong)BLOCK, size - begin);
    __global const ulong *own = data + begin;
    SIP_START(v0, v1, v2, v3, k0, k1);
    for (uint i = 0; i < words; i += AHEAD) {
        ulong next[AHEAD];
        UNROLL
        for (uint j = 0; j < AHEAD; ++j)
            next[j] = own[i + j];
        UNROLL
        for (uint j = 0; j < AHEAD; ++j)
            SIP_WORD(v0, v1, v2, v3, next[j]);
    }
    const ulong last = (ulong)words * 8 << 56;
    SIP_WORD(v0, v1, v2, v3, last);
    sums[first + block] = sip_finish(v0, v1, v2, v3);
}
