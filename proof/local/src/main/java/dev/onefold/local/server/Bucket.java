package dev.onefold.local.server;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A bucket: each key with its versions, the latest first. Not thread-safe.
final class Bucket {
    /// The version of what was put while the bucket kept none.
    private static final String UNVERSIONED = "null";

    private final TreeMap<String, List<Version>> versions =
            new TreeMap<>(Comparator.comparing(key -> key.getBytes(StandardCharsets.UTF_8), Arrays::compareUnsigned));
    private final Instant made = Instant.now();
    private boolean versioned;
    private byte @Nullable [] tags;
    private long number;

    /// One version of an object.
    ///
    /// @param content `null` of a delete marker
    /// @param hashed whether its hash came with it
    record Version(String key, String id, byte @Nullable [] content, boolean hashed, Instant changed) {
        boolean isMarker() {
            return content == null;
        }
    }

    /// Puts an object.
    Version put(String key, byte @Nullable [] content, boolean hashed) {
        List<Version> all = versions.computeIfAbsent(key, _ -> new ArrayList<>());
        String id = versioned ? String.format(Locale.ROOT, "version-%012d", ++number) : UNVERSIONED;
        all.removeIf(version -> version.id().equals(id));
        Version version = new Version(key, id, content, hashed, Instant.now());
        all.addFirst(version);
        return version;
    }

    /// What is there now; empty if nothing is, or if it was deleted.
    Optional<Version> latest(String key) {
        return Optional.ofNullable(versions.get(key)).map(List::getFirst).filter(version -> !version.isMarker());
    }

    Optional<Version> version(String key, String id) {
        return versions.getOrDefault(key, List.of()).stream()
                .filter(version -> version.id().equals(id))
                .findFirst();
    }

    /// Deletes an object. Where versions are kept, a marker says so from now on.
    ///
    /// @return the marker, if there is one
    Optional<Version> delete(String key) {
        if (versioned) {
            return Optional.of(put(key, null, false));
        }
        deleteVersion(key, UNVERSIONED);
        return Optional.empty();
    }

    /// Deletes one version for ever.
    ///
    /// @return what it was
    Optional<Version> deleteVersion(String key, String id) {
        Optional<Version> version = version(key, id);
        version.ifPresent(gone -> {
            List<Version> all = versions.getOrDefault(key, List.of());
            all.remove(gone);
            if (all.isEmpty()) {
                versions.remove(key);
            }
        });
        return version;
    }

    /// All versions, by key; those of one key from the latest on.
    Stream<Version> all() {
        return versions.values().stream().flatMap(List::stream);
    }

    boolean isLatest(Version version) {
        return versions.getOrDefault(version.key(), List.of()).getFirst().id().equals(version.id());
    }

    /// What is there now.
    Stream<Version> objects() {
        return versions.values().stream().map(List::getFirst).filter(version -> !version.isMarker());
    }

    boolean isEmpty() {
        return versions.isEmpty();
    }

    boolean isVersioned() {
        return versioned;
    }

    void keepVersions() {
        versioned = true;
    }

    Instant made() {
        return made;
    }

    Optional<byte[]> tags() {
        return Optional.ofNullable(tags);
    }

    void tag(byte[] document) {
        tags = document;
    }
}
