// What the table of sections says of them, on GPUs. A work-item a section.
//
//   facts[0], facts[1]   bytes of the first key and the gaps; words of the counts
//   facts[2]             SipHash-2-4 of the whole section
//   facts[3 + w], facts[3 + WORDS + w]   word w of the first key and of the last one
//
// Layout: `facts` are channels of `sections`. `gaps` is where each key's gap starts among all gaps, `words` where each stretch's words
// start among all words; `out` holds the sections, one after the other, the gaps of each before its words.
//
// -D WORDS=n       words of a key
// -D EVERY=n       keys of a section
// -D STRETCHES=n   stretches of counts of a section
#include "kmers/siphash.clh"

#define SECTION_ENDS(s) const uint begin = (s) * EVERY, end = MIN(begin + EVERY, size); \
    const uint from = (s) * STRETCHES, to = MIN(from + STRETCHES, stretches)

__kernel void measure_sections(__global const ulong *keys, ulong stride, ulong start, uint size, uint stretches, uint sections,
                               __global const uint *gaps, __global const uint *words, __global ulong *facts)
{
    const uint s = get_global_id(0);
    if (s >= sections)
        return;
    SECTION_ENDS(s);
    facts[s] = gaps[end] - gaps[begin];
    facts[sections + s] = words[to] - words[from];
    for (uint w = 0; w < WORDS; ++w) {
        facts[(3 + w) * sections + s] = keys[w * stride + start + begin];
        facts[(3 + WORDS + w) * sections + s] = keys[w * stride + start + end - 1];
    }
}

__kernel void sum_sections(__global const ulong *out, uint size, uint stretches, uint sections, __global const uint *gaps,
                           __global const uint *words, ulong k0, ulong k1, __global ulong *facts)
{
    const uint s = get_global_id(0);
    if (s >= sections)
        return;
    SECTION_ENDS(s);
    const uint bytes = gaps[end] - gaps[begin] + 8 * (words[to] - words[from]);
    facts[2 * sections + s] = siphash_span(out, gaps[begin] + 8 * (ulong)words[from], bytes, k0, k1);
}
