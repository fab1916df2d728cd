"""Run `oclgenomics sdtw classify`."""

from shlex import quote

from snakemake.shell import shell

extra = snakemake.params.get("extra", "")
log = snakemake.log_fmt_shell()
files = [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.output.items() if name != "reads"]
files += [f"--{name.replace('_', '-')} {quote(path)}" for name, path in snakemake.input.items() if name != "signals"]

shell(
    "oclgenomics sdtw classify {extra} {files} --threads {snakemake.threads}"
    " -o {snakemake.output.reads:q}"
    " {snakemake.input.signals:q}"
    " {log}"
)
