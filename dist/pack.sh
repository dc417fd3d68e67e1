#!/usr/bin/env bash
# Makes, of what Maven has put into TARGET (lib, licences, runtime, sbom.*): the folder to install and its archive, what
# goes into the Debian package, and what goes into the container image. Two builds of one state give the same bytes.
#
#   VERSION, TIME, TARGET   of the Maven project; TIME is that of all files
#   MAINTAINER              of the Debian package: name and <mail address>
#   IMAGE_SKIPPED           "true" leaves the image out
#   ONEFOLD_IMAGE_DEBS      a folder with the Debian packages of the image's base; without it apt fetches the newest
set -euo pipefail
export LC_ALL=C
umask 022

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$here/..
epoch=$(date -u -d "$TIME" +%s)
base_packages=(base-files bash dash libc-bin libc6 libtinfo6)

fail() {
    printf 'pack.sh: %s\n' "$@" >&2
    exit 1
}

# The archive of classes is valid for jars of these times.
set_times() {
    find "$@" -exec touch -h -d "@$epoch" {} +
}

make_folder() {
    local folder=$1
    mkdir -p "$folder/share"
    cp "$root/onefold" "$folder/onefold"
    cp -r "$TARGET/lib" "$folder/lib"
    cp -rL "$TARGET/runtime" "$folder/runtime" # Its licences are links among themselves; not every format has links.
    cp "$root/LICENSE" "$root/CHANGELOG.md" "$folder/"
    cp "$here/files/README.txt" "$folder/README.txt"
    cp -r "$TARGET/licences" "$folder/share/licences"
    cp "$TARGET/sbom.json" "$folder/share/sbom.json"
    cp "$root/operations/onefold.service" "$here/files/onefold.yaml" "$folder/share/"
    mkdir "$folder/docs" "$folder/clients"
    cp "$root"/clients/onefold.* "$folder/clients/"
    cp "$root"/docs/*.md "$root"/docs/pipeline.schema.json "$root"/docs/TotalsReader.java "$root"/docs/totals_reader.py "$folder/docs/"
    # The internals are for developers, and stay in the repository. A link to what is not in the archive becomes its text.
    sed -i -z -E 's/\s*\(\[why\]\(internals\/[^)]*\)\)//g; s/\[([^][]*)\]\((internals|\.\.)\/[^)]*\)/\1/g' \
        "$folder"/docs/*.md
    find "$folder" -type d -exec chmod 755 {} + -o -type f -exec chmod 644 {} +
    chmod 755 "$folder/onefold" "$folder"/runtime/bin/* "$folder"/runtime/lib/{jspawnhelper,jexec}
    set_times "$folder"
    "$folder/onefold" completion bash >"$folder/share/completion.bash"
}

# What a command loads is written down as a list, in the interpreter, so that it does not depend on chance.
list_classes() {
    local folder=$1 list=$2
    shift 2
    (cd "$TARGET/training" && ONEFOLD_JAVA_OPTS="-Xshare:off -Xint -XX:DumpLoadedClassList=$list" \
        "$folder/onefold" "$@" >>training.log 2>&1 </dev/null) || {
        tail -n 20 "$TARGET/training/training.log" >&2
        fail "'onefold $*' failed, which was to show the classes that it loads."
    }
}

# An archive of the classes that the short commands need, so that a start takes less than half the time. It is one of a
# list of classes, and not an AOT cache of a recorded run: such a cache differs from build to build.
make_class_archive() {
    local folder=$1 example=$root/examples/trade-risk plain=()
    mkdir -p "$TARGET/training"
    list_classes "$folder" version.list --version
    list_classes "$folder" help.list --help
    list_classes "$folder" check.list check "$example/pipeline.yaml"
    list_classes "$folder" run.list run "$example/pipeline.yaml" --input "$example/sample.ndjson"
    list_classes "$folder" query.list query "$example/pipeline.yaml" --depth 2
    list_classes "$folder" status.list status "$example/pipeline.yaml"
    list_classes "$folder" letters.list dead-letters "$example/pipeline.yaml" list
    # Numbers are of one run, and a list of constants is of what happened to be resolved.
    sed -e '/^[#]/d' -e '/^@cp /d' -e 's/ id: [0-9]*$//' "$TARGET"/training/*.list | sort -u >"$TARGET/training/all"
    # Without random addresses: pointers into the JVM are in the archive, though nobody reads them.
    ! setarch -R true 2>/dev/null || plain=(setarch -R)
    (cd "$TARGET/training" &&
        ONEFOLD_JAVA_OPTS='-Xint -Xshare:dump -XX:SharedClassListFile=all -XX:SharedArchiveFile=onefold.jsa' \
        ${plain[@]+"${plain[@]}"} "$folder/onefold" >>training.log 2>&1 </dev/null) || {
        tail -n 20 "$TARGET/training/training.log" >&2
        fail "The archive of classes cannot be made."
    }
    cp "$TARGET/training/onefold.jsa" "$folder/lib/onefold.jsa"
    chmod 644 "$folder/lib/onefold.jsa" "$folder/share/completion.bash"
}

# In the form that Debian's tools read.
changelog() {
    printf 'onefold (%s) unstable; urgency=medium\n\n' "${VERSION/-SNAPSHOT/~snapshot}"
    printf '  * CHANGELOG.md.gz, beside this file, says what has changed.\n\n'
    printf ' -- %s  %s\n' "$MAINTAINER" "$(date -u -R -d "@$epoch")"
}

make_deb_files() {
    local folder=$1 files=$TARGET/deb-files control=$TARGET/deb-control
    local documents=$files/usr/share/doc/onefold
    mkdir -p "$files"/usr/lib/systemd/system "$files"/etc/onefold "$files"/usr/share/bash-completion/completions \
        "$documents" "$files"/usr/share/lintian/overrides "$control"
    cp -a "$folder" "$files/usr/lib/onefold"
    rm -r "$files"/usr/lib/onefold/{LICENSE,CHANGELOG.md,README.txt,docs,share}
    sed 's|/opt/onefold/onefold|/usr/bin/onefold|; 1d' "$folder/share/onefold.service" \
        >"$files/usr/lib/systemd/system/onefold.service"
    cp "$here/files/onefold.yaml" "$files/etc/onefold/onefold.yaml"
    sed '1{/^#!/d}' "$folder/share/completion.bash" >"$files/usr/share/bash-completion/completions/onefold"
    cp -r "$folder/docs" "$folder/share/licences" "$folder/share/sbom.json" "$documents/"
    cp "$here/deb/copyright" "$documents/copyright"
    gzip -9n <"$root/CHANGELOG.md" >"$documents/CHANGELOG.md.gz"
    changelog | gzip -9n >"$documents/changelog.gz"
    cp "$here/deb/lintian-overrides" "$files/usr/share/lintian/overrides/onefold"
    cp "$here"/deb/{postinst,prerm,postrm} "$control/"
    sed "s|@MAINTAINER@|$MAINTAINER|" "$here/deb/control" >"$control/control"
    set_times "$files" "$control"
}

# The base: a C library, a shell and their own papers, so that a scanner of images knows them. No package manager.
make_image_files() {
    local folder=$1 base=$TARGET/image-base debs=${ONEFOLD_IMAGE_DEBS:-} deb package unpacked=$TARGET/image-unpacked
    if [ -z "$debs" ]; then
        command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
            fail "The image's base is made of Debian packages, and there is no apt-get and dpkg-deb here." \
                "-Ddist.image.skip leaves the image out."
        debs=$TARGET/image-debs
        mkdir -p "$debs"
        (cd "$debs" && apt-get -q download "${base_packages[@]/%/:amd64}") >"$TARGET/image-debs.log" 2>&1 || {
            cat "$TARGET/image-debs.log" >&2
            fail "apt cannot fetch the packages of the image's base: try 'apt-get update' first." \
                "-Ddist.image.skip leaves the image out."
        }
    fi
    mkdir -p "$base"/{bin,tmp,etc,lib64,lib/x86_64-linux-gnu,usr/lib,usr/share/doc,var/lib/dpkg/status.d} \
        "$base/var/lib/onefold" "$TARGET/image-app/usr/lib"
    for deb in "$debs"/*.deb; do
        rm -rf "$unpacked"
        dpkg-deb -R "$deb" "$unpacked"
        package=$(dpkg-deb -f "$deb" Package)
        cp "$unpacked/DEBIAN/control" "$base/var/lib/dpkg/status.d/$package"
        mkdir "$base/usr/share/doc/$package"
        cp -L "$unpacked/usr/share/doc/$package/copyright" "$base/usr/share/doc/$package/copyright"
        case $package in
            base-files)
                cp "$unpacked/usr/lib/os-release" "$base/usr/lib/os-release"
                cp "$unpacked/usr/lib/os-release" "$base/etc/os-release"
                cp "$unpacked/etc/debian_version" "$base/etc/debian_version"
                ;;
            bash) take "$unpacked" bash "$base/bin/bash" ;;
            dash) take "$unpacked" dash "$base/bin/sh" ;;
            libc6)
                take "$unpacked" ld-linux-x86-64.so.2 "$base/lib64/ld-linux-x86-64.so.2"
                for file in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libresolv.so.2 libnss_dns.so.2 \
                    libnss_files.so.2; do
                    take "$unpacked" "$file" "$base/lib/x86_64-linux-gnu/$file"
                done
                ;;
            libc-bin) # The locale of UTF-8, without which Java loses letters of arguments and names of files.
                mkdir -p "$base/usr/lib/locale"
                cp -rL "$unpacked/usr/lib/locale/C.utf8" "$base/usr/lib/locale/C.utf8"
                ;;
            libtinfo6) take "$unpacked" libtinfo.so.6 "$base/lib/x86_64-linux-gnu/libtinfo.so.6" ;;
        esac
        printf '%s  %s\n' "$(sha256sum <"$deb" | cut -d' ' -f1)" "${deb##*/}"
    done >"$TARGET/image-base.txt"
    rm -rf "$unpacked"
    printf 'root:x:0:0:root:/:/bin/sh\nonefold:x:10001:10001:Onefold:/var/lib/onefold:/bin/sh\n' >"$base/etc/passwd"
    printf 'root:x:0:\nonefold:x:10001:\n' >"$base/etc/group"
    printf 'passwd: files\ngroup: files\nhosts: files dns\n' >"$base/etc/nsswitch.conf"
    cp -a "$folder" "$TARGET/image-app/usr/lib/onefold"
    # The image has no program "env" to look bash up.
    sed -i '1s|.*|#!/bin/bash|' "$TARGET/image-app/usr/lib/onefold/onefold"
    mkdir -p "$TARGET/classes" # Jib asks for the folder, which is empty: all classes are in jars.
    set_times "$base" "$TARGET/image-app"
}

# A file of a package by its name, wherever the package of this version of Debian has it; never as a link.
take() {
    local found
    found=$(find "$1" -name "$2" -path '*/*' -not -path '*/share/*' -print -quit)
    [ -n "$found" ] || fail "The package in $1 has no file $2."
    cp -L "$found" "$3"
}

case $(uname -sm) in
    'Linux x86_64') ;;
    *) fail "Packages are made on Linux on x86-64 only, and this is $(uname -sm)." ;;
esac
[ -e "$TARGET/sbom.json" ] ||
    fail "$TARGET/sbom.json is missing: the list of contents is not made offline. Leave out 'mvn -o'."
name=onefold-$VERSION
make_folder "$TARGET/$name"
make_class_archive "$TARGET/$name"
set_times "$TARGET/$name"
"$here/archive.sh" "$TARGET/$name" "$epoch" >"$TARGET/$name-linux-x64.tar.gz"
make_deb_files "$TARGET/$name"
[ "$IMAGE_SKIPPED" = true ] || make_image_files "$TARGET/$name"
