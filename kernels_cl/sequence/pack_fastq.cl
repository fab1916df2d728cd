// FASTQ text to packed symbols, with four lines a record.
//
// The newlines before each tile are counted (sequence/lines.cl), so each work-item knows the number of the line that its tile
// starts in, and takes the records whose first line starts in the tile, to their ends wherever these are.
//
// A record that starts at byte r is packed from symbol r / 2 on, where not others of its tile come before it: its letters and
// the gap behind them fill less than half of its bytes, so no room is needed twice and nothing has to be counted. What is not
// written is no letter. The text begins at byte `skip` of the memory.
//
//   report[0]   least place of a defect in the text, times 4, plus its kind
//   report[1]   where the record starts that is not complete
//   report[2]   records less one
//   report[3]   letters of these less one
//   report[4 ..]  the three numbers of sequence/census.clh, each less one
// All of it is ~0 before, and stays so where there is nothing to tell. A record whose first line is line 4 r of the text is its
// record r.
//
// -D MIN_QUALITY   letters of a quality less than `least` become gaps
// -D QUALITIES       each letter's quality goes to its symbol's place of `phred`
// -D NAMES           places and names of the records are noted
#include "sequence/defects.clh"
#include "sequence/quality.clh"
#include "sequence/records.clh"

static inline uint is_blank(__global const uchar *text, uint at, uint size)
{
    while (at < size && (text[at] == '\n' || text[at] == '\r'))
        ++at;
    return at == size;
}

__kernel void pack_fastq(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, __global const uint *lines,
                         uint final, __global uint *codes, __global uint *valid, __global uint *report
#ifdef MIN_QUALITY
                         , uint least
#endif
#ifdef QUALITIES
                         , __global uchar *phred
#endif
#ifdef NAMES
                         , __global uint *starts, __global uint *name_places, __global uint *name_lengths
#endif
)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    const uint end = MIN((t + 1) * tile, size);
    uint at = t * tile, line = lines[t], records = 0, all_letters = 0;
    if (at > 0 && text[at - 1] != '\n') {
        at = line_end(text, at, size) + 1;
        ++line;
    }
    for (; line % 4 && at < end; ++line)
        at = line_end(text, at, size) + 1;
    if (at >= end)
        return;
    Packer packer = packer_at(at / 2);
    while (at < end) {
        if (text[at] != '@') {
            if (!is_blank(text, at, size))
                refuse(report, at, NOT_AT);
            else if (!final)
                atomic_min(&report[1], at);
            break;
        }
        const uint letters = line_end(text, at, size) + 1;
        const uint letters_end = letters < size ? line_end(text, letters, size) : size;
        const uint plus = letters_end + 1;
        const uint qualities = plus < size ? line_end(text, plus, size) + 1 : size + 1;
        const uint next = qualities < size ? line_end(text, qualities, size) : size;
        if (plus < size && text[plus] != '+') {
            refuse(report, plus, NOT_PLUS);
            break;
        }
        const uint length = line_length(text, letters, MIN(letters_end, size));
        const uint whole = next < size || (final && qualities <= size);
        if (!whole) {
            if (final)
                refuse(report, at, CUT);
            else
                atomic_min(&report[1], at);
            break;
        }
        if (line_length(text, MIN(qualities, size), next) != length) {
            refuse(report, at, LENGTHS);
            break;
        }
#ifdef NAMES
        note_record(text, at, letters - 1, line / 4 + records, next_symbol(&packer), starts, name_places, name_lengths);
#endif
#ifdef QUALITIES
        store_qualities(text, qualities, length, size, phred, next_symbol(&packer));
#endif
#ifdef MIN_QUALITY
        put_good_text(&packer, text, letters, qualities, length, least, size, codes, valid);
#else
        put_text(&packer, text, letters, letters + length, size, codes, valid);
#endif
        put_symbols(&packer, 0, 0, 1, codes, valid);
        ++records;
        all_letters += length;
        at = next + 1;
    }
    close_packer(&packer, codes, valid);
    close_census(&packer.census, report + 4);
    atomic_add(&report[2], records);
    atomic_add(&report[3], all_letters);
}
