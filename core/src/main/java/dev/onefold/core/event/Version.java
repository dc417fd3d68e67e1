package dev.onefold.core.event;

import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import java.math.BigInteger;
import java.time.Instant;

/// The order of a key in time. [VersionBytes] are its bytes in an event, and have the same order.
///
/// @param number the version; of a time, nanoseconds since 1970-01-01T00:00Z
public record Version(BigInteger number, Kind kind) implements Comparable<Version> {
    private static final BigInteger NANOS = BigInteger.valueOf(1_000_000_000);

    /// The version of every event in a pipeline without versions, and of a record that states none.
    public static final Version NONE = new Version(BigInteger.ZERO, Kind.NONE);

    /// What a version is.
    public enum Kind {
        NONE,
        NUMBER,
        TIME;

        private static Kind of(Pipeline pipeline) {
            return switch (pipeline.input().identity()) {
                case Identity.Versioned versioned -> versioned.versionTime() == null ? NUMBER : TIME;
                case Identity.ById _, Identity.ByMessage _, Identity.ByPlace _ -> NONE;
            };
        }
    }

    /// The version of its bytes in an event.
    public static Version of(Pipeline pipeline, byte[] bytes) {
        Kind kind = Kind.of(pipeline);
        return kind == Kind.NONE ? NONE : new Version(VersionBytes.number(bytes, 0), kind);
    }

    /// The version that a record states; [#NONE] if it has none, or it cannot be read.
    public static Version of(Pipeline pipeline, RecordIdentity identity) {
        byte[] version = identity.version();
        return version == null ? NONE : of(pipeline, version);
    }

    /// The version of its text.
    public static Version parse(Pipeline pipeline, String text) {
        Kind kind = Kind.of(pipeline);
        return switch (kind) {
            case NONE -> NONE;
            case NUMBER -> new Version(new BigInteger(text), kind);
            case TIME -> {
                Instant at = Instant.parse(text);
                BigInteger seconds = BigInteger.valueOf(at.getEpochSecond());
                yield new Version(seconds.multiply(NANOS).add(BigInteger.valueOf(at.getNano())), kind);
            }
        };
    }

    /// Whether there is no version.
    public boolean isNone() {
        return kind == Kind.NONE;
    }

    /// Its bytes in an event.
    public byte[] bytes() {
        return VersionBytes.of(number);
    }

    @Override
    public int compareTo(Version other) {
        return number.compareTo(other.number);
    }

    /// The number, or the time in ISO 8601; empty if there is no version.
    @Override
    public String toString() {
        return switch (kind) {
            case NONE -> "";
            case NUMBER -> number.toString();
            case TIME -> {
                BigInteger[] parts = number.divideAndRemainder(NANOS);
                yield Instant.ofEpochSecond(parts[0].longValueExact(), parts[1].longValueExact())
                        .toString();
            }
        };
    }
}
