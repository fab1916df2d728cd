process OCLGENOMICS_KMERSCOUNT {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(reads)
    val k

    output:
    tuple val(meta), path("*.db")      , emit: db
    tuple val(meta), path("*_mqc.json"), emit: multiqc
    path "versions.yml"                , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    oclgenomics kmers count \\
        ${args} \\
        --threads ${task.cpus} \\
        --multiqc ${prefix}.kmerscount_mqc.json \\
        --sample-name ${prefix} \\
        -k ${k} \\
        -o ${prefix}.db \\
        ${reads}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.db
    touch ${prefix}.kmerscount_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
