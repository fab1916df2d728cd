// Patterns of sites, and how far the two halves of a window of sites share them: the numbers of mu_LD.
//
// Two sites have one pattern if they are equal, or if one is the complement of the other: all states exchanged, those that are missing at the same
// haplotypes. The smaller of both forms, by the first word in which they differ, is the form that is hashed and compared.
//
// bits, valid: word-major, (words, stride): word w of site s is at w * stride + s. `last` is the last word of a site at which all is observed.
//
// -D MASKED=1      some states are missing; `valid` says which are observed
// -D GENOTYPES=1   unphased genotypes: bit 2s is "sample s carries the allele", bit 2s + 1 "carries it twice"; the complement exchanges 0 and 2
// -D FLAGS=n       words of a flag for each site of half a window
#include "common/portable.clh"
#include "common/bits.clh"

#ifndef MASKED
#define MASKED 0
#endif
#ifndef GENOTYPES
#define GENOTYPES 0
#endif
#ifndef FLAGS
#define FLAGS 1
#endif

#if GENOTYPES
#define OTHER(x) ((((x) >> 1) & 0x55555555u) | (((x) & 0x55555555u) << 1))
#else
#define OTHER(x) (x)
#endif
#if MASKED
#define SEEN(w, site) valid[(size_t)(w) * stride + (site)]
#else
#define SEEN(w, site) ((w) + 1 < words ? 0xffffffffu : last)
#endif
#define WORD(w, site) bits[(size_t)(w) * stride + (site)]
#define COMPLEMENT(x, seen) (~OTHER(x) & (seen))

// A hash of each site's pattern, and whether the pattern is its complement. `kept` are the bits of hashes that are used: all, but in tests.
__kernel void hash_patterns(__global const uint *bits, __global const uint *valid, uint words, uint stride, uint last, ulong kept, __global ulong *hashes,
                            __global uchar *flipped)
{
    const uint site = get_global_id(0);
    if (site >= stride)
        return;
    ulong hash = 0, other_hash = 0;
    uint settled = 0, flip = 0;
    for (uint w = 0; w < words; w++) {
        const uint seen = SEEN(w, site), x = WORD(w, site), other = COMPLEMENT(x, seen);
        flip = settled ? flip : (uint)(x > other);
        settled |= (uint)(x != other);
        hash = (hash ^ (flip ? other : x)) * 0x9e3779b97f4a7c15ul;
        hash ^= hash >> 32;
#if MASKED
        other_hash = (other_hash ^ seen) * 0xc2b2ae3d27d4eb4ful;
        other_hash ^= other_hash >> 29;
#endif
    }
    hashes[site] = (hash ^ other_hash) & kept;
    flipped[site] = (uchar)flip;
}

// How far back the last site with the same pattern is, among the `reach` sites before; 0 if there is none. Equal hashes are not trusted.
__kernel void link_equal(__global const uint *bits, __global const uint *valid, uint words, uint stride, uint last, uint reach, __global const ulong *hashes,
                         __global const uchar *flipped, __global uint *back)
{
    const uint site = get_global_id(0);
    if (site >= stride)
        return;
    const ulong hash = hashes[site];
    const uint flip = flipped[site];
    const uint most = MIN(reach, site);
    uint found = 0;
    for (uint distance = 1; distance <= most && !found; distance++) {
        const uint before = site - distance;
        if (hashes[before] != hash)
            continue;
        const uint exchanged = flip ^ flipped[before];
        uint differing = 0;
        for (uint w = 0; w < words && !differing; w++) {
            const uint seen = SEEN(w, site), x = WORD(w, site), y = WORD(w, before);
            differing = x ^ (exchanged ? COMPLEMENT(y, seen) : y);
#if MASKED
            differing |= seen ^ SEEN(w, before);
#endif
        }
        found = differing ? 0 : distance;
    }
    back[site] = found;
}

// How far ahead the next site with the same pattern is. `ahead` is 0 everywhere before.
__kernel void link_ahead(uint sites, __global const uint *back, __global uint *ahead)
{
    const uint site = get_global_id(0);
    if (site >= sites)
        return;
    const uint distance = back[site];
    if (distance)
        ahead[site - distance] = distance;
}

// The numbers of each window of 2 * half sites: patterns that the left half alone has times its sites with such, and the same of the right half, in
// `lone`; patterns of the left half times those of the right one, in `pairs`.
//
// A site's pattern is in the other half if the next site with it there is within the window. Of sites with the same pattern in one half, the flag of the
// one nearest to the other half holds for all; they are walked away from it.
__kernel void count_patterns(uint windows, uint half_sites, __global const uint *back, __global const uint *ahead, __global uint *lone, __global uint *pairs)
{
    const uint first = get_global_id(0);
    if (first >= windows)
        return;
    uint flags[FLAGS];
    uint alone[2], sites[2], distinct[2];
    for (uint side = 0; side < 2; side++) {
        uint lone_patterns = 0, lone_sites = 0, patterns = 0;
        for (uint f = 0; f < FLAGS; f++)
            flags[f] = 0;
        for (uint i = 0; i < half_sites; i++) {  // i sites away from the middle
            const uint step = side ? back[first + half_sites + i] : ahead[first + half_sites - 1 - i];
            const uint nearest = step == 0 || step > i;
            const uint shared = nearest ? (uint)(step != 0 && step - i <= half_sites) : BIT_OF(flags, i - step);
            flags[i >> 5] |= shared << (i & 31);
            patterns += nearest;
            lone_patterns += nearest & (shared ^ 1u);
            lone_sites += shared ^ 1u;
        }
        alone[side] = lone_patterns;
        sites[side] = lone_sites;
        distinct[side] = patterns;
    }
    lone[first] = alone[0] * sites[0] + alone[1] * sites[1];
    pairs[first] = distinct[0] * distinct[1];
}
