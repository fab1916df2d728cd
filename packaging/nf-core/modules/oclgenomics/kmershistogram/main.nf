process OCLGENOMICS_KMERSHISTOGRAM {
    tag "$meta.id"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(db)

    output:
    tuple val(meta), path("*.histogram.tsv"), emit: histogram
    tuple val(meta), path("*_mqc.json")     , emit: multiqc
    path "versions.yml"                     , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    oclgenomics kmers histogram \\
        ${args} \\
        --threads ${task.cpus} \\
        --multiqc ${prefix}.kmershistogram_mqc.json \\
        --sample-name ${prefix} \\
        -o ${prefix}.histogram.tsv \\
        ${db}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.histogram.tsv
    touch ${prefix}.kmershistogram_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
