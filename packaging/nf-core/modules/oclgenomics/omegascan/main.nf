process OCLGENOMICS_OMEGASCAN {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(alignment)
    val grid
    val minwin
    val maxwin

    output:
    tuple val(meta), path("*.omega.tsv"), emit: scan
    tuple val(meta), path("*_mqc.json") , emit: multiqc
    path "versions.yml"                 , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    oclgenomics omega scan \\
        ${args} \\
        --threads ${task.cpus} \\
        --multiqc ${prefix}.omegascan_mqc.json \\
        --sample-name ${prefix} \\
        --grid ${grid} \\
        --minwin ${minwin} \\
        --maxwin ${maxwin} \\
        -o ${prefix}.omega.tsv \\
        ${alignment}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.omega.tsv
    touch ${prefix}.omegascan_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
