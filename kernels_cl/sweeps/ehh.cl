// Extended haplotype homozygosity around core sites: how many pairs of haplotypes that have one allele at the core are still equal, site by site away
// from it, and the weighted sums of these numbers (the integrals of nSL and iHS).
//
// A haplotype is a phased one with the alleles 0 and 1, or with -D ALLELES=3 the genotypes 0, 1 and 2 of an unphased sample. P_k(t) is the number of
// ordered pairs with allele k at the core that are equal from there to t sites away. Step t adds w(t) * (P(t - 1) + P(t)) to a sum, where w(t) is the whole
// number that the host gives the gap between the two sites. So sums are whole numbers: they are the same on every device, by either kernel, in any order.
//
//   sum k:          of allele k; with ALLELES=2, or along bp, only while P_k(t - 1) is above a 20th of P_k(0)
//   sums 0, 1:      with COMPARED, of all pairs in the first and in the second population, while P(t - 1) of all haplotypes together is above a 20th of all
//                   pairs: from the core on, where haplotypes differ by its alleles. The first `compared` haplotypes are those of the first population
//   sum 3 (0), 4 (2): with ALLELES=3, of all haplotypes without allele 0 (2) together, all steps, as if all of them were equal at the core
//
// rows: site-major, (sites, words). steps: (2, sites): the most steps from each core, upwards and downwards. closed: what lies beyond them:
// 0 where the walk is complete after so many steps, else the walk has to have ended before.
// sums: (2, KINDS, cores). ended: (2, cores), whether the walk was completed: by so many steps, since all haplotypes differ, or along bp since P of all
// alleles has fallen to a 20th.
//
// -D BY_BP=1       distances are bp (iHS): a walk ends where P of all alleles has fallen to a 20th; 0: sites (nSL)
// -D COMPARED=1    two populations are compared (XP-nSL, XP-EHH; ALLELES=2)
// -D IN_LOCAL=n    classes of up to n haplotypes are kept in local memory (walk_classes); 0: in `scratch`
#include "common/portable.clh"

#ifndef ALLELES
#define ALLELES 2
#endif
#ifndef BY_BP
#define BY_BP 0
#endif
#ifndef COMPARED
#define COMPARED 0
#endif
#ifndef IN_LOCAL
#define IN_LOCAL 0
#endif

#define KINDS (ALLELES == 3 ? 5 : 2)
#define LOST (COMPARED ? 3 : ALLELES)  // numbers of lost pairs: of the populations and of both together, or of the alleles
#define SIZES (COMPARED ? 4 : ALLELES) // numbers of haplotypes at the core: by allele and population, or by allele
#define CUTOFF 20u
#define CUTS (ALLELES == 2 || BY_BP) // sums of alleles end at the cutoff
#define NOT_YET 0xffffffffu

// Allele of a haplotype at a site: its bit, or of a genotype the number of its bits "carries the derived state" and "carries it twice".
#if ALLELES == 3
#define PAIR_OF(row, h) (((row)[(h) >> 4] >> (2 * ((h) & 15))) & 3u)
#define ALLELE_OF(row, h) ((PAIR_OF(row, h) & 1u) + (PAIR_OF(row, h) >> 1))
#else
#define ALLELE_OF(row, h) (((row)[(h) >> 5] >> ((h) & 31)) & 1u)
#endif


typedef struct {
    ulong pairs[LOST], all[LOST], before[LOST];
    ulong sums[KINDS];
#if ALLELES == 3
    ulong others_before[2];
#endif
} Walk;

static inline ulong ordered_pairs(ulong n)
{
    return n < 2 ? 0 : n * (n - 1);
}

static inline void begin_walk(Walk *walk, const uint *size)
{
#if COMPARED
    for (uint k = 0; k < 2; k++)
        walk->pairs[k] = walk->before[k] = ordered_pairs(size[k]) + ordered_pairs(size[2 + k]);
    walk->pairs[2] = ordered_pairs(size[0] + size[1]) + ordered_pairs(size[2] + size[3]);
    walk->all[2] = ordered_pairs(size[0] + size[1] + size[2] + size[3]);
#else
    for (uint k = 0; k < ALLELES; k++)
        walk->pairs[k] = walk->all[k] = walk->before[k] = ordered_pairs(size[k]);
#endif
    for (uint k = 0; k < KINDS; k++)
        walk->sums[k] = 0;
#if ALLELES == 3
    walk->others_before[0] = ordered_pairs(size[1] + size[2]);
    walk->others_before[1] = ordered_pairs(size[0] + size[1]);
#endif
}

// Whether the pairs of all alleles have fallen to the cutoff; never where an allele has none to begin with.
static inline uint is_low(const Walk *walk)
{
    uint low = 1;
    for (uint k = 0; k < ALLELES; k++)
        if (ALLELES == 2 || k != 1)
            low &= (uint)(walk->all[k] > 0) & (uint)(CUTOFF * walk->pairs[k] <= walk->all[k]);
    return low;
}

// One step, after which `lost` pairs (unordered) of each allele have become unequal. Returns 0 to go on, 1 if the walk is complete, 2 if it cannot go on.
static inline uint take_step(Walk *walk, const uint *lost, uint weight, uint differ, uint last, uint closed)
{
#if COMPARED
    for (uint k = 0; k < 3; k++)
        walk->pairs[k] -= 2 * (ulong)lost[k];
    for (uint k = 0; k < 2; k++) {
        walk->sums[k] += weight * (walk->before[k] + walk->pairs[k]);
        walk->before[k] = walk->pairs[k];
    }
    if (CUTOFF * walk->pairs[2] <= walk->all[2] || (last && !closed))
        return 1;
    return last ? 2 : 0;
#else
    for (uint k = 0; k < ALLELES; k++) {
        walk->pairs[k] -= 2 * (ulong)lost[k];
        if (!CUTS || CUTOFF * walk->before[k] > walk->all[k]) {
            walk->sums[k] += weight * (walk->before[k] + walk->pairs[k]);
            walk->before[k] = walk->pairs[k];
        }
    }
#if ALLELES == 3
    for (uint k = 0; k < 2; k++) {
        const ulong others = walk->pairs[1] + walk->pairs[k ? 0 : 2];
        walk->sums[3 + k] += weight * (walk->others_before[k] + others);
        walk->others_before[k] = others;
    }
#endif
    if (differ || (last && !closed))
        return 1;
    if (last)
        return ALLELES == 3 && BY_BP && is_low(walk) ? 1 : 2;
    return BY_BP && is_low(walk);
#endif
}

#if COMPARED
// Counts the pairs of an entry of the stack, whose haplotypes were followed by `seen` less `births` others: `values` is when all of them differ.
static inline void close_entry(__global uint *hist, uint depth, uint value, const uint *widths, const uint *births, const uint *seen)
{
    const uint first = seen[0] - births[0], second = seen[1] - births[1];
    hist[value] += widths[0] * first;
    hist[depth + value] += widths[1] * second;
    hist[2 * depth + value] += (widths[0] + widths[1]) * (first + second);
}
#endif

// For CPUs: a work-item walks from all cores of a block in one direction. Going through the sites towards the block and through it, haplotypes are kept
// in the order of what they read away from the core, together with the first site at which each differs from the one before it (Durbin 2014). In this
// order equal haplotypes are neighbours, and two of them differ at the earliest such site between them. So the pairs that differ at each site are counted in
// one pass with a stack: an entry says for how many haplotypes the earliest site up to the present one is `value`.
//
// order, differing, stack, lost: scratch of each item: 2 * count, 2 * count, (COMPARED ? 5 : 3) * depth, LOST * depth; depth is above all steps + 1.
__kernel ALONE void walk_sorted(__global const uint *rows, uint words, uint sites, uint count, uint compared, uint begin, uint end, uint block,
                                __global const uint *weights, __global const uint *steps, __global const uchar *closed, uint depth,
                                __global ushort *order, __global uint *differing, __global uint *stack, __global uint *lost, __global ulong *sums,
                                __global uchar *ended)
{
    const uint item = get_global_id(0), down = item & 1, cores = end - begin;
    const uint from = begin + (item >> 1) * block, to = MIN(from + block, end);
    if (from >= end)
        return;
    __global ushort *now = order + (size_t)item * 2 * count, *next = now + count;
    __global uint *first = differing + (size_t)item * 2 * count, *next_first = first + count;
    __global uint *values = stack + (size_t)item * (COMPARED ? 5 : 3) * depth, *widths = values + depth, *births = widths + (COMPARED ? 2 : 1) * depth;
    __global uint *hist = lost + (size_t)item * LOST * depth;

    // Sites are numbered along the walk: u = site, or downwards sites - 1 - site. The order begins beyond the last site that any core needs.
    uint border = 0;
    for (uint core = from; core < to; core++)
        border = MAX(border, (down ? sites - 1 - core : core) + steps[down * sites + core] + 1);
    for (uint i = 0; i < count; i++) {
        now[i] = (ushort)i;
        first[i] = border;
    }
    for (uint i = 0; i < LOST * depth; i++)
        hist[i] = 0;

    const uint nearest = down ? sites - to : from; // u of the last core that is reached
    for (uint u = border; u-- > nearest;) {
        const uint site = down ? sites - 1 - u : u;
        __global const uint *row = rows + (size_t)site * words;
        uint size[ALLELES];
#if ALLELES == 2
        uint ones = 0;
        for (uint w = 0; w < words; w++)
            ones += POPCOUNT(row[w]);
        size[0] = count - ones;
        size[1] = ones;
        uint to0 = 0, to1 = size[0], earliest0 = u, earliest1 = u;
        for (uint i = 0; i < count; i++) {
            const uint h = now[i], value = first[i], one = ALLELE_OF(row, h);
            earliest0 = MIN(earliest0, value);
            earliest1 = MIN(earliest1, value);
            const uint place = one ? to1 : to0;
            next[place] = (ushort)h;
            next_first[place] = one ? earliest1 : earliest0;
            earliest0 = one ? earliest0 : NOT_YET;
            earliest1 = one ? NOT_YET : earliest1;
            to0 += 1 - one;
            to1 += one;
        }
#else
        uint place[ALLELES], earliest[ALLELES];
        uint carried = 0, twice = 0;
        for (uint w = 0; w < words; w++) {
            carried += POPCOUNT(row[w] & 0x55555555u);
            twice += POPCOUNT(row[w] & 0xaaaaaaaau);
        }
        size[0] = count - carried;
        size[1] = carried - twice;
        size[2] = twice;
        place[0] = 0;
        place[1] = size[0];
        place[2] = size[0] + size[1];
        earliest[0] = earliest[1] = earliest[2] = u;
        for (uint i = 0; i < count; i++) {
            const uint h = now[i], value = first[i], allele = ALLELE_OF(row, h);
            for (uint k = 0; k < ALLELES; k++)
                earliest[k] = MIN(earliest[k], value);
            next[place[allele]] = (ushort)h;
            next_first[place[allele]] = earliest[allele];
            earliest[allele] = NOT_YET;
            place[allele]++;
        }
#endif
        __global ushort *order_before = now;
        now = next;
        next = order_before;
        __global uint *first_before = first;
        first = next_first;
        next_first = first_before;
        if (site < from || site >= to)
            continue;

        const uint core = site - begin, most = steps[down * sites + site], closes = closed[down * sites + site];
        uint furthest = 0; // steps after which all haplotypes differ
#if COMPARED
        uint own[SIZES];
        for (uint k = 0, start = 0; k < ALLELES; start += size[k++]) {
            uint top = 0, seen[2] = {0, 0};
            values[0] = 0; // below all others
            for (uint i = start + 1; i < start + size[k]; i++) {
                const uint value = MIN(first[i] - u, most + 1), second = now[i - 1] >= compared;
                uint width[2] = {1 - second, second};
                seen[second]++;
                for (; values[top] >= value; top--) {
                    const uint wide[2] = {widths[top], widths[depth + top]}, born[2] = {births[top], births[depth + top]};
                    close_entry(hist, depth, values[top], wide, born, seen);
                    width[0] += wide[0];
                    width[1] += wide[1];
                }
                top++;
                values[top] = value;
                for (uint p = 0; p < 2; p++) {
                    widths[p * depth + top] = width[p];
                    births[p * depth + top] = seen[p];
                }
            }
            if (size[k])
                seen[now[start + size[k] - 1] >= compared]++;
            for (; top; top--) {
                const uint wide[2] = {widths[top], widths[depth + top]}, born[2] = {births[top], births[depth + top]};
                close_entry(hist, depth, values[top], wide, born, seen);
            }
            own[2 * k] = seen[0];
            own[2 * k + 1] = seen[1];
        }
#else
        const uint *own = size;
        for (uint k = 0, start = 0; k < ALLELES; start += size[k++]) {
            uint top = 0;
            values[0] = 0; // below all others
            for (uint i = start + 1; i < start + size[k]; i++) {
                const uint apart = first[i] - u, value = MIN(apart, most + 1);
                furthest = MAX(furthest, apart);
                uint width = 1;
                while (values[top] >= value) {
                    width += widths[top];
                    hist[k * depth + values[top]] += widths[top] * (i - births[top]);
                    top--;
                }
                top++;
                values[top] = value;
                widths[top] = width;
                births[top] = i;
            }
            for (; top; top--)
                hist[k * depth + values[top]] += widths[top] * (start + size[k] - births[top]);
        }
#endif
        Walk walk;
        begin_walk(&walk, own);
        uint state = most ? 0 : 2;
        for (uint t = 1; !state; t++) {
            uint now_lost[LOST];
            for (uint k = 0; k < LOST; k++)
                now_lost[k] = hist[k * depth + t];
            const uint weight = weights[down ? site - t + 1 : site + t];
            state = take_step(&walk, now_lost, weight, t >= furthest, t == most, closes);
        }
        for (uint k = 0; k < LOST; k++)
            for (uint t = 0; t <= most + 1; t++)
                hist[k * depth + t] = 0;
        for (uint k = 0; k < KINDS; k++)
            sums[(size_t)(down * KINDS + k) * cores + core] = walk.sums[k];
        ended[(size_t)down * cores + core] = (uchar)(state == 1);
    }
}

#if IN_LOCAL
#define CLASSES __local
#define FENCE() barrier(CLK_LOCAL_MEM_FENCE)
#else
#define CLASSES __global
#define FENCE() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#endif

// For GPUs: a work-group walks from one core in one direction, and keeps the class of equal haplotypes that each belongs to. A class that a site parts
// loses those with the derived state to a new class. Genotypes are parted twice, by carriers and by those that carry it twice.
//
// scratch: group_words of each group of a launch, the first of which is the walk `from_group`; unused where classes are in local memory.
__kernel void walk_classes(__global const uint *rows, uint words, uint sites, uint count, uint compared, uint begin, uint end, __global const uint *weights,
                           __global const uint *steps, __global const uchar *closed, uint from_group, uint group_words, __global uint *scratch,
                           __global ulong *sums, __global uchar *ended)
{
    const uint lane = get_local_id(0), lanes = get_local_size(0);
    const uint number = from_group + get_group_id(0), down = number & 1, site = begin + (number >> 1), cores = end - begin;
    __local uint made, different, lost[LOST];
#if IN_LOCAL
    __local uint sizes[IN_LOCAL + ALLELES], derived[IN_LOCAL + ALLELES];
    __local ushort classes[IN_LOCAL];
    __local uchar alleles[IN_LOCAL + ALLELES];
#if COMPARED
    __local uint first_sizes[IN_LOCAL + ALLELES], first_derived[IN_LOCAL + ALLELES]; // those of the first population
#endif
#else
    __global uint *sizes = scratch + (size_t)get_group_id(0) * group_words, *derived = sizes + count + ALLELES, *alleles = derived + count + ALLELES;
    __global uint *classes = alleles + count + ALLELES;
#if COMPARED
    __global uint *first_sizes = classes + count, *first_derived = first_sizes + count + ALLELES;
#endif
#endif
    __global const uint *row = rows + (size_t)site * words;
    if (lane < ALLELES) {
        sizes[lane] = 0;
        alleles[lane] = lane;
#if COMPARED
        first_sizes[lane] = 0;
#endif
    }
    if (lane == 0) {
        made = ALLELES;
        different = 0;
    }
    FENCE();
    for (uint h = lane; h < count; h += lanes) {
        const uint allele = ALLELE_OF(row, h);
        classes[h] = allele;
        atomic_inc(&sizes[allele]);
#if COMPARED
        if (h < compared)
            atomic_inc(&first_sizes[allele]);
#endif
    }
    FENCE();
    uint size[SIZES];
    for (uint k = 0; k < ALLELES; k++) {
#if COMPARED
        size[2 * k] = first_sizes[k];
        size[2 * k + 1] = sizes[k] - first_sizes[k];
#else
        size[k] = sizes[k];
#endif
    }
    if (lane < ALLELES && sizes[lane])
        atomic_inc(&different);
    Walk walk;
    begin_walk(&walk, size);
    const uint most = steps[down * sites + site], closes = closed[down * sites + site];
    uint state = most ? 0 : 2;
    for (uint t = 1; !state; t++) {
        const uint at = down ? site - t : site + t;
        row = rows + (size_t)at * words;
        if (lane < LOST)
            lost[lane] = 0;
        for (uint part = 1; part < ALLELES; part++) {
            FENCE();
            const uint known = made;
            for (uint c = lane; c < known; c += lanes) {
                derived[c] = 0;
#if COMPARED
                first_derived[c] = 0;
#endif
            }
            FENCE();
            for (uint h = lane; h < count; h += lanes)
                if (ALLELE_OF(row, h) >= part) {
                    atomic_inc(&derived[classes[h]]);
#if COMPARED
                    if (h < compared)
                        atomic_inc(&first_derived[classes[h]]);
#endif
                }
            FENCE();
            for (uint c = lane; c < known; c += lanes) {
                const uint leave = derived[c];
                derived[c] = 0;
                if (leave && leave < sizes[c]) {
                    const uint stay = sizes[c] - leave, to = atomic_inc(&made);
                    atomic_inc(&different);
#if COMPARED
                    const uint first_leave = first_derived[c], first_stay = first_sizes[c] - first_leave;
                    atomic_add(&lost[0], first_leave * first_stay);
                    atomic_add(&lost[1], (leave - first_leave) * (stay - first_stay));
                    atomic_add(&lost[2], leave * stay);
                    first_sizes[c] = first_stay;
                    first_sizes[to] = first_leave;
#else
                    atomic_add(&lost[alleles[c]], leave * stay);
#endif
                    sizes[c] = stay;
                    sizes[to] = leave;
                    alleles[to] = alleles[c];
                    derived[c] = to;
                }
            }
            FENCE();
            for (uint h = lane; h < count; h += lanes)
                if (ALLELE_OF(row, h) >= part && derived[classes[h]])
                    classes[h] = derived[classes[h]];
        }
        uint now_lost[LOST];
        for (uint k = 0; k < LOST; k++)
            now_lost[k] = lost[k];
        const uint weight = weights[down ? at + 1 : at];
        state = take_step(&walk, now_lost, weight, different == count, t == most, closes);
        FENCE(); // before `lost` is 0 again
    }
    if (lane == 0) {
        for (uint k = 0; k < KINDS; k++)
            sums[(size_t)(down * KINDS + k) * cores + site - begin] = walk.sums[k];
        ended[(size_t)down * cores + site - begin] = (uchar)(state == 1);
    }
}
