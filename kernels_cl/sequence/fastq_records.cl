// Records of FASTQ in the text, with four lines a record. Lines 4 r to 4 r + 3 are those of record r.
//
//   newlines[0 .. lines - 1]   where the lines end; what comes behind the last one is a line as well, and ends with the text
//   table[4 * r] and on        where the record's letters begin, how many they are, this number again, and where its qualities begin,
//                              which are as many: a piece of signatures/records.clh
//   name_places[r], name_lengths[r]   its name
//
//   report[0]   least place of a defect in the text, times 4, plus its kind; letters and qualities that are no printable
//               characters, and titles that differ, are defects as well
//   report[1]   least number of a record that is not complete, or of four lines that are all blank, as all behind them are
//   report[2]   where that one starts
// All of the report is ~0 before, and stays so where there is nothing to tell. The last byte that is no line break is text[solid - 1].
// The text begins at byte `skip` of the memory.
#include "sequence/defects.clh"
#include "sequence/graphic.clh"
#include "sequence/records.clh"

// Where line `line` ends.
static inline uint end_of(__global const uint *newlines, uint lines, uint line, uint size)
{
    return line < lines ? newlines[line] : size;
}

static inline void leave(__global uint *report, uint r, uint at)
{
    atomic_min(&report[1], r);
    atomic_min(&report[2], at);
}

__kernel void find_records(__global const uchar *memory, uint skip, uint size, __global const uint *newlines, uint lines,
                           uint records, uint final, uint solid, __global uint *table, __global uint *name_places,
                           __global uint *name_lengths, __global uint *report)
{
    __global const uchar *text = memory + skip;
    const uint r = get_global_id(0);
    if (r >= records)
        return;
    const uint line = 4 * r;
    const uint at = r ? end_of(newlines, lines, line - 1, size) + 1 : 0;
    name_lengths[r] = 0;
    if (at >= solid) {
        leave(report, r, at);
        return;
    }
    if (text[at] != '@') {
        refuse(report, at, NOT_AT);
        return;
    }
    const uint header_end = end_of(newlines, lines, line, size);
    const uint letters_end = end_of(newlines, lines, line + 1, size);
    const uint plus_end = end_of(newlines, lines, line + 2, size);
    const uint end = end_of(newlines, lines, line + 3, size);
    const uint plus = letters_end + 1;
    if (plus < size && text[plus] != '+') {
        refuse(report, plus, NOT_PLUS);
        return;
    }
    if (line + 3 >= lines && !(final && line + 2 < lines)) {
        if (final)
            refuse(report, at, CUT);
        leave(report, r, at);
        return;
    }
    const uint length = line_length(text, header_end + 1, letters_end);
    if (line_length(text, plus_end + 1, end) != length || !is_graphic(text, header_end + 1, length)
        || !is_graphic(text, plus_end + 1, length)) {
        refuse(report, at, LENGTHS);
        return;
    }
    if (!is_plus(text, at, header_end, plus, plus_end) || (length && text[header_end + 1] == '+')) {
        refuse(report, at, NOT_PLUS);
        return;
    }
    __global uint *own = table + 4 * (size_t)r;
    own[0] = header_end + 1;
    own[1] = own[2] = length;
    own[3] = plus_end + 1;
    note_name(text, at, header_end, r, name_places, name_lengths);
}
