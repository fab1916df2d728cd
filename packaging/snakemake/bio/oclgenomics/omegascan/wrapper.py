"""Run `oclgenomics omega scan`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "scan"]
files += [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.input.items() if name != "alignment"]

shell(
    "oclgenomics omega scan {extra} {files} --threads {snakemake.threads}"
    " --grid {snakemake.params.grid} --minwin {snakemake.params.minwin} --maxwin {snakemake.params.maxwin}"
    " -o {snakemake.output.scan:q} {snakemake.input.alignment:q}"
    " {log}"
)
