// First keys and gaps of sections on GPUs: variable-length quantities, 7 bits a byte, the most significant first, and the high bit
// set in all bytes of a number but its last one.
//
//   gap[i] = key[i] - key[i - 1];   the first key of a section, i = 0, EVERY, 2 EVERY, ..., is written raw, 8 x WORDS bytes
//
// Layout: of channels of `stride` keys, `size` keys from `start` on are encoded. `measure_gaps` gives the bytes of each number, and 0
// after the last one; `write_gaps` gets where each number starts among them, their exclusive scan. A section's words of counts follow
// its gaps, so what a section starts at in `out` is moved by all words before it: `words` is where each stretch of counts has its
// first word. A work-item a key.
//
// -D WORDS=n       words of a key
// -D EVERY=n       keys of a section
// -D STRETCHES=n   stretches of counts of a section
// -D TALLIED=n     place in `tally` behind which keys are counted that are not greater than the one before
#include "kmers/vlq.clh"

__kernel void measure_gaps(__global const ulong *keys, ulong stride, ulong start, uint size, __global uint *bytes,
                           __global uint *tally)
{
    const uint i = get_global_id(0);
    if (i > size)
        return;
    if (i == size) {
        bytes[i] = 0;
        return;
    }
    uint length = 8 * WORDS, wrong = 0;
    if (i) {
        const Key key = load_key(keys, stride, start + i), before = load_key(keys, stride, start + i - 1);
        const Key gap = gap_between(&before, &key, &wrong);
        if (i % EVERY)
            length = bytes_of(&gap);
    }
    bytes[i] = length;
    if (wrong)
        atomic_add(tally + TALLIED + 1, wrong);
}

__kernel void write_gaps(__global const ulong *keys, ulong stride, ulong start, uint size, __global const uint *gaps,
                         __global const uint *words, __global uchar *out)
{
    const uint i = get_global_id(0);
    if (i >= size)
        return;
    __global uchar *place = out + gaps[i] + 8 * (ulong)words[i / EVERY * STRETCHES];
    const Key key = load_key(keys, stride, start + i);
    if (i % EVERY == 0) {
        for (uint b = 0; b < 8 * WORDS; ++b)
            place[b] = (uchar)(key.word[b / 8] >> (b % 8 * 8));
        return;
    }
    uint wrong = 0;
    const Key before = load_key(keys, stride, start + i - 1), gap = gap_between(&before, &key, &wrong);
    for (uint g = gaps[i + 1] - gaps[i] - 1; g > 0; --g)
        *place++ = (uchar)(group_of(&gap, g) | 128u);
    *place = (uchar)(gap.word[0] & 127u);
}
