"""Run `oclgenomics signatures scan`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "matches"]

shell(
    "oclgenomics signatures scan {extra} {files} --threads {snakemake.threads}"
    " -o {snakemake.output.matches:q}"
    " {snakemake.input.samples:q} {snakemake.input.signatures:q}"
    " {log}"
)
