// FASTA text to packed symbols: letters of all lines of a record in a row, and a gap for each header.
//
// A newline ends a line, and so does a carriage return: the empty lines that this makes of pairs of them do not matter. A header
// is a line that starts with >. Whether a tile starts inside one is known where it starts with a line; else the last tile before
// it with a line's end knows. So
//
//   summarize_fasta   marks[t]: 2 (t + 1) + h if a line ends in the tile, 0 if not; h says whether the line that goes on behind
//                     the tile is a header. Their running maximum is the mark of the last line's end before a tile
//                     prefix[t], rest[t]: symbols before and behind the tile's first line's end, if it starts in no header
//   count_fasta       symbols of each tile, whose scan says where they go
//   pack_fasta        writes them
//
// Every other byte of a sequence line is a symbol.
//
// census[0 .. 2] are those of sequence/census.clh, and census[3] counts headers. All are zero before.
//
// The text begins at byte `skip` of the memory. `starts` says that its first byte starts a line, and `inside` that it is inside
// a header.
//
// -D NAMES   headers are counted, too: headers[t] is their number in a tile, and after its scan that of the tile's first record.
//            Places and names of the records are noted. No header may go on beyond the text.
#include "sequence/packer.clh"
#include "sequence/records.clh"

static inline uint starts_line(__global const uchar *text, uint at, uint starts)
{
    return at ? is_break(text[at - 1]) : starts;
}

__kernel void summarize_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts,
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
        const uint line = break_at(text, at, end);
        header = text[at] == '>';
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

// Whether a tile starts inside a header, beyond the first byte of one.
static inline uint in_header(__global const uchar *text, uint begin, uint starts, uint inside, uint mark)
{
    if (starts_line(text, begin, starts))
        return 0;
    return mark ? mark & 1 : inside || (starts && text[0] == '>');
}

__kernel void count_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts, uint inside,
                          __global const uint *marks, __global const uint *prefix, __global const uint *rest,
                          __global uint *symbols)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t < tiles)
        symbols[t] = rest[t] + (in_header(text, t * tile, starts, inside, marks[t]) ? 0 : prefix[t]);
}

__kernel void pack_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts, uint inside,
                         __global const uint *marks, __global const uint *places, uint first_symbol, __global uint *codes,
                         __global uint *valid, __global uint *census
#ifdef NAMES
                         , __global const uint *headers, __global uint *record_starts, __global uint *name_places,
                         __global uint *name_lengths
#endif
)
{
    __global const uchar *text = memory + skip;
    const uint t = get_global_id(0);
    if (t >= tiles)
        return;
    uint at = t * tile;
    const uint end = MIN(at + tile, size);
    Packer packer = packer_at(first_symbol + places[t]);
    uint begun = 0;
#ifdef NAMES
    uint record = headers[t];
#endif
    if (in_header(text, at, starts, inside, marks[t]))
        at = break_at(text, at, end) + 1;
    while (at < end) {
        const uint line = break_at(text, at, end);
        if (starts_line(text, at, starts) && text[at] == '>') {
            put_symbols(&packer, 0, 0, 1, codes, valid);
            ++begun;
#ifdef NAMES
            const uint header_end = break_at(text, line, size);
            note_record(text, at, header_end, record++, next_symbol(&packer), record_starts, name_places, name_lengths);
#endif
        } else {
            put_text(&packer, text, at, line, size, codes, valid);
        }
        at = line + 1;
    }
    close_packer(&packer, codes, valid);
    close_census(&packer.census, census);
    if (begun)
        atomic_add(&census[3], begun);
}

// The last symbols of one stream to the start of another, which is zero there.
__kernel void carry_symbols(__global const uint *codes, __global const uint *valid, uint first, uint count,
                            __global uint *to_codes, __global uint *to_valid)
{
    if (get_global_id(0))
        return;
    Packer packer = packer_at(0);
    for (uint s = first; s < first + count; ++s)
        put_symbols(&packer, codes[s / 16] >> (30 - 2 * (s % 16)) & 3, valid[s / 32] >> (31 - s % 32) & 1, 1, to_codes, to_valid);
    close_packer(&packer, to_codes, to_valid);
}
