process OCLGENOMICS_SIGNATURESSCAN {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(samples)
    tuple val(meta2), path(signatures)

    output:
    tuple val(meta), path("*.matches.tsv"), emit: matches
    tuple val(meta), path("*.summary.tsv"), emit: summary
    tuple val(meta), path("*_mqc.json")   , emit: multiqc
    path "versions.yml"                   , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    oclgenomics signatures scan \\
        ${args} \\
        --threads ${task.cpus} \\
        --multiqc ${prefix}.signaturesscan_mqc.json \\
        --sample-name ${prefix} \\
        -o ${prefix}.matches.tsv \\
        --summary ${prefix}.summary.tsv \\
        ${samples} \\
        ${signatures}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.matches.tsv
    touch ${prefix}.summary.tsv
    touch ${prefix}.signaturesscan_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
