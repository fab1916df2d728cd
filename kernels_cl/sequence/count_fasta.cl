// How many symbols the tiles of FASTA text hold: letters of all lines of a record, and a gap for each header.
//
// A newline ends a line, and so does a carriage return: the empty lines that this makes of pairs of them do not matter. A header
// is a line that starts with >. Whether a tile starts inside one is known where it starts with a line; else the last tile before
// it with a line's end knows. So
//
//   summarize_fasta   marks[t]: 2 (t + 1) + h if a line ends in the tile, 0 if not; h says whether the line that goes on behind
//                     the tile is a header. Their running maximum is the mark of the last line's end before a tile
//                     prefix[t], rest[t]: symbols before and behind the tile's first line's end, if it starts in no header
//   count_fasta       symbols of each tile, whose scan says where they go
//
// Every other byte of a sequence line is a symbol.
//
// The text begins at byte `skip` of the memory. `starts` says that its first byte starts a line, and `inside` that it is inside
// a header.
//
// -D NAMES   headers are counted, too: headers[t] is their number in a tile, and after its scan that of the tile's first record.
//            No header may go on beyond the text.
#include "sequence/fasta.clh"
#ifdef WIDE
#include "sequence/windows.clh"

// Count the symbols of windows from `at` on that have no >, and so no header; returns where they end.
static inline uint count_windows(__global const uchar *text, uint at, uint end, uint *symbols)
{
    const uint begin = at;
    uint breaks = 0;
    for (uint some = 1; some;) {
        Window counts = (Window)(0ul);
        for (some = 0; some < 255 && at + WINDOW <= end; ++some, at += WINDOW) {
            const Window letters = load_window(text, at);
            if (is_any(window_equal(letters, '>')))
                break;
            counts += window_breaks(letters);
        }
        breaks += sum_window(counts);
    }
    *symbols += at - begin - breaks;
    return at;
}
#endif

__kernel ONE_BY_ONE
void summarize_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts,
                     __global uint *marks, __global uint *prefix, __global uint *rest
#ifdef NAMES
                     , __global uint *headers
#endif
)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    const uint begin = t * tile, end = MIN(begin + tile, size);
    const uint first = break_at(text, begin, end);
    const uint starts_header = starts_line(text, begin, starts) && text[begin] == '>';
    prefix[t] = starts_header ? 1 : first - begin;
    uint symbols = 0, header = 0;
#ifdef NAMES
    uint records = starts_header;
#endif
    for (uint at = first + 1; at < end;) {
#ifdef WIDE
        at = count_windows(text, at, end, &symbols);
        if (at == end) {
            header = 0;
            break;
        }
#endif
        const uint line = break_at(text, at, end);
        header = text[at] == '>' && is_break(text[at - 1]);
        symbols += header ? 1 : line - at;
#ifdef NAMES
        records += header;
#endif
        at = line + 1;
    }
#ifdef NAMES
    headers[t] = records;
#endif
    if (first < end && end < size && is_break(text[end - 1]))
        header = text[end] == '>';
    rest[t] = symbols;
    marks[t] = first < end ? 2 * (t + 1) + header : 0;
}

__kernel ONE_BY_ONE
void count_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts, uint inside,
                 __global const uint *marks, __global const uint *prefix, __global const uint *rest,
                 __global uint *symbols)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t < tiles)
        symbols[t] = rest[t] + (in_header(text, t * tile, starts, inside, marks[t]) ? 0 : prefix[t]);
}
