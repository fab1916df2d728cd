// K-mers of all reads, counted in pieces on whatever device is free, and put together.
//
//     nextflow run count.nf --reads 'reads/*.fq' --k 31 --pieces 8

params.k = 31
params.pieces = 4

process PIECE {
    input:
    path reads
    val number

    output:
    path "${number}.piece"

    script:
    "oclgenomics kmers count ${reads} -k ${params.k} --shard ${number}/${params.pieces} -o ${number}.piece -q"
}

process COMBINE {
    publishDir '.'

    input:
    path pieces

    output:
    path 'kmers.db'

    script:
    "oclgenomics kmers combine ${pieces} -o kmers.db -q"
}

workflow {
    reads = Channel.fromPath(params.reads).toSortedList()
    PIECE(reads, Channel.of(1..params.pieces)) | collect | COMBINE
}
