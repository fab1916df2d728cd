// Letters of samples as codes that the methods compare, checked; and sums of their qualities.
//
// A tile is some letters of a piece (records.clh). The code of a letter has its set of nucleotides in the low four bits (A 1, C 2, G 4,
// T 8), and in the high four its letter in the alphabet of the index: A 0, C 1, G 2, T 3, and 4 for all others.
//
//   encode_letters    codes[place] for each letter of each tile; 0 for BEHIND places behind a piece, unless the next one comes
//                     sooner, of which `codes` has as many behind the text: what reads several letters at a time reads them, and
//                     has no use for them. Of the letters that the piece owns
//                       counts[4 * t], counts[4 * t + 1]    letters N, and letters that are no single nucleotide
//                       counts[4 * t + 2]                   the sum of their qualities
//                       counts[4 * t + 3]                   the lowest of them; 255 where there is none
//                     Behind those of all `tile_count` tiles the lowest place of a byte that is no letter, and of one that is no
//                     quality; ~0 before
//
// Places count from memory[skip].
//
// -D CPU=0|1         1: a work-item a tile; 0: a work-group of LANES (a power of two) a tile
// -D LANES=n
// -D QUALITIES=0|1   there are qualities
#include "common/portable.clh"
#include "signatures/records.clh"

#define MIN_QUALITY '!'
#define MAX_QUALITY '~'
#define NO_QUALITY 255
#define CODE_N 0x4f
#define BEHIND 64

// Sets of the letters A to P, and Q to Z, four bits each.
#define SETS_A_P 0x00f30c00b400d2e1ul
#define SETS_Q_Z 0x0a09788650ul

static inline uint code_of(uint byte)
{
    const uint letter = (byte & 0xdf) - 'A';
    const ulong sets = letter < 16 ? SETS_A_P >> 4 * letter : SETS_Q_Z >> 4 * (letter & 15);
    const uint bases = letter < 26 ? (uint)sets & 15 : 0;
    const uint several = bases & (bases - 1);
    const uint five = several ? 4 : (bases >> 1) - (bases >> 3);
    return five << 4 | bases;
}

typedef struct {
    uint ns, ambiguous, sum, least, most;
} Tally;

static inline Tally join(Tally a, Tally b)
{
    const Tally both = {a.ns + b.ns, a.ambiguous + b.ambiguous, a.sum + b.sum, MIN(a.least, b.least), MAX(a.most, b.most)};
    return both;
}

// Letters text[begin], text[begin + stride] ... before `end`, any that IUPAC has. Returns 1 if one is none of these.
static inline uint encode_any(__global const uchar *text, __global uchar *codes, uint begin, uint end, uint stride, Tally *tally)
{
    uint bad = 0;
    for (uint i = begin; i < end; i += stride) {
        const uint code = code_of(text[i]);
        codes[i] = (uchar)code;
        bad |= code == 0;
        tally->ns += code == CODE_N;
        tally->ambiguous += code >> 6;
    }
    return bad;
}

#if CPU
// Sixteen letters at a time, since the processor's vectors do little else so well. Nearly all letters are A, C, G, T and N; a
// chunk that holds others is encoded letter by letter.
typedef uchar16 uchar16_u __attribute__((aligned(1)));
#define CHUNK 2048 // so the Ns of a lane fit into a byte
#define IS(letter) (u == (uchar16)(letter))

static inline uint encode_chunk(__global const uchar *text, __global uchar *codes, Tally *tally)
{
    uchar16 ns = 0, others = 0;
    for (uint i = 0; i < CHUNK; i += 16) {
        const uchar16 u = *(__global const uchar16_u *)(text + i) & (uchar16)0xdf;
        const char16 n = IS('N');
        const char16 code = (IS('A') & (char16)0x01) | (IS('C') & (char16)0x12) | (IS('G') & (char16)0x24)
                            | (IS('T') & (char16)0x38) | (n & (char16)CODE_N);
        *(__global uchar16_u *)(codes + i) = as_uchar16(code);
        others |= as_uchar16(code == (char16)0);
        ns -= as_uchar16(n);
    }
    uint more = 0, count = 0;
    UNROLL
    for (uint lane = 0; lane < 16; ++lane) {
        more |= others[lane];
        count += ns[lane];
    }
    if (more)
        return encode_any(text, codes, 0, CHUNK, 1, tally);
    tally->ns += count;
    tally->ambiguous += count;
    return 0;
}

static inline uint encode(__global const uchar *text, __global uchar *codes, uint begin, uint end, Tally *tally)
{
    uint bad = 0;
    for (; begin + CHUNK <= end; begin += CHUNK)
        bad |= encode_chunk(text + begin, codes + begin, tally);
    return bad | encode_any(text, codes, begin, end, 1, tally);
}
#define ENCODE(begin, end, tally) encode(text, codes, begin, end, tally)
#else
#define ENCODE(begin, end, tally) encode_any(text, codes, begin, end, lanes, tally)
#endif

static inline void add_qualities(__global const uchar *text, uint begin, uint end, uint stride, Tally *tally)
{
    uint sum = 0;
    uchar least = NO_QUALITY, most = 0;
    for (uint i = begin; i < end; i += stride) {
        const uchar byte = text[i];
        sum += byte;
        least = MIN(least, byte);
        most = MAX(most, byte);
    }
    tally->sum = sum;
    tally->least = least;
    tally->most = most;
}

#if CPU
__kernel
#else
__kernel __attribute__((reqd_work_group_size(LANES, 1, 1)))
#endif
void encode_letters(__global const uchar *memory, uint skip, __global const Piece *pieces, uint count, __global const Tile *tiles,
                    uint tile_count, uint text_size, __global uchar *codes, __global uint *counts)
{
    __global uint *defects = counts + 4 * (size_t)tile_count;
#if CPU
    const uint t = get_global_id(0), lane = 0, lanes = 1;
#else
    const uint t = get_group_id(0), lane = get_local_id(0), lanes = LANES;
    __local Tally tallies[LANES];
#endif
    __global const uchar *text = memory + skip;
    const uint number = tiles[t].piece, begin = tiles[t].begin, end = tiles[t].end;
    const Piece piece = pieces[number];
    const uint from = piece.letters, own = MAX(MIN(end, piece.owned), begin);
    Tally tally = {0, 0, 0, NO_QUALITY, 0}, unowned = tally;
    uint bad = ENCODE(from + begin + lane, from + own, &tally);
    bad |= ENCODE(from + own + lane, from + end, &unowned);
    if (end == piece.size) {
        const uint next = number + 1 < count ? pieces[number + 1].letters : text_size + BEHIND;
        for (uint i = from + end + lane; i < MIN(next, from + end + BEHIND); i += lanes)
            codes[i] = 0;
    }
    if (bad) {
        uint i = from + begin;
        while (code_of(text[i]))
            ++i;
        atomic_min(&defects[0], i);
    }
#if QUALITIES
    const uint beside = piece.qualities;
    add_qualities(text, beside + begin + lane, beside + own, lanes, &tally);
    if (begin + lane < own && (tally.least < MIN_QUALITY || tally.most > MAX_QUALITY)) {
        uint i = beside + begin;
        while (text[i] >= MIN_QUALITY && text[i] <= MAX_QUALITY)
            ++i;
        atomic_min(&defects[1], i);
    }
#endif
#if !CPU
    tallies[lane] = tally;
    for (uint others = LANES / 2; others; others /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < others)
            tallies[lane] = join(tallies[lane], tallies[lane + others]);
    }
    if (lane)
        return;
    tally = tallies[0];
#endif
    counts[4 * t] = tally.ns;
    counts[4 * t + 1] = tally.ambiguous;
    counts[4 * t + 2] = QUALITIES ? tally.sum - MIN_QUALITY * (own - begin) : 0;
    counts[4 * t + 3] = tally.least == NO_QUALITY ? NO_QUALITY : tally.least - MIN_QUALITY;
}
