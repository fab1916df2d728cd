// Where k-mers start in packed symbols, on CPUs, and how many there are.
//
// A place starts a k-mer where it and the k - 1 symbols behind it are letters. Of the words of a group, bit 31 - i is symbol i.
// A work-item takes `each` groups of 32 symbols.
//
//   find_starts       starts[g]: a bit for each symbol of group g, the first one highest; kmers[item]: how many are set
#include "common/portable.clh"
#include "common/bits.clh"

// The words whose first k letters are all good, in one group: windows that end in a later one are not there.
static inline uint erode(uint good, uint k)
{
    if (k > 32)
        return 0;
    for (uint have = 1; have < k;) {
        const uint more = MIN(have, k - have);
        good &= good << more;
        have += more;
    }
    return good;
}

__kernel ALONE void find_starts(__global const uint *valid, uint groups, uint each, uint k, __global uint *starts, __global ulong *kmers)
{
    const uint begin = (uint)MIN((ulong)get_global_id(0) * each, (ulong)groups), end = MIN(each, groups - begin) + begin;
    uint run = 0; // letters that follow each other behind the group
    for (uint g = end; begin < end && g < groups && run < k; ++g) {
        const uint letters = lowest_bit32(reverse_bits32(~valid[g]));
        run += letters;
        if (letters < 32)
            break;
    }
    ulong found = 0;
    for (uint g = end; g-- > begin;) {
        const uint good = valid[g], tail = lowest_bit32(~good);
        // windows that reach the end of the group start `run` + 32 - k symbols into it or before, and in its last letters
        const uint fit = run + 32 < k ? 0 : MIN(run + 33 - k, 32u);
        const uint here = erode(good, k) | (~LOW_BITS32(32 - fit) & LOW_BITS32(tail));
        starts[g] = here;
        found += POPCOUNT(here);
        run = tail < 32 ? lowest_bit32(reverse_bits32(~good)) : MIN(run + 32, 1u << 30);
    }
    kmers[get_global_id(0)] = found;
}
