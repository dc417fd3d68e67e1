# Sets jdk to the home of a JDK 25 or newer: that of JAVA_HOME, of the java on the PATH, or one of the usual places.
# Sourced by the other scripts.
jdk=
on_path=$(readlink -f "$(command -v java || true)" || true)
for home in "${JAVA_HOME:-}" "${on_path%/bin/java}" /usr/lib/jvm/* /Library/Java/JavaVirtualMachines/*/Contents/Home \
    "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/*; do
    if [ -x "$home/bin/javac" ] && [ -r "$home/release" ]; then
        version=$(sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$home/release")
        if [ "${version:-0}" -ge 25 ]; then
            jdk=$home
            break
        fi
    fi
done
if [ -z "$jdk" ]; then
    echo "A JDK 25 is needed, and none was found. Install one, or say where it is with JAVA_HOME." >&2
    exit 1
fi
