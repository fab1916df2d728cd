"""The beginnings of files that users give where FASTA or FASTQ is read, and what an error has to call them."""

from __future__ import annotations

from helpers.bgzf import bgzip

__all__ = ["FOREIGN"]

SAM_HEADER = b"@HD\tVN:1.6\tSO:coordinate\n@SQ\tSN:chr1\tLN:1000\n@PG\tID:bwa\n"
SAM_ROW = b"r1\t0\tchr1\t1\t60\t2S4M1I\t=\t100\t-20\tACGTACG\tIIIIIII\tNM:i:0\n"
FOREIGN = {
    "bam": ("BAM", bgzip(b"BAM\x01\x40\0\0\0" + SAM_HEADER + bytes(3000), 500)),
    "cram": ("CRAM", b"CRAM\x03\x00" + b"name\0" * 9),
    "sam": ("SAM", SAM_HEADER + SAM_ROW),
    "sam of headers": ("SAM", SAM_HEADER),
    "sam of one header": ("SAM", b"@CO\tno reads\n"),
    "sam with read groups first": ("SAM", b"@RG\tID:a\tSM:b\n" + SAM_ROW),
    "sam without headers": ("SAM", SAM_ROW),
    "unmapped sam": ("SAM", b"r1\t4\t*\t0\t0\t*\t*\t0\t0\tACGT\tIIII\n"),
    "vcf": ("VCF (variants)", b"##fileformat=VCFv4.2\n#CHROM\tPOS\n"),
    "bcf": ("BCF (variants)", bgzip(b"BCF\x02\x02\x10\0\0\0##fileformat=VCFv4.2\n", 500)),
    "gff": ("GFF (annotation)", b"##gff-version 3\nchr1\tx\tgene\t1\t9\t.\t+\t.\tID=a\n"),
    "gtf": ("GFF or GTF (annotation)", b'#made\nchr1\tx\texon\t1\t9\t.\t-\t0\tgene_id "a";\n'),
    "bed": ("BED (regions)", b"track name=x\nchr1\t0\t100\tpeak\n"),
    "kreport": ("a report of Kraken (kreport)", b" 13.25\t265\t265\tU\t0\tunclassified\n"),
    "paf": ("PAF (alignments)", b"r\t9\t0\t9\t+\tc\t99\t1\t10\t9\t9\t60\n"),
    "gfa": ("GFA", b"S\t1\tACGT\nL\t1\t+\t1\t+\t0M\n"),
    "genbank": ("GenBank", b"LOCUS       U00096   4641652 bp    DNA     circular\n//\n"),
    "embl": ("EMBL", b"ID   X56734; SV 1; linear; mRNA\n"),
    "2bit": ("2bit", b"\x43\x27\x41\x1a" + bytes(20)),
    "sra": ("SRA", b"NCBI.sra" + bytes(20)),
    "pod5": ("POD5 (raw nanopore signal)", b"\x8bPOD\r\n\x1a\n" + bytes(20)),
    "kmers": ("a database of `oclgenomics kmers`", b"\x89okmer\r\n" + bytes(20)),
    "tar": ("a tar archive", b"reads.fq".ljust(257, b"\0") + b"ustar  \0"),
    "web page": ("a web page", b"\n<!DOCTYPE html>\n<html>404</html>\n"),
}
