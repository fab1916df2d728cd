// What sequence/pack_fastq.cl does not look at, in the text of complete records with four lines each, which it found:
// letters and qualities have to be printable characters, letters may not start with +, and the third line has no other title.
//
//   lines[t]    newlines before tile t
//   report[0]   least place of a record with a defect in the text, times 4, plus its kind; ~0 before
// Each work-item takes the records whose first line starts in its tile. The records end before byte `stop`, or with blank
// lines. The text begins at byte `skip` of the memory.
#include "sequence/defects.clh"
#include "sequence/graphic.clh"

// Where the line of printable characters at `at` ends: its newline or `stop`. A carriage return may stand before that. Another
// byte that is not printable ends it, too.
static inline uint graphic_line_end(__global const uchar *text, uint at, uint stop)
{
    const uint end = graphic_end(text, at, stop);
    return end < stop && text[end] == '\r' && (end + 1 == stop || text[end + 1] == '\n') ? end + 1 : end;
}

static inline uint is_line_end(__global const uchar *text, uint at, uint stop)
{
    return at == stop || text[at] == '\n';
}

__kernel void check_fastq(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, __global const uint *lines,
                          uint stop, __global uint *report)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    const uint end = MIN((t + 1) * tile, stop);
    uint at = t * tile, line = lines[t];
    if (at >= end)
        return;
    if (at > 0 && text[at - 1] != '\n') {
        at = line_end(text, at, stop) + 1;
        ++line;
    }
    for (; line % 4 && at < end; ++line)
        at = line_end(text, at, stop) + 1;
    while (at < end && text[at] == '@') {
        const uint header_end = line_end(text, at, stop);
        const uint letters_end = graphic_line_end(text, header_end + 1, stop);
        if (!is_line_end(text, letters_end, stop)) {
            refuse(report, at, LENGTHS);
            return;
        }
        const uint plus = letters_end + 1, plus_end = line_end(text, plus, stop);
        if (text[header_end + 1] == '+' || !is_plus(text, at, header_end, plus, plus_end)) {
            refuse(report, at, NOT_PLUS);
            return;
        }
        const uint next = graphic_line_end(text, MIN(plus_end + 1, stop), stop);
        if (!is_line_end(text, next, stop)) {
            refuse(report, at, LENGTHS);
            return;
        }
        at = next + 1;
    }
}
