#!/usr/bin/env bash
# Builds runs.jar beside this file, with the JDK alone.
set -euo pipefail
folder=$(dirname "$0")
exec "$folder/../function-jar.sh" "$folder" Runs runs.jar
