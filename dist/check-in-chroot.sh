#!/usr/bin/env bash
# Runs what was built where nothing else is: the archive and the Debian package in a bare Debian, the image on its own
# files. As root, with debootstrap; takes minutes. CHROOT names a bare Debian that is there already. Where
# lintian, systemd-analyze and skopeo are installed, they judge the package, its unit and the image, too.
#
#   dist/check-in-chroot.sh [FOLDER WITH THE RESULTS]      dist/target without it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$(cd "${1:-$here/target}" && pwd)
work=$(mktemp -d)
chroot=${CHROOT:-$work/debian}
image=$work/image
service=
clean() {
    [ -z "$service" ] || kill "$service" 2>/dev/null || true
    for place in "$chroot" "$image"; do
        for mount in dev proc; do
            ! mountpoint -q "$place/$mount" || umount "$place/$mount" || umount -l "$place/$mount"
        done
    done
    rm -rf --one-file-system "$work"
}
trap clean EXIT

fail() {
    printf 'check-in-chroot.sh: %s\n' "$@" >&2
    exit 1
}

mount_system() {
    mkdir -p "$1/proc" "$1/dev"
    mountpoint -q "$1/proc" || mount -t proc proc "$1/proc"
    mountpoint -q "$1/dev" || mount --bind /dev "$1/dev"
}

# A demo compares with its producer's totals and fails if they differ. What it prints is the same everywhere, but for
# times, and for the places where it was killed.
demo() {
    local what=$1
    printf '\n==> %s: demo\n' "$what"
    shift
    "$@" --version
    "$@" demo --events 200000 >"$work/demo" 2>&1 || fail "The demo failed:" "$(tail -n 20 "$work/demo")"
    grep -E '^ *[A-Za-z].* equal$' "$work/demo" >"$work/demo.$what" || fail "The demo shows no totals: $(cat "$work/demo")"
    head -n 1 "$work/demo.$what"
    [ -e "$work/demo.first" ] || cp "$work/demo.$what" "$work/demo.first"
    diff "$work/demo.first" "$work/demo.$what" || fail "The demo of the $what shows other totals."
    printf 'All %d lines of totals and counts are equal.\n' "$(wc -l <"$work/demo.$what")"
}

judge_package() {
    local deb=$1
    if command -v lintian >/dev/null; then
        printf '\n==> Debian package: lintian\n'
        lintian --fail-on error,warning "$deb" 2>&1 | sed '/^running with root privileges/d'
        echo 'lintian finds no error and gives no warning.'
    fi
    if command -v systemd-analyze >/dev/null; then
        printf '\n==> Debian package: its unit\n'
        dpkg-deb -x "$deb" "$work/package"
        mkdir "$work/unit" # The program that it starts must be there, and this machine has none of that name.
        sed "s|=/usr/bin/onefold|=$work/package/usr/lib/onefold/onefold|" \
            "$work/package/usr/lib/systemd/system/onefold.service" >"$work/unit/onefold.service"
        systemd-analyze verify --man=no "$work/unit/onefold.service"
        echo 'systemd-analyze finds nothing.'
        rm -rf "$work/package" "$work/unit"
    fi
}

judge_archive() {
    rm -rf "${chroot:?}/opt/a folder"
    mkdir -p "$chroot/opt/a folder"
    tar -xzf "$results"/onefold-*-linux-x64.tar.gz -C "$chroot/opt/a folder" --strip-components=1
    demo archive "${bare[@]}" '/opt/a folder/onefold'
    rm -rf "${chroot:?}/opt/a folder"
}

wait_for() {
    local _
    for _ in {1..150}; do
        ! "${bare[@]}" sh -c "$1" >/dev/null 2>&1 || return 0
        sleep 0.2
    done
    fail "After 30 s this is not so: $1" "$("${bare[@]}" cat /var/lib/onefold/run.log)"
}

as_user() {
    "${bare[@]}" su -s /bin/sh onefold -c "cd /var/lib/onefold && $1"
}

# Installs, upgrades while a process of the old version runs and folds on, removes and purges.
judge_deb() {
    local before after pipeline=/var/lib/onefold/pipeline.yaml
    cp "$results"/onefold_*_amd64.deb "$chroot/tmp/onefold.deb"
    "${bare[@]}" dpkg -s adduser >/dev/null 2>&1 || "${bare[@]}" apt-get install -y -q adduser >/dev/null
    printf '\n==> Debian package: installed\n'
    "${bare[@]}" dpkg -i /tmp/onefold.deb
    demo 'Debian package' "${bare[@]}" onefold
    "${bare[@]}" sh -ec 'id onefold; ls -ld /var/lib/onefold; dpkg --verify onefold
        bash -c ". /usr/share/bash-completion/completions/onefold; complete -p onefold"'

    printf '\n==> Debian package: upgraded while it runs\n'
    cp "$here/../examples/trade-risk/pipeline.yaml" "$chroot$pipeline"
    echo '# Of an administrator' >>"$chroot/etc/onefold/onefold.yaml"
    as_user 'onefold generate trade-risk --events 20000 -o in.ndjson 2>/dev/null'
    as_user 'echo $$ >run.pid; exec onefold run pipeline.yaml --input in.ndjson --follow >run.log 2>&1' &
    wait_for 'test -s /var/lib/onefold/run.pid'
    service=$(cat "$chroot/var/lib/onefold/run.pid")
    wait_for 'onefold status /var/lib/onefold/pipeline.yaml --data /var/lib/onefold/onefold-data/trade-risk | grep "20,000"'
    before=$(as_user 'onefold query pipeline.yaml --format csv')
    "${bare[@]}" dpkg -i /tmp/onefold.deb
    after=$(as_user 'onefold query pipeline.yaml --format csv')
    [ "$before" = "$after" ] || fail 'The totals differ after the upgrade.'
    as_user 'onefold generate trade-risk --events 20000 --seed 7 2>/dev/null >>in.ndjson'
    wait_for 'onefold status /var/lib/onefold/pipeline.yaml --data /var/lib/onefold/onefold-data/trade-risk | grep "40,000"'
    kill "$service"
    wait || fail "The run ended with an error: $(cat "$chroot/var/lib/onefold/run.log")"
    service=
    as_user 'onefold verify pipeline.yaml'
    grep -q 'Of an administrator' "$chroot/etc/onefold/onefold.yaml" || fail 'The settings were replaced.'

    printf '\n==> Debian package: removed, installed again, purged\n'
    "${bare[@]}" dpkg -r onefold
    "${bare[@]}" sh -ec 'test -e /etc/onefold/onefold.yaml; test ! -e /usr/bin/onefold; test ! -e /usr/lib/onefold'
    "${bare[@]}" dpkg -i /tmp/onefold.deb
    as_user 'onefold verify pipeline.yaml'
    "${bare[@]}" dpkg --purge onefold
    "${bare[@]}" sh -ec 'test ! -e /etc/onefold; test ! -e /usr/lib/onefold; test -d /var/lib/onefold/onefold-data
        rm -r /var/lib/onefold'
    "${bare[@]}" dpkg -i /tmp/onefold.deb >/dev/null
    "${bare[@]}" dpkg --purge onefold
    "${bare[@]}" sh -ec 'test ! -e /etc/onefold; test ! -e /var/lib/onefold' # There were no data.
}

judge_image() {
    local layer container
    mkdir "$image" "$work/layers"
    tar -xf "$results"/onefold-*-image.tar -C "$work/layers"
    for layer in $(grep -o '"Layers":\[[^]]*\]' "$work/layers/manifest.json" | grep -o '[0-9a-f]\{64\}\.tar\.gz'); do
        tar --warning=no-unknown-keyword -xzf "$work/layers/$layer" -C "$image"
    done
    if command -v skopeo >/dev/null; then # It reads the image as a container engine does, and checks its digests.
        skopeo copy -q docker-archive:"$(echo "$results"/onefold-*-image.tar)" dir:"$work/copy"
        printf '\n==> image: skopeo copies it\n'
        rm -r "$work/copy"
    fi
    mount_system "$image"
    # As a container starts it: the entry point itself, as the user, with the variables of the image alone.
    container=("$(command -v env)" -i PATH=/usr/lib/onefold:/bin HOME=/var/lib/onefold
        "$(command -v chroot)" --userspec=10001:10001 "$image" /bin/bash -c 'cd /var/lib/onefold && exec "$@"' bash)
    demo image "${container[@]}" /usr/lib/onefold/onefold
    # A letter that is not ASCII, in an argument and in the name of a file.
    "${container[@]}" onefold generate trade-risk --events 3 -o 'Zürich.ndjson' 2>/dev/null
    [ -s "$image/var/lib/onefold/Zürich.ndjson" ] || fail 'The image loses letters.'
    "${container[@]}" onefold --help 2>&1 >/dev/null | diff /dev/null - || fail 'The image warns at each start.'
}

[ -d "$chroot" ] || debootstrap --variant=minbase bookworm "$chroot" >"$work/debootstrap.log" ||
    fail "debootstrap failed: $(tail -n 1 "$work/debootstrap.log")"
mount_system "$chroot"
bare=(chroot "$chroot" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root)
! "${bare[@]}" sh -c 'command -v java || command -v mvn' || fail 'The chroot has Java or Maven.'
judge_archive
judge_package "$(echo "$results"/onefold_*_amd64.deb)"
judge_deb
[ ! -e "$(echo "$results"/onefold-*-image.tar)" ] || judge_image
printf '\nAll of it runs.\n'
