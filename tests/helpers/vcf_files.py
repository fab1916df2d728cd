"""Small VCFs with all the oddities that the readers take, drawn by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

HEAD = "##fileformat=VCFv4.2\n"
COLUMNS = "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT"
SNPS = [("A", "G", 1), ("c", "t", 1), ("A", "C,G", 2), ("T", "A,C,G", 3), ("G", "*", 1), ("A", "*,C", 2), ("N", "C", 1)]
SNPS += [("0", "1", 1), ("1", "0", 1)]
OTHERS = [
    ("A", "AT", 1),
    ("AC", "T", 1),
    ("A", "<DEL>", 1),
    ("G", ".", 0),
    ("A", "A,G", 2),
    ("A", "G,TT", 2),
    ("C", "Y", 1),
    ("0", "1,2", 2),
    ("0", "A", 1),
    ("1", "1", 1),
    ("0", ".", 0),
]
ALLELES = st.sampled_from(SNPS + OTHERS)
FREQUENCIES = [".", "AF=0", "AC=3;AF=1.000;NS=1", "AF=0.5", "AF=1e-05", "MAF=0", "XAF=1;AF=0.1", "AF=0,1", "AF=0,0.5"]
KINDS = ["VT=SNP", "VT=INDEL;AF=0.2", "DB;VT=SNP;AF=0.25", "X=" + "y" * 150, "AA=" + "=" * 700]
INFOS = st.sampled_from(FREQUENCIES + KINDS)


@st.composite
def calls(draw: st.DrawFn, top: int, style: str) -> str:
    """One genotype field's GT."""
    allele = st.sampled_from([*map(str, range(top + 1)), "."] if style != "clean" else ["0", str(min(top, 1))])
    if style == "haploid" or (style == "mixed" and draw(st.booleans())):
        return draw(allele)
    separator = "|" if style == "clean" else draw(st.sampled_from("|/"))
    return draw(allele) + separator + draw(allele)


@st.composite
def files(draw: st.DrawFn) -> tuple[str, int]:
    """Text of a VCF and its number of samples."""
    samples = draw(st.sampled_from([1, 2, 3, 15, 16, 17, 33]))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    style = draw(st.sampled_from(["clean", "diploid", "haploid", "mixed"]))
    lines = [HEAD.strip(), COLUMNS + "".join(f"\ts{i}" for i in range(samples))]
    for chrom in draw(st.lists(st.sampled_from(["1", "chr2", "X"]), min_size=1, max_size=3, unique=True)):
        position = 0
        for _ in range(draw(st.integers(1, 5))):
            position += draw(st.integers(0, 10 ** draw(st.integers(0, 8))))
            ref, alt, top = draw(ALLELES)
            keys = draw(st.sampled_from(["GT", "GT", "GT:DP", "GT:DP:GQ", "DP"]))
            extra = "".join(draw(st.sampled_from([":12", ":.", ":0,3"])) for _ in keys.split(":")[1:])
            row_style = draw(st.sampled_from([style, "clean"])) if style != "haploid" else style
            fields = [draw(calls(top, row_style)) + extra if keys != "DP" else "7" for _ in range(samples)]
            fixed = [
                chrom,
                str(position),
                ".",
                ref,
                alt,
                "9",
                draw(st.sampled_from(["PASS", ".", "q10"])),
                draw(INFOS),
                keys,
            ]
            lines.append("\t".join(fixed + fields))
    text = end.join(lines) + (end if draw(st.booleans()) else "")
    return text, samples
