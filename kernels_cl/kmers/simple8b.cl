// Counts of sections on GPUs; see simple8b.clh for the code.
//
// Layout: of `counts`, `size` numbers from `start` on are encoded, in stretches of STRETCH and a rest. `count_words` gives the words of
// each stretch, and 0 after the last one; `write_words` gets where each stretch's words start among them, their exclusive scan. A
// section's gaps come before its words, so these are moved by all gaps up to the section's end: `gaps` is where each key's gap starts.
// A work-item a stretch. Behind the last section zeros follow to the end of the next word, as checksums are made of whole words.
//
// -D EVERY=n       numbers of a section
// -D STRETCH=n     numbers of a stretch
#include "kmers/simple8b.clh"

__kernel void count_words(__global const uint *counts, ulong start, uint size, uint stretches, __global uint *words)
{
    const uint stretch = get_global_id(0);
    if (stretch > stretches)
        return;
    const ulong end = start + MIN((stretch + 1) * STRETCH, size);
    uint count = 0;
    for (ulong place = start + stretch * STRETCH; place < end; ++count)
        place += SIZES[select_word(counts, place, end)];
    words[stretch] = count;
}

__kernel void write_words(__global const uint *counts, ulong start, uint size, uint stretches, __global const uint *gaps,
                          __global const uint *words, __global uchar *out)
{
    const uint stretch = get_global_id(0);
    if (stretch >= stretches)
        return;
    const ulong end = start + MIN((stretch + 1) * STRETCH, size);
    const uint section_end = MIN((stretch * STRETCH / EVERY + 1) * EVERY, size);
    __global uchar *at = out + gaps[section_end] + 8 * (ulong)words[stretch];
    for (ulong place = start + stretch * STRETCH; place < end; at += 8) {
        const uint selector = select_word(counts, place, end);
        const ulong word = pack_word(counts, place, selector);
        for (uint b = 0; b < 8; ++b)
            at[b] = (uchar)(word >> 8 * b);
        place += SIZES[selector];
    }
    if (stretch + 1 == stretches) {
        const ulong bytes = at - out;
        for (ulong b = bytes; b < (bytes / 8 + 2) * 8; ++b)
            out[b] = 0;
    }
}
