// Sketches of windows: the smallest distinct hashes of their canonical k-mers (classify/hashes.clh), ascending, then NO_FEATURE.
//
// A work-item takes LANES windows at a time, one in each lane of its vectors, and ROUNDS such vectors. Window w is in the piece p
// with first[p] <= w < first[p + 1]. It starts at letter letters[p] + (w - first[p]) * stride of the text, and has `winlen` letters,
// or those up to the end of the piece, which has sizes[p] letters from letters[p] on.
//
// Letters are packed as 2 bits, 16 of them in a word, the first one highest: A 0, C 1, G 2, T and U 3, in either case. K-mers that
// begin in word b have their letters there and in word b + 1: the one of place j is the top of w[b] << 2 j | w[b + 1] >> 32 - 2 j.
// With r[b], the reverse complement of w[b], that of the k-mer is the bottom of r[b + 1] << 32 - 2 j | r[b] >> 2 j.
//
// So k-mers come by 16. Their hashes are ordered by a network (Green's, of 60 comparators) and merged with the 16 least so far: of
// two ordered lists the minima of one and of the reverse of the other are the 16 least, and four more steps order these.
//
// K-mers of low complexity are left out: those with fewer than TRIPLETS different triplets among the KMER - 2 that they have. In a
// bit of its own for each place, a triplet is told whether one of the next d is the same: letters are two planes of bits, and a
// shift by d puts each one above the one that is d behind it. The triplet of place a counts if it is none of the KMER - 3 - a
// behind it, and the sums of all places grow bit by bit in four more planes.
//
// The least so found come with their repetitions. Where fewer than asked for are left without these, the window is gone through
// again for the hashes above the last one. That mostly does; where it meets repetitions again, the next pass takes each hash once.
//
//   features[w * sketch ..]   of window w
//
// The text begins at byte `skip` of the memory.
//
// -D KMER=4..16     letters of a k-mer
// -D TRIPLETS=0..14 different triplets that a k-mer has at least
// -D LOWER=0|1      1: letters in lower case are none
// -D LANES=1|8|16   windows in a vector: 1 on GPUs
// -D ROUNDS=n       vectors of a work-item: 1 on GPUs
#include "classify/hashes.clh"
#include "sequence/text.clh"

#define TOP 16 // hashes that are kept at a time

#if LANES == 1
typedef uint lanes;
#define LANE(vector, lane) (vector)
#else
typedef PASTE(uint, LANES) lanes;
typedef uint4 letters16 __attribute__((aligned(1)));
#define LANE(vector, lane) (((uint *)&(vector))[lane])
#endif

typedef struct {
    lanes at;    // place of a window's next letter in the text
    lanes kmers; // that are left of it
} Windows;

// Sixteen letters, the first one highest: 2 bits each, and a bit that is set for what is no letter.
typedef struct {
    lanes codes, reverse, bad;
#if TRIPLETS > 1
    lanes planes; // the higher bits of all codes, then the lower ones
#endif
} Word;

// The bits of all lanes together.
static inline uint join_lanes(lanes x)
{
#if LANES == 1
    return x;
#else
#if LANES == 16
    const uint8 eight = x.lo | x.hi;
#else
    const uint8 eight = x;
#endif
    const uint4 four = eight.lo | eight.hi;
    return (four.s0 | four.s1) | (four.s2 | four.s3);
#endif
}

static inline uint greatest_lane(lanes x)
{
    uint greatest = LANE(x, 0);
    for (uint lane = 1; lane < LANES; ++lane)
        greatest = MAX(greatest, LANE(x, lane));
    return greatest;
}

// Letters text[at .. at + 15], four to a number; beyond the text they are 0.
static inline uint4 load_letters(__global const uchar *text, uint at, uint size)
{
#if LANES > 1
    if (at + 16 <= size)
        return *(__global const letters16 *)(text + at);
#endif
    const ulong low = at < size ? load_some(text, at, MIN(8u, size - at), size) : 0;
    const ulong high = at + 8 < size ? load_some(text, at + 8, MIN(8u, size - at - 8), size) : 0;
    return (uint4)((uint)low, (uint)(low >> 32), (uint)high, (uint)(high >> 32));
}

#if LANES == 1
#define ALL_LANES(x, n) (x)[0].n
#elif LANES == 8
#define ALL_LANES(x, n) (uint8)((x)[0].n, (x)[1].n, (x)[2].n, (x)[3].n, (x)[4].n, (x)[5].n, (x)[6].n, (x)[7].n)
#else
#define ALL_LANES(x, n)                                                                                      \
    (uint16)((x)[0].n, (x)[1].n, (x)[2].n, (x)[3].n, (x)[4].n, (x)[5].n, (x)[6].n, (x)[7].n, (x)[8].n, (x)[9].n, \
             (x)[10].n, (x)[11].n, (x)[12].n, (x)[13].n, (x)[14].n, (x)[15].n)
#endif

// Sixteen letters of each lane: letters 4 n to 4 n + 3 in quarters[n].
static inline void load_lanes(__global const uchar *text, lanes at, uint size, lanes *quarters)
{
    uint4 x[LANES];
    UNROLL
    for (uint lane = 0; lane < LANES; ++lane)
        x[lane] = load_letters(text, LANE(at, lane), size);
    quarters[0] = ALL_LANES(x, s0);
    quarters[1] = ALL_LANES(x, s1);
    quarters[2] = ALL_LANES(x, s2);
    quarters[3] = ALL_LANES(x, s3);
}

// Of four bytes, some bit of each that is no letter is set. Letters in either case are 01.00001 (A), 01.00011 (C), 01.00111 (G),
// 01.10100 (T) and 01.10101 (U): bit 4 says whether bits 2 and 1 are 10, and where it is 0, bit 0 is 1.
static inline lanes bad_bytes(lanes x)
{
    const lanes by_one = x >> 1, by_two = x >> 2, by_four = x >> 4;
    return (((by_four ^ (by_two & ~by_one)) | ~(x | by_four)) & 0x01010101u) | ((x ^ 0x40404040u) & (LOWER ? 0xe8e8e8e8u : 0xc8c8c8c8u));
}

// The codes of four letters as the highest eight bits.
static inline lanes codes_on_top(lanes x)
{
    const lanes code = x >> 1 & 0x03030303u;
    return (code ^ (code >> 1 & 0x01010101u)) * 0x40100401u;
}

// A bit for each of four bytes that is not 0, as the highest four.
static inline lanes flags_on_top(lanes x)
{
    const lanes high = ((x & 0x7f7f7f7fu) + 0x7f7f7f7fu) | x;
    return (high >> 7 & 0x01010101u) * 0x80402010u;
}

static inline lanes reversed_complement(lanes x)
{
    x = ~x;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

#if TRIPLETS > 1

// The odd bits of numbers, the highest one first, and then the even ones.
static inline lanes unshuffle(lanes x)
{
    lanes moved = (x ^ x >> 1) & 0x22222222u;
    x ^= moved ^ moved << 1;
    moved = (x ^ x >> 2) & 0x0c0c0c0cu;
    x ^= moved ^ moved << 2;
    moved = (x ^ x >> 4) & 0x00f000f0u;
    x ^= moved ^ moved << 4;
    moved = (x ^ x >> 8) & 0x0000ff00u;
    return x ^ moved ^ moved << 8;
}

// Bit 31 - j is set where the k-mer that begins at letter j of the first word has too few triplets.
static inline lanes simple_kmers(Word first, Word next)
{
    const lanes high = (first.planes & 0xffff0000u) | next.planes >> 16, low = first.planes << 16 | (next.planes & 0x0000ffffu);
    lanes sums[4], single = ~(lanes)0;
    UNROLL
    for (uint bit = 0; bit < 4; ++bit)
        sums[bit] = 0;
    UNROLL
    for (uint apart = 1; apart <= KMER - 3; ++apart) {
        const lanes other = (high ^ high << apart) | (low ^ low << apart);
        single &= other | other << 1 | other << 2;
        lanes carried = single << (KMER - 3 - apart);
        UNROLL
        for (uint bit = 0; bit < 4; ++bit) {
            const lanes sum = sums[bit] ^ carried;
            carried &= sums[bit];
            sums[bit] = sum;
        }
    }
    lanes fewer = 0; // than TRIPLETS - 1, as the last triplet always counts
    UNROLL
    for (uint bit = 0; bit < 4; ++bit)
        fewer = (TRIPLETS - 1) >> bit & 1 ? ~sums[bit] | fewer : ~sums[bit] & fewer;
    return fewer;
}

#endif

static inline Word load_word(__global const uchar *text, lanes at, uint size)
{
    Word word;
    lanes x[4], bad[4];
    load_lanes(text, at, size, x);
    word.codes = (codes_on_top(x[0]) & 0xff000000u) | (codes_on_top(x[1]) >> 8 & 0x00ff0000u)
                 | (codes_on_top(x[2]) >> 16 & 0x0000ff00u) | codes_on_top(x[3]) >> 24;
    word.reverse = reversed_complement(word.codes);
#if TRIPLETS > 1
    word.planes = unshuffle(word.codes);
#endif
    UNROLL
    for (uint i = 0; i < 4; ++i)
        bad[i] = bad_bytes(x[i]);
    word.bad = 0;
    if (join_lanes((bad[0] | bad[1]) | (bad[2] | bad[3])))
        word.bad = flags_on_top(bad[0]) >> 28 << 12 | flags_on_top(bad[1]) >> 28 << 8 | flags_on_top(bad[2]) >> 28 << 4
                   | flags_on_top(bad[3]) >> 28;
    return word;
}

// Bit 31 - j is set where the k-mer that begins at letter j of the first word is none, or beyond those that are left.
static inline lanes bad_kmers(lanes first, lanes next, lanes kmers)
{
    lanes bad = first << 16 | next;
    UNROLL
    for (uint width = 1; width < KMER; width *= 2)
        bad |= bad << MIN(width, KMER - width);
    const lanes taken = MIN(kmers, (lanes)TOP);
    return bad | ~((lanes)0xffff0000u << (16 - taken));
}

#define ORDER(x, i, j)                          \
    do {                                        \
        const lanes least_ = MIN(x[i], x[j]);   \
        x[j] = MAX(x[i], x[j]);                 \
        x[i] = least_;                          \
    } while (0)
#define ORDER_2(x, i, j, k, l) \
    ORDER(x, i, j);            \
    ORDER(x, k, l)
#define ORDER_4(x, i, j, k, l, m, n, o, p) \
    ORDER_2(x, i, j, k, l);                \
    ORDER_2(x, m, n, o, p)

static inline void sort_hashes(lanes *x)
{
    ORDER_4(x, 0, 1, 2, 3, 4, 5, 6, 7);
    ORDER_4(x, 8, 9, 10, 11, 12, 13, 14, 15);
    ORDER_4(x, 0, 2, 1, 3, 4, 6, 5, 7);
    ORDER_4(x, 8, 10, 9, 11, 12, 14, 13, 15);
    ORDER_4(x, 0, 4, 1, 5, 2, 6, 3, 7);
    ORDER_4(x, 8, 12, 9, 13, 10, 14, 11, 15);
    ORDER_4(x, 0, 8, 1, 9, 2, 10, 3, 11);
    ORDER_4(x, 4, 12, 5, 13, 6, 14, 7, 15);
    ORDER_4(x, 5, 10, 6, 9, 3, 12, 13, 14);
    ORDER_4(x, 4, 8, 7, 11, 1, 2, 1, 4);
    ORDER_4(x, 7, 13, 2, 8, 11, 14, 2, 4);
    ORDER_4(x, 5, 6, 9, 10, 11, 13, 3, 8);
    ORDER_4(x, 7, 12, 6, 8, 10, 12, 3, 5);
    ORDER_4(x, 7, 9, 3, 4, 5, 6, 7, 8);
    ORDER_4(x, 9, 10, 11, 12, 6, 7, 8, 9);
}

// The least of two ordered lists.
static inline void merge_hashes(lanes *least, const lanes *x)
{
    UNROLL
    for (uint i = 0; i < TOP; ++i)
        least[i] = MIN(least[i], x[TOP - 1 - i]);
    ORDER_4(least, 0, 8, 1, 9, 2, 10, 3, 11);
    ORDER_4(least, 4, 12, 5, 13, 6, 14, 7, 15);
    ORDER_4(least, 0, 4, 1, 5, 2, 6, 3, 7);
    ORDER_4(least, 8, 12, 9, 13, 10, 14, 11, 15);
    ORDER_4(least, 0, 2, 1, 3, 4, 6, 5, 7);
    ORDER_4(least, 8, 10, 9, 11, 12, 14, 13, 15);
    ORDER_4(least, 0, 1, 2, 3, 4, 5, 6, 7);
    ORDER_4(least, 8, 9, 10, 11, 12, 13, 14, 15);
}

// The least of an ordered list without repetitions and of numbers in no order, without repetitions.
static inline void insert_hashes(lanes *least, lanes *x)
{
    for (uint n = 0; n < TOP; ++n) {
        lanes rising = x[0];
        UNROLL
        for (uint i = 0; i < TOP; ++i) {
            const lanes here = least[i];
            least[i] = MIN(here, rising);
            rising = here == rising ? (lanes)NO_FEATURE : MAX(here, rising);
        }
        UNROLL
        for (uint i = 1; i < TOP; ++i)
            x[i - 1] = x[i];
    }
}

// The least hashes of windows that are no less than `floor`; with `distinct`, without repetitions.
static inline void pass_windows(__global const uchar *text, uint size, Windows windows, lanes floor, uint distinct,
                                lanes *least)
{
    UNROLL
    for (uint i = 0; i < TOP; ++i)
        least[i] = NO_FEATURE;
    const uint most = greatest_lane(windows.kmers), filtered = join_lanes(floor);
    Word word = load_word(text, windows.at, size);
    for (uint done = 0; done < most; done += TOP) {
        windows.at += TOP;
        const Word next = load_word(text, windows.at, size);
#if TRIPLETS > 1
        const lanes bad = bad_kmers(word.bad, next.bad, windows.kmers) | simple_kmers(word, next);
#else
        const lanes bad = bad_kmers(word.bad, next.bad, windows.kmers);
#endif
        lanes hashes[TOP];
        UNROLL
        for (uint j = 0; j < TOP; ++j) {
            const lanes forward = j ? word.codes << 2 * j | next.codes >> (32 - 2 * j) : word.codes;
            const lanes backward = j ? next.reverse << (32 - 2 * j) | word.reverse >> 2 * j : word.reverse;
            const lanes kmer = forward >> (32 - 2 * KMER), other = backward & (0xffffffffu >> (32 - 2 * KMER));
            hashes[j] = MIN(kmer, other);
            HASH_KMER(hashes[j]);
        }
        if (join_lanes(bad & 0xffff0000u)) {
            UNROLL
            for (uint j = 0; j < TOP; ++j)
                hashes[j] |= (lanes)0 - (bad << j >> 31);
        }
        if (filtered) {
            UNROLL
            for (uint j = 0; j < TOP; ++j)
                hashes[j] = hashes[j] < floor ? (lanes)NO_FEATURE : hashes[j];
        }
        if (distinct) {
            insert_hashes(least, hashes);
        } else {
            sort_hashes(hashes);
            merge_hashes(least, hashes);
        }
        windows.kmers -= MIN(windows.kmers, (lanes)TOP);
        word = next;
    }
}

// Whether a lane of an ordered list holds a feature twice.
static inline uint holds_repetitions(const lanes *least)
{
    lanes before = least[0] + 1, found = 0; // of NO_FEATURE it is 0, which is above nothing
    UNROLL
    for (uint i = 1; i < TOP; ++i) {
        found |= MAX(before, least[i]) ^ least[i];
        before = least[i] + 1;
    }
    return join_lanes(found);
}

// Append what an ordered list holds in a lane, each feature once, to the `count` that are written; return how many are then.
static inline uint append_features(const lanes *least, uint lane, uint count, uint sketch, __global uint *features)
{
    uint before = NO_FEATURE;
    UNROLL
    for (uint i = 0; i < TOP; ++i) {
        const uint feature = LANE(least[i], lane);
        if (feature != before && count < sketch)
            features[count++] = feature;
        before = feature;
    }
    return count;
}

// The sketches of `taken` windows, to rows that follow each other.
static inline void sketch_lanes(__global const uchar *text, uint size, Windows windows, uint taken, uint sketch, __global uint *rows)
{
    lanes least[TOP], floor = 0;
    uint counts[LANES], distinct = 0, passes = 0;
    UNROLL
    for (uint lane = 0; lane < LANES; ++lane)
        counts[lane] = 0;
    while (join_lanes(windows.kmers)) {
        pass_windows(text, size, windows, floor, distinct, least);
        for (uint lane = 0; lane < taken; ++lane) {
            counts[lane] = append_features(least, lane, counts[lane], sketch, rows + lane * sketch);
            if (counts[lane] == sketch || LANE(least[TOP - 1], lane) == NO_FEATURE)
                LANE(windows.kmers, lane) = 0;
        }
        floor = least[TOP - 1] + 1;
        distinct = passes++ && holds_repetitions(least);
    }
    for (uint lane = 0; lane < taken; ++lane)
        for (uint i = counts[lane]; i < sketch; ++i)
            rows[lane * sketch + i] = NO_FEATURE;
}

// The piece of a window: the first one behind which there are more windows than come before it.
static inline uint piece_of(__global const uint *first, uint pieces, uint window)
{
    uint begin = 0, end = pieces;
    while (begin < end) {
        const uint middle = (begin + end) / 2;
        if (first[middle + 1] <= window)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

// The hint keeps compilers from making vectors of these vectors, which takes them seconds.
__kernel
__attribute__((vec_type_hint(lanes)))
void sketch_windows(__global const uchar *memory, uint skip, uint size, __global const uint *letters, __global const uint *sizes,
                    __global const uint *first, uint pieces, uint windows, uint winlen, uint stride, uint sketch,
                    __global uint *features)
{
    __global const uchar *text = memory + skip;
    const uint begin = get_global_id(0) * ROUNDS * LANES, end = MIN(begin + ROUNDS * LANES, windows);
    if (begin >= windows)
        return;
    uint piece = piece_of(first, pieces, begin);
    for (uint window = begin; window < end; window += LANES) {
        const uint taken = MIN((uint)LANES, end - window);
        Windows at_work;
        at_work.at = at_work.kmers = 0;
        for (uint lane = 0; lane < taken; ++lane) {
            while (first[piece + 1] <= window + lane)
                ++piece;
            const uint skipped = (window + lane - first[piece]) * stride;
            LANE(at_work.at, lane) = letters[piece] + skipped;
            LANE(at_work.kmers, lane) = MIN(winlen, sizes[piece] - skipped) - (KMER - 1);
        }
        sketch_lanes(text, size, at_work, taken, sketch, features + (size_t)window * sketch);
    }
}
