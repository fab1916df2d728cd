process OCLGENOMICS_CLASSIFYBUILD {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(references)
    path taxonomy

    output:
    tuple val(meta), path("*.db"), emit: db
    path "versions.yml"          , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def taxa = taxonomy ? "--taxonomy ${taxonomy}" : ''
    """
    oclgenomics classify build \\
        ${args} \\
        --threads ${task.cpus} \\
        ${taxa} \\
        ${prefix}.db \\
        ${references}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.db

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
