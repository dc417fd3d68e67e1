#!/usr/bin/env bash
# Builds what is to be installed twice, from two clones of HEAD, one after the other in the same folder, and
# compares the bytes. In the same, because the archive of classes holds the folder in which it was made.
#
#   dist/check-reproducible.sh [MAVEN ARGUMENTS]      for example -Ddist.image.skip; not -o
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
commit=$(git -C "$root" rev-parse HEAD) # Of both builds, though somebody commits meanwhile.
for turn in one two; do
    place=clone
    rm -rf "${work:?}/$place"
    git clone -q "$root" "$work/$place"
    git -C "$work/$place" checkout -q --detach "$commit"
    printf 'Build %s ...\n' "$turn"
    (cd "$work/$place" && mvn -q -Pdist -Dquick package -pl dist -am "$@")
    # The second build has the same Debian packages in its image, though Debian brings out newer ones meanwhile.
    if [ -d "$work/$place/dist/target/quick/image-debs" ]; then
        cp -r "$work/$place/dist/target/quick/image-debs" "$work/debs"
        export ONEFOLD_IMAGE_DEBS=$work/debs
    fi
    (cd "$work/$place" && find . -path '*/target/quick/*' \( -name 'onefold*.jar' -o -name 'onefold*.tar*' -o -name '*.deb' \
        -o -name 'sbom.*' \) -not -path '*/lib/*' -not -path '*/image-debs/*' -exec sha256sum {} + | sort -k 2) >"$work/$turn.sums"
done
cat "$work/one.sums"
if ! diff "$work/one.sums" "$work/two.sums" >"$work/differences"; then
    echo 'The two builds differ:' >&2
    cat "$work/differences" >&2
    exit 1
fi
printf 'Both builds are equal: %d files.\n' "$(wc -l <"$work/one.sums")"
