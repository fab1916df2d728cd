# All systems on the samples of a cohort, and one report of MultiQC.
#
#     snakemake -s docs/examples/cohort.smk --cores 4 --directory FOLDER --config samples="a b c"
#
# FOLDER/data has SAMPLE.fq.gz (reads), SAMPLE.vcf (haplotypes) and SAMPLE.npz (raw signals); references/ and taxonomy/ for
# `classify`; panel.fa (signatures); and target.fa, the target of `sdtw`.

from pathlib import Path

WRAPPERS = config.get("wrappers", f"file://{Path(workflow.basedir).parents[1]}/packaging/snakemake/bio/oclgenomics")
SAMPLES = config["samples"].split()
SHOWN = ["count", "histogram", "classify", "signatures", "omega", "sdtw"]


rule report:
    input:
        expand("content/{sample}.{shown}_mqc.json", sample=SAMPLES, shown=SHOWN),
        "content/oclgenomics_mqc_versions.yml",
    output:
        "multiqc_report.html",
    shell:
        "multiqc content --force --no-version-check --quiet"


rule versions:
    output:
        "content/oclgenomics_mqc_versions.yml",
    shell:
        "oclgenomics --version --yaml > {output}"


rule count:
    input:
        reads="data/{sample}.fq.gz",
    output:
        db="kmers/{sample}.db",
        multiqc="content/{sample}.count_mqc.json",
    params:
        k=config.get("k", 21),
    threads: 2
    wrapper:
        f"{WRAPPERS}/kmerscount"


rule histogram:
    input:
        db="kmers/{sample}.db",
    output:
        histogram="kmers/{sample}.tsv",
        multiqc="content/{sample}.histogram_mqc.json",
    wrapper:
        f"{WRAPPERS}/kmershistogram"


rule build:
    input:
        references="data/references",
        taxonomy="data/taxonomy",
    output:
        db="classify/references.db",
    threads: 2
    wrapper:
        f"{WRAPPERS}/classifybuild"


rule classify:
    input:
        reads="data/{sample}.fq.gz",
        db="classify/references.db",
    output:
        reads="classify/{sample}.txt",
        kreport="classify/{sample}.kreport.txt",
        multiqc="content/{sample}.classify_mqc.json",
    threads: 2
    wrapper:
        f"{WRAPPERS}/classifyquery"


rule signatures:
    input:
        samples="data/{sample}.fq.gz",
        signatures="data/panel.fa",
    output:
        matches="signatures/{sample}.tsv",
        multiqc="content/{sample}.signatures_mqc.json",
    threads: 2
    wrapper:
        f"{WRAPPERS}/signaturesscan"


rule omega:
    input:
        alignment="data/{sample}.vcf",
    output:
        scan="omega/{sample}.tsv",
        multiqc="content/{sample}.omega_mqc.json",
    params:
        grid=config.get("grid", 1000),
        minwin=config.get("minwin", "1k"),
        maxwin=config.get("maxwin", "100k"),
    threads: 2
    wrapper:
        f"{WRAPPERS}/omegascan"


rule index:
    input:
        "data/target.fa",
    output:
        "sdtw/target.sdtw",
    shell:
        "oclgenomics sdtw index {input} --model r9.4.1 -o {output} -q"


rule calibrate:
    input:
        reference="sdtw/target.sdtw",
        target="data/target.fa",
    output:
        thresholds="sdtw/thresholds.json",
        roc="sdtw/calibration.tsv",
    params:
        reads=config.get("calibration_reads", 300),
    shell:
        "oclgenomics sdtw calibrate --reference {input.reference} --target {input.target} --background random"
        " --reads {params.reads} --prefixes 1000,2000 --write-thresholds {output.thresholds} -o {output.roc} -q"


rule sdtw:
    input:
        signals="data/{sample}.npz",
        reference="sdtw/target.sdtw",
        thresholds="sdtw/thresholds.json",
    output:
        reads="sdtw/{sample}.tsv",
        multiqc="content/{sample}.sdtw_mqc.json",
    threads: 2
    wrapper:
        f"{WRAPPERS}/sdtwclassify"
