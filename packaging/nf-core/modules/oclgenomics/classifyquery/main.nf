process OCLGENOMICS_CLASSIFYQUERY {
    tag "$meta.id"
    label 'process_high'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(reads)
    tuple val(meta2), path(db)

    output:
    tuple val(meta), path("*.reads.txt")  , emit: reads
    tuple val(meta), path("*.kreport.txt"), emit: kreport
    tuple val(meta), path("*_mqc.json")   , emit: multiqc
    path "versions.yml"                   , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def input = meta.single_end ? "${reads}" : "--paired ${reads}"
    """
    oclgenomics classify query \\
        ${args} \\
        --threads ${task.cpus} \\
        --multiqc ${prefix}.classifyquery_mqc.json \\
        --sample-name ${prefix} \\
        -o ${prefix}.reads.txt \\
        --kreport ${prefix}.kreport.txt \\
        ${db} \\
        ${input}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.reads.txt
    touch ${prefix}.kreport.txt
    touch ${prefix}.classifyquery_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
