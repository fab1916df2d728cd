// Lines of text made of columns, written one column after the other.
//
// A line is its pieces, one of each column, with nothing between them. First the measuring kernels add up the bytes of each
// line; their prefix sums are where lines begin. Then the writing kernels copy the piece of one column of every line to
// places[line], which they move on behind it:
//
//   lengths[l] += bytes of the piece          measure_texts, measure_numbers
//   out[places[l] ..] = the piece             copy_texts, write_numbers
//   places[l] += bytes of the piece
//
// Texts are letters[starts[t] .. starts[t + 1] - 1]. The text of line l is that of number which[l], or l itself.
// Numbers are decimal; NONE is written as nothing.
//
//   -D BY_NUMBER=0|1     1: texts go by which[l]
//   -D NUMBER=uint|ulong   the type of numbers; NONE is its largest value
//
// A work-item takes `span` lines that follow each other: one on GPUs.
#include "common/portable.clh"

#ifndef BY_NUMBER
#define BY_NUMBER 0
#endif
#ifndef NUMBER
#define NUMBER uint
#endif

#define NONE ((NUMBER)-1)

// Eight bytes at any address.
typedef ulong __attribute__((aligned(1))) loose_ulong;

static inline uint text_of(__global const uint *which, uint line)
{
#if BY_NUMBER
    return which[line];
#else
    return line;
#endif
}

static inline uint count_digits(NUMBER value)
{
    if (value == NONE)
        return 0;
    uint digits = 1;
    while (value >= 10) {
        value /= 10;
        ++digits;
    }
    return digits;
}

__kernel void measure_texts(__global const uint *starts, __global const uint *which, uint lines, uint span,
                            __global uint *lengths)
{
    const uint first = get_global_id(0) * span;
    const uint end = first < lines ? MIN(first + span, lines) : first;
    for (uint line = first; line < end; ++line) {
        const uint text = text_of(which, line);
        lengths[line] += starts[text + 1] - starts[text];
    }
}

__kernel void measure_numbers(__global const NUMBER *numbers, uint lines, uint span, __global uint *lengths)
{
    const uint first = get_global_id(0) * span;
    const uint end = first < lines ? MIN(first + span, lines) : first;
    for (uint line = first; line < end; ++line)
        lengths[line] += count_digits(numbers[line]);
}

__kernel void copy_texts(__global const uchar *letters, __global const uint *starts, __global const uint *which, uint lines,
                         uint span, __global uint *places, __global uchar *out)
{
    const uint first = get_global_id(0) * span;
    const uint end = first < lines ? MIN(first + span, lines) : first;
    for (uint line = first; line < end; ++line) {
        const uint text = text_of(which, line), begin = starts[text], length = starts[text + 1] - begin, place = places[line];
        __global const uchar *source = letters + begin;
        __global uchar *target = out + place;
        uint i = 0;
        for (; i + 8 <= length; i += 8)
            *(__global loose_ulong *)(target + i) = *(__global const loose_ulong *)(source + i);
        for (; i < length; ++i)
            target[i] = source[i];
        places[line] = place + length;
    }
}

__kernel void write_numbers(__global const NUMBER *numbers, uint lines, uint span, __global uint *places,
                            __global uchar *out)
{
    const uint first = get_global_id(0) * span;
    const uint end = first < lines ? MIN(first + span, lines) : first;
    for (uint line = first; line < end; ++line) {
        NUMBER value = numbers[line];
        const uint place = places[line], digits = count_digits(value);
        for (uint i = digits; i > 0; --i) {
            const NUMBER rest = value / 10;
            out[place + i - 1] = (uchar)('0' + (uint)(value - 10 * rest));
            value = rest;
        }
        places[line] = place + digits;
    }
}
