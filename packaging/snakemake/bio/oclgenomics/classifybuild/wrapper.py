"""Run `oclgenomics classify build`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "db"]
files += [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.input.items() if name != "references"]

shell(
    "oclgenomics classify build {extra} {files} --threads {snakemake.threads}"
    " {snakemake.output.db:q} {snakemake.input.references:q}"
    " {log}"
)
