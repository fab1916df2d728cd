// FASTQ text to packed symbols, with four lines a record.
//
// The newlines before each tile are counted (sequence/lines.cl), so each work-item knows the number of the line that its tile
// starts in, and takes the records whose first line starts in the tile, to their ends wherever these are.
//
// Letters and qualities of a record have to be equally many printable characters (sequence/graphic.clh), and may end with a
// carriage return; letters may not start with +; the title behind the + of its third line has to be that of its first, or none.
//
// A record that starts at byte r is packed from symbol r / 2 on, where not others of its tile come before it: its letters and
// the gap behind them fill less than half of its bytes, so no room is needed twice and nothing has to be counted. What is not
// written is no letter. The text begins at byte `skip` of the memory.
//
// CPUs (-D WIDE) pack whole groups of 32 symbols: a record that starts at byte r of tile t is packed from group r / 64 + t on,
// where not others of its tile come before it. So no two tiles share a group. Each fills the room between its symbols and those
// of the next record with gaps, up to group `groups` behind the last one.
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
#include "sequence/graphic.clh"
#include "sequence/quality.clh"
#include "sequence/records.clh"
#ifdef WIDE
#include "sequence/window_packer.clh"
#define LINE_END window_line_end
#define GUESSED_LINE_END guessed_line_end
#define GUESSED_GRAPHIC_END guessed_graphic_end
#define NEXT_SYMBOL next_of_window
#define PUT_READ put_windows
#define PUT_GOOD_READ put_good_windows
#else
#define LINE_END line_end
#define GUESSED_LINE_END(text, at, guess, size) line_end(text, at, size)
#define GUESSED_GRAPHIC_END(text, at, guess, size) graphic_end(text, at, size)
#define NEXT_SYMBOL next_symbol
#define PUT_READ put_read
#define PUT_GOOD_READ put_good_read
#endif

static inline uint is_blank(__global const uchar *text, uint at, uint size)
{
    while (at < size && (text[at] == '\n' || text[at] == '\r'))
        ++at;
    return at == size;
}

// Where a line of letters or qualities ends, probably at `guess`. `odd` becomes 1 if they are not all printable characters.
static inline uint graphic_line_end(__global const uchar *text, uint at, uint guess, uint size, uint *odd)
{
    return odd_line_end(text, GUESSED_GRAPHIC_END(text, at, guess, size), size, odd);
}

__kernel ONE_BY_ONE
void pack_fastq(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, __global const uint *lines,
                uint final, __global uint *codes, __global uint *valid, __global uint *report
#ifdef WIDE
                , uint groups
#endif
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
    uint header = 0, width = 0; // bytes of the record before: the next one mostly has as many
    if (at > 0 && text[at - 1] != '\n') {
        at = LINE_END(text, at, size) + 1;
        ++line;
    }
    for (; line % 4 && at < end; ++line)
        at = LINE_END(text, at, size) + 1;
    if (at >= end)
        return;
#ifdef WIDE
    WindowPacker packer = window_packer(32 * (at / 64 + t), 0);
#else
    Packer packer = packer_at(at / 2);
#endif
    while (at < end) {
        if (text[at] != '@') {
            if (!is_blank(text, at, size))
                refuse(report, at, NOT_AT);
            else if (!final)
                atomic_min(&report[1], at);
            break;
        }
        uint odd = 0;
        const uint letters = GUESSED_LINE_END(text, at, at + header, size) + 1;
        const uint letters_end = letters < size ? graphic_line_end(text, letters, letters + width, size, &odd) : size;
        const uint plus = letters_end + 1;
        const uint qualities = plus < size ? GUESSED_LINE_END(text, plus, plus + 1, size) + 1 : size + 1;
        const uint next = qualities < size
            ? graphic_line_end(text, qualities, qualities + letters_end - letters, size, &odd) : size;
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
        if (odd || line_length(text, MIN(qualities, size), next) != length) {
            refuse(report, at, LENGTHS);
            break;
        }
        if (text[letters] == '+' || !is_plus(text, at, letters - 1, plus, qualities - 1)) {
            refuse(report, at, NOT_PLUS);
            break;
        }
#ifdef NAMES
        note_record(text, at, letters - 1, line / 4 + records, NEXT_SYMBOL(&packer), starts, name_places, name_lengths);
#endif
#ifdef QUALITIES
        store_qualities(text, qualities, length, size, phred, NEXT_SYMBOL(&packer));
#endif
#ifdef MIN_QUALITY
        PUT_GOOD_READ(&packer, text, letters, qualities, length, least, size, codes, valid);
#else
        PUT_READ(&packer, text, letters, length, size, codes, valid);
#endif
        ++records;
        all_letters += length;
        header = letters - 1 - at;
        width = letters_end - letters;
        at = next + 1;
    }
#ifdef WIDE
    close_groups(&packer, at < end || at >= size ? groups : at / 64 + at / tile, codes, valid);
#else
    close_packer(&packer, codes, valid);
#endif
    close_census(&packer.census, report + 4);
    atomic_add(&report[2], records);
    atomic_add(&report[3], all_letters);
}
