"""VCF Zarr."""
