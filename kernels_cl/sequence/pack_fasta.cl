// FASTA text to packed symbols: letters of all lines of a record in a row, and a gap for each header.
//
// sequence/count_fasta.cl says where the symbols of each tile go: places[t].
//
// census[0 .. 2] are those of sequence/census.clh, and census[3] counts headers. All are zero before.
//
// The text begins at byte `skip` of the memory. `starts` says that its first byte starts a line, and `inside` that it is inside
// a header.
//
// -D NAMES   headers[t] is the number of the tile's first record. Places and names of the records are noted. No header may go on
//            beyond the text.
#include "sequence/fasta.clh"
#include "sequence/packer.clh"
#include "sequence/records.clh"
#ifdef WIDE
#include "sequence/window_packer.clh"
#define NEXT_SYMBOL next_of_window
#else
#define NEXT_SYMBOL next_symbol
#endif

#ifdef WIDE
// The letters of up to a window, to the line's end; returns the bytes that this takes, the line's end included.
static inline uint put_line(WindowPacker *packer, __global const uchar *text, uint at, uint end, uint size,
                            __global uint *codes, __global uint *valid)
{
    const Window letters = load_last_window(text, at, size);
    const ulong breaks = window_bits(window_breaks(letters));
    const uint there = MIN(end - at, WINDOW), line = breaks ? lowest_bit64(breaks) : WINDOW, count = MIN(line, there);
    put_window(packer, letters, first_bytes_of(count), count, codes, valid);
    return count < WINDOW ? count + 1 : WINDOW;
}
#endif

__kernel ONE_BY_ONE
void pack_fasta(__global const uchar *memory, uint skip, uint size, uint tile, uint tiles, uint starts, uint inside,
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
#ifdef WIDE
    WindowPacker packer = window_packer(first_symbol + places[t], 1);
#else
    Packer packer = packer_at(first_symbol + places[t]);
#endif
    uint begun = 0;
#ifdef NAMES
    uint record = headers[t];
#endif
    if (in_header(text, at, starts, inside, marks[t]))
        at = break_at(text, at, end) + 1;
    while (at < end) {
        if (text[at] == '>' && starts_line(text, at, starts)) {
            const uint line = break_at(text, at, end);
#ifdef WIDE
            put_gap(&packer, codes, valid);
#else
            put_symbols(&packer, 0, 0, 1, codes, valid);
#endif
            ++begun;
#ifdef NAMES
            const uint header_end = break_at(text, line, size);
            note_record(text, at, header_end, record++, NEXT_SYMBOL(&packer), record_starts, name_places, name_lengths);
#endif
            at = line + 1;
            continue;
        }
#ifdef WIDE
        at += put_line(&packer, text, at, end, size, codes, valid);
#else
        const uint line = break_at(text, at, end);
        put_text(&packer, text, at, line, size, codes, valid);
        at = line + 1;
#endif
    }
#ifdef WIDE
    close_window(&packer, 1, codes, valid);
#else
    close_packer(&packer, codes, valid);
#endif
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
