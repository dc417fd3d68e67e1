#!/usr/bin/env bash
# Writes SHA256SUMS of everything that is to be handed on, in the current directory.
set -euo pipefail
shopt -s nullglob
sha256sum onefold-*.tar.gz onefold_*.deb onefold-*-image.tar sbom.json sbom.xml >SHA256SUMS
cat SHA256SUMS
