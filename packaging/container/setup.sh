#!/bin/sh
# The steps of both containers, on Debian or Ubuntu with Python 3.11 or later; also for a chroot. As root:
#
#     setup.sh CHECKOUT
set -eu

checkout=$1
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends procps python3 python3-venv  # procps: Nextflow asks ps what a task takes
rm -rf /var/lib/apt/lists/*

# Hosts lend NVIDIA's driver to containers without this entry.
mkdir -p /etc/OpenCL/vendors
echo libnvidia-opencl.so.1 >/etc/OpenCL/vendors/nvidia.icd

python3 -m venv /opt/oclgenomics
/opt/oclgenomics/bin/pip install --no-cache-dir "$checkout"
ln -sf /opt/oclgenomics/bin/oclgenomics /usr/local/bin/oclgenomics

# The cache holds code that runs, so only its owner uses it: that is the user of the container. It gets the answer of the
# self-test on this CPU. Any other user, or another CPU, takes the test again; where the folder cannot be written, in a
# temporary one.
useradd --create-home --uid 1000 oclgenomics
mkdir -m 755 /opt/oclgenomics/cache
chown oclgenomics /opt/oclgenomics/cache
setpriv --reuid=oclgenomics --regid=oclgenomics --init-groups \
    env HOME=/home/oclgenomics OCLGENOMICS_CACHE=/opt/oclgenomics/cache oclgenomics doctor
