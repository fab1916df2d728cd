#!/bin/sh
# Take the steps of the container files in a chroot made from Debian's packages, and work in it as users of the container do.
# As root, with mmdebstrap and the package's oclgenomics, of which the results have to be the same:
#
#     tests/try_container.sh FOLDER OCLGENOMICS
#
# FOLDER must not exist; it is removed at the end.
set -eu

checkout=$(cd "$(dirname "$0")/.." && pwd)
folder=$1
oclgenomics=$2

# What is mounted below the folder is so in a namespace of its own, and gone before the folder is removed.
if [ -z "${IN_NAMESPACE:-}" ]; then
    mkdir "$folder"
    status=0
    IN_NAMESPACE=1 unshare --mount --pid --fork --propagation private "$0" "$folder" "$oclgenomics" || status=$?
    rm -rf --one-file-system "$folder"
    exit "$status"
fi

root=$folder/root
data=$folder/data
certificates=/etc/ssl/certs/ca-certificates.crt
grep -q '^FROM debian:12-slim$' "$checkout/packaging/container/Dockerfile" # which is bookworm
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$root"

mkdir "$data" "$root/data" "$root/tmp/checkout"
tar --create --directory "$checkout" --exclude=./.git --exclude=./.venv --exclude=./.home . |
    tar --extract --directory "$root/tmp/checkout"
cp /etc/resolv.conf /etc/hosts "$root/etc"
cp "${PIP_CERT:-$certificates}" "$root$certificates"
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --bind "$data" "$root/data"

# Nothing of this machine's variables but where its certificates are.
inside() { chroot "$root" env --ignore-environment PATH="$PATH" PIP_CERT="$certificates" "$@"; }
as() {
    user=$1
    shift
    # shellcheck disable=SC2016  # expanded inside
    inside OCLGENOMICS_CACHE=/opt/oclgenomics/cache HOME=/ setpriv --reuid="$user" --regid="$user" --clear-groups \
        sh -euc 'cd /data; ps >/dev/null; exec oclgenomics "$@"' sh "$@"
}
inside /tmp/checkout/packaging/container/setup.sh /tmp/checkout
rm -rf "$root/tmp/checkout"

# The image's user, who has a cache, and another one, as of `--user`, who can write nothing but data and temporary files.
sample=chr20_1000G_300samples.vcf.gz
cp "$checkout/tests/data/omega/$sample" "$data"
chmod 777 "$data"
set -- omega scan "$sample" --grid 100 --minwin 1000 --maxwin 100000 --format tsv
as 1000 "$@" -o first.tsv
mount -o remount,bind,ro "$root"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
as 1234 "$@" -o second.tsv
(cd "$data" && "$oclgenomics" "$@" -o here.tsv)
for name in here first second; do
    grep -v '^#' "$data/$name.tsv" >"$data/$name"
    cmp "$data/here" "$data/$name"
done
[ "$(wc -l <"$data/here")" = 101 ] # a header and a line for each position
