"""Run `oclgenomics classify query`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "reads"]

shell(
    "oclgenomics classify query {extra} {files} --threads {snakemake.threads}"
    " -o {snakemake.output.reads:q}"
    " {snakemake.input.db:q} {snakemake.input.reads:q}"
    " {log}"
)
