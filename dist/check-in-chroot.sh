#!/usr/bin/env bash
# Runs what was built where nothing else is: the archive and the Debian package in a bare Debian, the image on its own
# files. As root, with debootstrap; takes minutes. CHROOT names a bare Debian that is there already.
#
#   dist/check-in-chroot.sh [FOLDER WITH THE RESULTS]      dist/target without it
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$(cd "${1:-$here/target}" && pwd)
work=$(mktemp -d)
chroot=${CHROOT:-$work/debian}
image=$work/image
clean() {
    for place in "$chroot" "$image"; do
        for mount in dev proc; do
            ! mountpoint -q "$place/$mount" || umount "$place/$mount"
        done
    done
    rm -rf "$work"
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

# A demo compares with its producer's totals and fails if they differ.
demo() {
    printf '\n==> %s: demo\n' "$1"
    shift
    "$@" --version
    "$@" demo --events 200000 2>&1 | grep -E '^(total|accepted|[0-9,]+ messages)|differ'
}

[ -d "$chroot" ] || debootstrap --variant=minbase bookworm "$chroot" >"$work/debootstrap.log" ||
    fail "debootstrap failed: $(tail -n 1 "$work/debootstrap.log")"
mount_system "$chroot"
bare=(chroot "$chroot" env -i PATH=/usr/bin:/bin:/usr/sbin:/sbin HOME=/root)
! "${bare[@]}" sh -c 'command -v java || command -v mvn' || fail 'The chroot has Java or Maven.'

rm -rf "${chroot:?}/opt/a folder"
mkdir -p "$chroot/opt/a folder"
tar -xzf "$results"/onefold-*-linux-x64.tar.gz -C "$chroot/opt/a folder" --strip-components=1
demo 'Archive' "${bare[@]}" '/opt/a folder/onefold'
rm -rf "${chroot:?}/opt/a folder"

cp "$results"/onefold_*_amd64.deb "$chroot/tmp/onefold.deb"
"${bare[@]}" dpkg -s adduser >/dev/null 2>&1 || "${bare[@]}" apt-get install -y -q adduser >/dev/null
for time in first second; do # The second one is an upgrade to the same version.
    printf '\n==> Debian package, %s installation\n' "$time"
    "${bare[@]}" dpkg -i /tmp/onefold.deb
done
demo 'Debian package' "${bare[@]}" onefold
"${bare[@]}" sh -ec 'id onefold; ls -ld /var/lib/onefold; test -e /etc/onefold/onefold.yaml
    bash -n /usr/share/bash-completion/completions/onefold
    su -s /bin/sh onefold -c "cd /var/lib/onefold && onefold generate trade-risk --events 3 >three.ndjson"
    dpkg --verify onefold'
printf '\n==> Debian package, removed and purged\n'
"${bare[@]}" dpkg -r onefold
"${bare[@]}" sh -ec 'test -e /etc/onefold/onefold.yaml; test ! -e /usr/bin/onefold; test ! -e /usr/lib/onefold'
"${bare[@]}" dpkg --purge onefold
"${bare[@]}" sh -ec 'test ! -e /etc/onefold; test -e /var/lib/onefold/three.ndjson; rm -r /var/lib/onefold'

if [ -e "$(echo "$results"/onefold-*-image.tar)" ]; then
    mkdir "$image" "$work/layers"
    tar -xf "$results"/onefold-*-image.tar -C "$work/layers"
    for layer in $(grep -o '"Layers":\[[^]]*\]' "$work/layers/manifest.json" | grep -o '[0-9a-f]\{64\}\.tar\.gz'); do
        tar --warning=no-unknown-keyword -xzf "$work/layers/$layer" -C "$image"
    done
    mount_system "$image"
    demo 'Image' chroot --userspec=10001:10001 "$image" /bin/bash -c \
        'cd /var/lib/onefold && PATH=/usr/bin:/bin HOME=/var/lib/onefold exec /usr/lib/onefold/onefold "$@"' onefold
fi
printf '\nAll of it runs.\n'
