// Homopolymer compression of packed symbols: each run of equal bases becomes one of them, and each run of gaps one gap.
//
// A work-item has `each` groups of 32 symbols, from group 32 t each on for work-item t.
//
//   count_kept   kept[t]: symbols of work-item t that differ from the one before them
//   pack_kept    writes them from symbol places[t] on, into streams that are zero before
#include "common/bits.clh"
#include "sequence/packer.clh"

// Every second bit of a number, the lowest one first.
static inline uint even_bits(ulong bits)
{
    bits &= 0x5555555555555555ul;
    bits = (bits | bits >> 1) & 0x3333333333333333ul;
    bits = (bits | bits >> 2) & 0x0f0f0f0f0f0f0f0ful;
    bits = (bits | bits >> 4) & 0x00ff00ff00ff00fful;
    bits = (bits | bits >> 8) & 0x0000ffff0000fffful;
    return (uint)(bits | bits >> 16);
}

// The symbols of a group that differ from the one before them; symbol i has bit 31 - i. The first of all symbols does.
static inline uint kept_of(__global const uint *codes, __global const uint *valid, uint group, uint size)
{
    const ulong own = (ulong)codes[2 * group] << 32 | codes[2 * group + 1];
    const uint good = valid[group];
    ulong before = own >> 2;
    uint good_before = good >> 1;
    if (group) {
        before |= (ulong)(codes[2 * group - 1] & 3) << 62;
        good_before |= (valid[group - 1] & 1) << 31;
    }
    const ulong other = own ^ before;
    uint kept = even_bits(other | other >> 1) | (good ^ good_before);
    if (!group)
        kept |= 1u << 31;
    const uint there = size - 32 * group;
    return there < 32 ? kept & ~(~0u >> there) : kept;
}

__kernel void count_kept(__global const uint *codes, __global const uint *valid, uint size, uint groups, uint each, __global uint *kept)
{
    const uint t = get_global_id(0), begin = MIN(t * each, groups), end = MIN(begin + each, groups);
    uint count = 0;
    for (uint g = begin; g < end; ++g)
        count += POPCOUNT(kept_of(codes, valid, g, size));
    if (begin < end)
        kept[t] = count;
}

__kernel void pack_kept(__global const uint *codes, __global const uint *valid, uint size, uint groups, uint each,
                        __global const uint *places, __global uint *to_codes, __global uint *to_valid)
{
    const uint t = get_global_id(0), begin = MIN(t * each, groups), end = MIN(begin + each, groups);
    if (begin == end)
        return;
    Packer packer = packer_at(places[t]);
    for (uint g = begin; g < end; ++g) {
        const ulong own = (ulong)codes[2 * g] << 32 | codes[2 * g + 1];
        const uint good = valid[g];
        for (uint kept = kept_of(codes, valid, g, size); kept;) {
            const uint bit = 31 - clz(kept);
            put_symbols(&packer, (uint)(own >> 2 * bit) & 3, good >> bit & 1, 1, to_codes, to_valid);
            kept &= ~(1u << bit);
        }
    }
    close_packer(&packer, to_codes, to_valid);
}
