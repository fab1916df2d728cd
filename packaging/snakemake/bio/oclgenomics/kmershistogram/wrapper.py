"""Run `oclgenomics kmers histogram`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "histogram"]

shell(
    "oclgenomics kmers histogram {extra} {files} --threads {snakemake.threads}"
    " -o {snakemake.output.histogram:q}"
    " {snakemake.input.db:q}"
    " {log}"
)
