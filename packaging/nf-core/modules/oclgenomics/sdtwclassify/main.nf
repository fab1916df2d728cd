process OCLGENOMICS_SDTWCLASSIFY {
    tag "$meta.id"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container 'oclgenomics'

    input:
    tuple val(meta), path(signals)
    tuple val(meta2), path(reference), path(thresholds)

    output:
    tuple val(meta), path("*.reads.tsv") , emit: reads
    tuple val(meta), path("*.stages.tsv"), emit: stages
    tuple val(meta), path("*_mqc.json")  , emit: multiqc
    path "versions.yml"                  , emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def stages = thresholds ? "--thresholds ${thresholds}" : ''
    """
    oclgenomics sdtw classify \\
        ${args} \\
        --threads ${task.cpus} \\
        --multiqc ${prefix}.sdtwclassify_mqc.json \\
        --sample-name ${prefix} \\
        --reference ${reference} \\
        ${stages} \\
        -o ${prefix}.reads.tsv \\
        --summary ${prefix}.stages.tsv \\
        ${signals}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    """
    touch ${prefix}.reads.tsv
    touch ${prefix}.stages.tsv
    touch ${prefix}.sdtwclassify_mqc.json

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
    \$(oclgenomics --version --yaml | sed 's/^/    /')
    END_VERSIONS
    """
}
