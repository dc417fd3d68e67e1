#!/usr/bin/env bash
# function-jar.sh FOLDER CLASS JAR: builds the jar of the function FOLDER/CLASS.java in its folder, with the JDK alone. A
# build of yours has onefold-process as a dependency in place of its sources.
set -euo pipefail
api=$(cd "$(dirname "$0")/../engine/process/src/main/java/dev/onefold/process" && pwd)
. "$(dirname "$0")/jdk.sh"
cd "$1"
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
"$jdk/bin/javac" -Xlint:all -d "$classes" "$2.java" "$api"/{Processor,Step,Write,Field,Stored}.java
"$jdk/bin/jar" --create --date=2026-01-01T00:00:00Z --file "$classes/$3" -C "$classes" com
mv "$classes/$3" "$3"
