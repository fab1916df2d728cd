"""`oclgenomics classify fetch`, from the name of a collection to the database, by a server of this test."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from helpers.products import only_whole
from helpers.public_genomes import ASSEMBLIES, GENBANK, GTDB, HISTORICAL, One, publish, publish_dump, publish_gtdb
from helpers.web import Handler, Web, cuts, says, web

from oclgenomics import classify
from oclgenomics.classify import FetchOptions
from oclgenomics.classify.database import assemblies
from oclgenomics.classify.database.database import Database
from oclgenomics.classify.taxonomy.tree import NO_TAXON
from oclgenomics.cli.main import main
from oclgenomics.errors import InputError, UsageError
from oclgenomics.io import downloads
from oclgenomics.runtime import Device

VIRAL = "genomes/refseq/viral/assembly_summary.txt"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setattr(downloads, "PER_SECOND", 1e9)
    monkeypatch.setattr(downloads, "FIRST_PAUSE", 0.0)
    with web() as known:
        publish(known)
        yield known


def given(server: Web, device: Device | None = None, *words: object) -> list[str]:
    where = ["--source", server.url, "--gtdb-source", f"{server.url}/{GTDB}"]
    return ["classify", "fetch", *map(str, words), *where, *(["-d", str(device.index)] if device else [])]


def taxa(database: Database) -> dict[str, int]:
    """The taxid of each target."""
    taxids = [*database.taxonomy.taxids.tolist(), 0]
    numbers = database.targets.taxon.tolist()
    return {name: taxids[number] for name, number in zip(database.targets.names, numbers, strict=True)}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "genomes").iterdir())


def target(one: One) -> str:
    return f"NC_{one.number:06}.1"


def test_a_collection_becomes_a_database(server: Web, device: Device, tmp_path: Path) -> None:
    database = tmp_path / "viruses.db"
    assert main(given(server, device, "refseq-viral", "-o", database, "--manifest")) == 0
    found = classify.read_database(database)
    assert taxa(found) == {target(one): one.taxid for one in ASSEMBLIES}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["viruses.db", "viruses.db.sha256"]
    asked = server.count()
    assert max(asked.values()) == 1
    assert all(asked[one.place] == 1 for one in ASSEMBLIES)


def test_the_database_is_that_of_build(server: Web, device: Device, tmp_path: Path) -> None:
    words = ["--kmerlen", 12, "--winlen", 64]
    folder, one, other = tmp_path / "f", tmp_path / "one.db", tmp_path / "other.db"
    assert main(given(server, device, "refseq-viral", "-o", one, "--folder", folder, *words)) == 0
    built = ["classify", "build", other, folder / "genomes", "--taxonomy", folder / "taxonomy", *words]
    assert main([*map(str, built), "-d", str(device.index)]) == 0
    first, second = classify.read_database(one), classify.read_database(other)
    assert taxa(first) == taxa(second)
    assert (first.features.locations == second.features.locations).all()
    assert first.options == second.options


@pytest.mark.parametrize(
    ("words", "numbers"),
    [
        (["refseq-viral"], [1, 2, 3, 4, 5]),
        (["refseq-human"], [1]),
        (["refseq-viral", "genbank-viral"], [7, 1, 2, 3, 4, 5]),
        (["refseq-viral", "--assembly-level", "complete,chromosome"], [1, 4]),
        (["refseq-viral", "--representative"], [1, 4]),
        (["refseq-viral", "--reference"], [1]),
        (["refseq-viral", "--top", "1"], [1, 4]),
        (["refseq-viral", "--top", "2"], [1, 2, 4, 5]),
        (["refseq-viral", "--top", "1", "--assembly-level", "contig,scaffold"], [2, 5]),
        (["gtdb"], [7, 1, 2, 4, 8]),
        (["gtdb", "--representative"], [7, 2, 8]),
        (["gtdb", "--top", "1"], [7, 2, 8]),
    ],
)
def test_assemblies_that_are_chosen(server: Web, tmp_path: Path, words: list[str], numbers: list[int]) -> None:
    assert main(given(server, None, *words, "--folder", tmp_path)) == 0
    every = {one.number: one.file for one in (*ASSEMBLIES, *GENBANK, *HISTORICAL)}
    assert names(tmp_path) == [*(every[number] for number in numbers), "md5checksums.txt"]
    listed = [Path(line).name for line in (tmp_path / "references.txt").read_text().splitlines()]
    assert listed == [every[number] for number in numbers]


def test_accessions_of_a_file(server: Web, tmp_path: Path) -> None:
    """With a version or without; those that are no longer current by their version alone."""
    accessions = tmp_path / "a.txt"
    accessions.write_text("# mine\nGCF_000000001\n\nGCF_000000004.1 x\nGCA_000000007.1\nGCF_000000008.1\n")
    assert main(given(server, None, str(accessions), "--folder", tmp_path / "f")) == 0
    wanted = [*GENBANK, ASSEMBLIES[0], ASSEMBLIES[3], *HISTORICAL]
    assert names(tmp_path / "f") == [*(one.file for one in wanted), "md5checksums.txt"]


def test_accessions_that_nobody_lists(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accessions = tmp_path / "a.txt"
    accessions.write_text("GCF_000000001.1\nGCF_000000077.1\nGCF_000000099.1\n")
    words = given(server, None, str(accessions), "--folder", tmp_path / "f")
    assert main(words) == 3
    err = capsys.readouterr().err
    assert "2 of 3 assemblies cannot be had, all others are there (--skip-missing does without them)" in err
    assert "GCF_000000077.1" in err
    assert main([*words, "--skip-missing"]) == 0
    assert "warning: 2 assemblies could not be had" in capsys.readouterr().err
    assert server.count()[ASSEMBLIES[0].place] == 1


def test_accessions_without_a_version_are_current(
    server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.txt").write_text("GCF_000000008\nGCF_000000001\n")
    assert main(given(server, None, tmp_path / "a.txt", "--folder", tmp_path / "f")) == 3
    assert "1 of 2 assemblies cannot be had" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "# x\n", "NC_000001.1\n", "GCF_1.1\n"])
def test_files_without_accessions(server: Web, tmp_path: Path, text: str) -> None:
    (tmp_path / "a.txt").write_text(text)
    assert main(given(server, None, tmp_path / "a.txt", "--folder", tmp_path / "f")) == 3


def test_gtdb_has_a_taxonomy_of_its_own(server: Web, device: Device, tmp_path: Path) -> None:
    database = tmp_path / "x.db"
    assert main(given(server, device, "gtdb", "-o", database)) == 0
    found = classify.read_database(database)
    known = taxa(found)
    assert known[target(ASSEMBLIES[0])] == known[target(ASSEMBLIES[1])] != known[target(ASSEMBLIES[3])]
    taxonomy = found.taxonomy
    assert {"root", "Bacteria", "Archaea", "Alpha", "Alpha beta", "Alpha gamma", "Delta eps"} <= set(taxonomy.names)
    number = found.targets.taxon[0]
    assert number != NO_TAXON
    above = []
    while taxonomy.parents[number] != number:
        above.append(taxonomy.names[number])
        number = taxonomy.parents[number]
    assert above == ["Delta eps", "Delta", "A3", "A2", "A1", "A", "Archaea"]
    assert not [name for name in server.count() if name.startswith("pub/")]


def test_genomes_of_gtdb_that_ncbi_has_not(server: Web, tmp_path: Path) -> None:
    """They are missing, unless only representatives are asked for, which they are not."""
    name = "genomes/refseq/assembly_summary_refseq.txt"
    lines = server.files[name].splitlines(keepends=True)
    server.files[name] = b"".join(line for line in lines if not line.startswith(b"GCF_000000004."))
    assert main(given(server, None, "gtdb", "--folder", tmp_path)) == 3
    assert main(given(server, None, "gtdb", "--representative", "--folder", tmp_path)) == 0


def test_names_of_a_release_of_gtdb(server: Web, tmp_path: Path) -> None:
    publish_gtdb(server, "releases/release226/226.0", released=True)
    words = ["--gtdb-source", f"{server.url}/releases/release226/226.0"]
    assert main([*given(server, None, "gtdb", "--top", "1", "--folder", tmp_path), *words]) == 0
    assert len(names(tmp_path)) == 4


def test_dry_runs_count(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = given(server, None, "refseq-viral", "--top", "2", "--folder", tmp_path / "f")
    assert main([*words, "--dry-run"]) == 0
    facts = dict(line.split("\t") for line in capsys.readouterr().out.splitlines())
    assert (facts["assemblies"], facts["to download"], facts["left out, more of a species"]) == ("4", "4", "1")
    assert facts["size"].startswith("about 3.4 KiB of ")
    assert facts["time"].startswith("about 1 min at ")
    assert not (tmp_path / "f").exists()
    assert [*server.count()] == [VIRAL]
    assert main(words) == 0
    assert main([*words, "--dry-run"]) == 0
    assert "to download\t0\n" in capsys.readouterr().out


def test_nothing_comes_twice(server: Web, tmp_path: Path) -> None:
    words = given(server, None, "refseq-viral", "--folder", tmp_path)
    assert main(words) == 0
    server.asked.clear()
    assert main(words) == 0
    assert server.count() == {VIRAL: 1, "pub/taxonomy/taxdump.tar.gz.md5": 1}


def test_a_damaged_file_comes_again(server: Web, tmp_path: Path) -> None:
    words, one = given(server, None, "refseq-viral", "--folder", tmp_path), ASSEMBLIES[2]
    assert main(words) == 0
    server.asked.clear()
    (tmp_path / "genomes" / one.file).write_bytes(one.text[:-9])
    assert main(words) == 0
    assert (tmp_path / "genomes" / one.file).read_bytes() == one.text
    assert server.count()[one.place] == 1


def test_a_newer_taxonomy_comes(server: Web, tmp_path: Path) -> None:
    words = given(server, None, "refseq-viral", "--folder", tmp_path)
    assert main(words) == 0
    publish_dump(server, "999\t|\t10\t|\tspecies\t|\n")
    assert main(words) == 0
    assert "999" in (tmp_path / "taxonomy" / "nodes.dmp").read_text()


def test_taxids_of_earlier_downloads_stay(server: Web, tmp_path: Path) -> None:
    for name in ("refseq-viral", "genbank-viral"):
        assert main(given(server, None, name, "--folder", tmp_path)) == 0
    lines = (tmp_path / "taxonomy" / "assembly_summary_refseq.txt").read_text().splitlines()[1:]
    assert lines == [f"{one.accession}\t{one.taxid}" for one in (*GENBANK, *ASSEMBLIES)]


def test_a_list_and_a_file_that_both_change(server: Web, tmp_path: Path) -> None:
    """Between the list of checksums and the file, which is the one of the list that is there then."""
    one, new = ASSEMBLIES[1], One(77).text
    listed = f"{one.folder}/md5checksums.txt"

    def change(handler: Handler) -> bool:
        server.files[one.place] = new
        server.files[listed] = f"{downloads.hashlib.md5(new).hexdigest()}  ./{one.file}\n".encode()
        return False

    server.trouble(one.place, change)
    assert main(given(server, None, "refseq-viral", "--folder", tmp_path)) == 0
    assert (tmp_path / "genomes" / one.file).read_bytes() == new


@pytest.mark.parametrize("what", ["gone", "no list", "not listed", "wrong"])
def test_assemblies_that_cannot_be_had(
    server: Web, device: Device, tmp_path: Path, what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    one, database = ASSEMBLIES[1], tmp_path / "x.db"
    listed = f"{one.folder}/md5checksums.txt"
    if what == "gone":
        del server.files[one.place]
    elif what == "no list":
        del server.files[listed]
    elif what == "not listed":
        server.files[listed] = b"0" * 32 + b"  ./other\n"
    else:
        server.files[one.place] += b"x"
    words = given(server, device, "refseq-viral", "-o", database)
    assert main(words) == 3
    err = capsys.readouterr().err
    assert "1 of 5 assemblies cannot be had, all others are there" in err
    assert f"{one.accession}: " in err
    assert f"what was downloaded is in {database}.fetch; the same command goes on with it" in err
    assert not database.exists()
    assert main([*words, "--skip-missing", "--keep"]) == 0
    assert len(classify.read_database(database).targets) == 4
    assert one.file not in names(Path(f"{database}.fetch"))
    asked = server.count()
    assert all(asked[other.place] == 1 for other in ASSEMBLIES if other is not one)


def test_troubles_on_the_way(server: Web, tmp_path: Path) -> None:
    for one in ASSEMBLIES:
        server.trouble(one.place, cuts(200), says(503), cuts(400), says(502))
        server.trouble(f"{one.folder}/md5checksums.txt", says(500), says(429, Retry_After="0"))
    server.trouble(VIRAL, cuts(300), says(500))
    assert main(given(server, None, "refseq-viral", "--folder", tmp_path, "--parallel", "3")) == 0
    for one in ASSEMBLIES:
        assert (tmp_path / "genomes" / one.file).read_bytes() == one.text


def test_a_cut_list_is_no_list(server: Web, tmp_path: Path) -> None:
    """Without a size, the end of a list could be missing."""
    server.lengths = False
    assert main(given(server, None, "refseq-viral", "--folder", tmp_path)) == 3


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (b"ftp_path", b"path", "has no line with the names of its columns"),
        (b"GCF_000000002.1\t", b"../../x\t", "is no assembly"),
        (b"/GCF_000000002.1_ASM2v1\t", b"/..\t", "is no assembly"),
    ],
)
def test_damaged_lists(
    server: Web, tmp_path: Path, old: bytes, new: bytes, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    server.files[VIRAL] = server.files[VIRAL].replace(old, new)
    assert main(given(server, None, "refseq-viral", "--folder", tmp_path)) == 3
    assert told in capsys.readouterr().err


def test_a_damaged_archive_is_one_line(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = b"no archive"
    server.files["pub/taxonomy/taxdump.tar.gz"] = data
    server.files["pub/taxonomy/taxdump.tar.gz.md5"] = (
        f"{downloads.hashlib.md5(data).hexdigest()}  taxdump.tar.gz".encode()
    )
    assert main(given(server, None, "refseq-viral", "--folder", tmp_path)) == 3
    assert "is no archive of a taxonomy, or a damaged one" in capsys.readouterr().err


def test_no_assembly_is_left(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(given(server, None, "genbank-viral", "--reference", "--folder", tmp_path)) == 3
    assert "no assembly is left (1 of no such category)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["refseq-virus", "-o", "x"], "there is no such collection"),
        (["gtdb", "refseq-human", "-o", "x"], "has a taxonomy of its own"),
        (["refseq-viral"], "name the database with -o"),
        (["refseq-viral", "-o", "x", "--assembly-level", "best"], "--assembly-level best: choose one of"),
        (["refseq-viral", "-o", "x", "--parallel", "99"], "--parallel 99: is 1 to 32"),
        (["refseq-viral", "-o", "x", "--top", "0"], "--top 0"),
        (["refseq-viral", "-o", "x", "--source", "ftp://x"], "--source ftp://x: is no address"),
        (["refseq-viral", "-o", "x", "--sequence-id-format", "gi"], "names no assembly"),
    ],
)
def test_wrong_usage(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["classify", "fetch", *words]) == 2
    assert told in capsys.readouterr().err


def test_one_process_at_a_time(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    collections = assemblies.Collections(str(tmp_path), FetchOptions(), downloads.Downloader())
    with collections.alone():
        assert main(given(server, None, "refseq-viral", "--folder", tmp_path)) == 5
    assert "another process is downloading to it" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(server: Web, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f").write_text("")
    assert main(given(server, None, "refseq-viral", "--folder", tmp_path / "f")) == 5
    assert "cannot be written" in capsys.readouterr().err


def test_other_files_of_the_folder_stay(server: Web, device: Device, tmp_path: Path) -> None:
    (tmp_path / "x.db.fetch").mkdir()
    (tmp_path / "x.db.fetch" / "mine").write_text("mine")
    assert main(given(server, device, "refseq-human", "-o", tmp_path / "x.db")) == 0
    assert [path.name for path in (tmp_path / "x.db.fetch").iterdir()] == ["mine"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL, *only_whole(signal.SIGTERM)])
def test_a_stopped_command_goes_on(server: Web, tmp_path: Path, number: signal.Signals) -> None:
    """The server falls silent half way through the last assembly; what came before does not come again."""
    silent, over = threading.Event(), threading.Event()
    last = ASSEMBLIES[-1]

    def stall(handler: Handler) -> bool:
        handler.answer(200, last.text, handler.known(last.place), cut=500)
        handler.wfile.flush()
        silent.set()
        over.wait(60)
        return True

    server.trouble(last.place, stall)
    words = given(server, None, "refseq-viral", "--folder", tmp_path / "f", "--parallel", "1")
    with subprocess.Popen([sys.executable, "-m", "oclgenomics", *words], stderr=subprocess.PIPE, text=True) as process:
        assert silent.wait(60)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    over.set()
    assert process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert "the same command goes on with it" in err
    assert not (tmp_path / "f" / "genomes" / last.file).exists()
    server.asked.clear()
    assert main(words) == 0
    assert {one.place for one in ASSEMBLIES} & {*server.count()} == {last.place}
    assert (tmp_path / "f" / "genomes" / last.file).read_bytes() == last.text
    assert not list((tmp_path / "f" / "genomes").glob("*.part"))


def test_torn_lists_of_checksums_are_read(server: Web, tmp_path: Path) -> None:
    words = given(server, None, "refseq-viral", "--folder", tmp_path)
    assert main(words) == 0
    kept = tmp_path / "genomes" / "md5checksums.txt"
    kept.write_bytes(kept.read_bytes()[:-30])
    server.asked.clear()
    assert main(words) == 0
    assert sum(name.endswith("md5checksums.txt") for name in server.count()) == 1
    assert not any(name.endswith(".fna.gz") for name in server.count())
    server.asked.clear()
    assert main(words) == 0
    assert not any(name.endswith("md5checksums.txt") for name in server.count())


def test_the_verb(server: Web, device: Device, tmp_path: Path) -> None:
    options = FetchOptions(source=server.url, top=1)
    seen: list[int] = []
    run = classify.Run(progress=lambda done, _: seen.append(done))
    found = classify.fetch("refseq-viral", tmp_path, options, run=run)
    assert seen == sorted(seen)
    assert [Path(name).name for name in found.references] == [ASSEMBLIES[0].file, ASSEMBLIES[3].file]
    database = classify.build(found.references, taxonomy=found.taxonomy, engine=device)
    assert taxa(database) == {target(one): one.taxid for one in (ASSEMBLIES[0], ASSEMBLIES[3])}
    with pytest.raises(UsageError, match="no such collection"):
        classify.fetch("refseq-virus", tmp_path, options)
    del server.files[ASSEMBLIES[1].place]
    with pytest.raises(InputError, match="skip_missing=True does without them"):
        classify.fetch(["refseq-viral"], tmp_path, FetchOptions(source=server.url))
