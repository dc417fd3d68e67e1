#!/usr/bin/env bash
# Builds runs.jar beside this file, with the JDK alone. A build of yours has onefold-process as a dependency in place of
# its sources.
set -euo pipefail
cd "$(dirname "$0")"
bin=${JAVA_HOME:+$JAVA_HOME/bin/}
api=../../process/src/main/java/dev/onefold/process
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
"${bin}javac" -Xlint:all -d "$classes" Runs.java "$api"/{Processor,Step,Write,Field,Stored}.java
"${bin}jar" --create --date=2026-01-01T00:00:00Z --file "$classes/runs.jar" -C "$classes" com
mv "$classes/runs.jar" runs.jar
