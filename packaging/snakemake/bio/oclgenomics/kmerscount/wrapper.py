"""Run `oclgenomics kmers count`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "db"]

shell(
    "oclgenomics kmers count {extra} {files} --threads {snakemake.threads}"
    " -k {snakemake.params.k} -o {snakemake.output.db:q}"
    " {snakemake.input.reads:q}"
    " {log}"
)
