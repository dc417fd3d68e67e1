#!/usr/bin/env bash
# Writes a folder as a .tar.gz whose bytes depend on names, contents and permissions alone: not on who packs it, when, or
# in which order the files were made.
#
#   archive.sh FOLDER SECONDS      SECONDS since 1970: the time that all files get
set -euo pipefail
export LC_ALL=C
folder=${1%/}
tar --sort=name --format=gnu --mtime="@$2" --owner=root:0 --group=root:0 --numeric-owner \
    -C "$(dirname "$folder")" -cf - "$(basename "$folder")" | gzip -9n
