"""A writer of small VCF Zarr stores: the layout of vcf2zarr, from the text of a VCF."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

MISSING, FILL = -1, -2
MISSING_BITS, FILL_BITS = 0x7F800001, 0x7F800002
TEXT = np.dtypes.StringDType()


def write_store(path: Path, arrays: dict[str, np.ndarray], chunk: int, zarr_format: int) -> None:
    """A Zarr group of arrays in chunks of so many records, as a zip file if its name ends so."""
    import zarr
    from numcodecs import Blosc
    from zarr.codecs import BloscCodec

    packer = Blosc("zstd") if zarr_format == 2 else BloscCodec(cname="zstd")  # as vcf2zarr packs
    store = zarr.storage.ZipStore(path, mode="w") if path.suffix == ".zip" else path
    group = zarr.create_group(store, zarr_format=zarr_format, attributes={"vcf_zarr_version": "0.4"})
    for name, values in arrays.items():
        chunks = tuple(max(1, min(chunk, size)) for size in values.shape)
        array = group.create_array(name, shape=values.shape, chunks=chunks, dtype=values.dtype, compressors=packer)
        array[...] = values
    if path.suffix == ".zip":
        store.close()


def vcf_arrays(text: str) -> dict[str, np.ndarray]:
    """The arrays of a VCF, with those of INFO AF and VT where a record has them."""
    lines = [line.split("\t") for line in text.replace("\r", "").split("\n") if line and not line.startswith("##")]
    samples, records = lines[0][9:], lines[1:]
    contigs = list(dict.fromkeys(record[0] for record in records))
    filters = ["PASS", *sorted({record[6] for record in records} - {"PASS", "."})]
    alleles = [[record[3], *(record[4].split(",") if record[4] != "." else [])] for record in records]
    arrays = {
        "sample_id": np.array(samples, TEXT),
        "contig_id": np.array(contigs, TEXT),
        "filter_id": np.array(filters, TEXT),
        "variant_contig": np.array([contigs.index(record[0]) for record in records], np.int16),
        "variant_position": np.array([int(record[1]) for record in records], np.int32),
        "variant_allele": np.array(padded(alleles, ""), TEXT),
        "variant_filter": np.array([[name == record[6] for name in filters] for record in records], bool),
    }
    info = [dict(entry.partition("=")[::2] for entry in record[7].split(";")) for record in records]
    if any("AF" in entries for entries in info):
        arrays["variant_AF"] = frequencies([entries.get("AF", "") for entries in info])
    if any("VT" in entries for entries in info):
        kinds = [entries["VT"].split(",") if "VT" in entries else ["."] for entries in info]
        arrays["variant_VT"] = np.array(padded(kinds, ""), TEXT)
    if any(record[8].startswith("GT") for record in records):
        arrays |= genotypes(records)
    return arrays


def padded(rows: list[list[Any]], fill: Any) -> list[list[Any]]:
    """Rows of equal length."""
    width = max(map(len, rows))
    return [row + [fill] * (width - len(row)) for row in rows]


def frequencies(texts: list[str]) -> np.ndarray:
    """Lists of numbers, with the NaNs of BCF where one is missing and behind the last."""
    rows = [
        [MISSING_BITS if part in ("", ".") else int(np.float32(part).view(np.uint32)) for part in text.split(",")]
        for text in texts
    ]
    return np.array(padded(rows, FILL_BITS), np.uint32).view(np.float32)


def genotypes(records: list[list[str]]) -> dict[str, np.ndarray]:
    """Allele indices and phases of the GT of all records; those without GT are missing throughout."""
    calls, phased = [], []
    for record in records:
        texts = [field.split(":")[0] for field in record[9:]] if record[8].startswith("GT") else None
        calls.append(None if texts is None else [text.replace("/", "|").split("|") for text in texts])
        phased.append([texts is not None and "/" not in texts[i] for i in range(len(record) - 9)])
    ploidy = max(len(call) for row in calls if row is not None for call in row)
    values = np.full((*np.shape(phased), ploidy), MISSING, np.int8)
    for i, row in enumerate(calls):
        for j, call in enumerate(row or []):
            values[i, j] = FILL
            values[i, j, : len(call)] = [MISSING if part == "." else int(part) for part in call]
    return {"call_genotype": values, "call_genotype_phased": np.array(phased, bool)}
