#!/usr/bin/env bash
# Builds race.jar beside this file, with the JDK alone.
set -euo pipefail
folder=$(dirname "$0")
exec "$folder/../function-jar.sh" "$folder" Race race.jar
