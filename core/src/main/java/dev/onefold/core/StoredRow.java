package dev.onefold.core;

import dev.onefold.core.event.RecordIdentity;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.VersionBytes;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.state.Contribution;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;

/// The row of a key.
///
/// @param key its parts
/// @param version as text; empty in a pipeline without versions
/// @param contribution what it contributes now
/// @param source where the record came from
/// @param offset of the record's first byte there
public record StoredRow(List<String> key, String version, Contribution contribution, String source, long offset) {
    private static final BigInteger NANOS = BigInteger.valueOf(1_000_000_000);

    public StoredRow {
        key = List.copyOf(key);
    }

    private static int partsOf(Pipeline pipeline) {
        return switch (pipeline.identity()) {
            case Identity.Versioned versioned -> versioned.key().size();
            case Identity.ById byId -> byId.id().size();
            case Identity.ByPlace _ -> 0;
        };
    }

    /// The bytes of a key in an event, of its parts.
    ///
    /// @throws IllegalArgumentException if the pipeline's keys have another number of parts, or it has none
    public static byte[] keyBytes(Pipeline pipeline, List<String> key) {
        int parts = partsOf(pipeline);
        if (parts == 0) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no keys");
        }
        if (key.size() != parts) {
            throw new IllegalArgumentException("A key of pipeline " + pipeline.name() + " has " + parts
                    + (parts == 1 ? " part, not " : " parts, not ") + key.size());
        }
        return parts == 1
                ? key.getFirst().getBytes(StandardCharsets.UTF_8)
                : Tuple.of(key).bytes();
    }

    /// The parts of a key, of its bytes in an event.
    public static List<String> keyParts(Pipeline pipeline, byte[] key) {
        return partsOf(pipeline) == 1 ? List.of(new String(key, StandardCharsets.UTF_8)) : new Tuple(key).parts();
    }

    /// A version as text, of its bytes in an event; empty in a pipeline without versions.
    public static String versionText(Pipeline pipeline, byte[] version) {
        if (!(pipeline.identity() instanceof Identity.Versioned versioned)) {
            return "";
        }
        BigInteger number = VersionBytes.number(version, 0);
        if (versioned.versionTime() == null) {
            return number.toString();
        }
        BigInteger[] parts = number.divideAndRemainder(NANOS);
        return Instant.ofEpochSecond(parts[0].longValueExact(), parts[1].longValueExact())
                .toString();
    }

    /// The version that a record states, as text; empty if it has none, or it cannot be read.
    public static String versionText(Pipeline pipeline, RecordIdentity identity) {
        byte[] version = identity.version();
        return version == null ? "" : versionText(pipeline, version);
    }

    /// Whether a version is higher than this row's.
    public boolean isOlderThan(String other, Pipeline pipeline) {
        return !other.isEmpty()
                && Arrays.compareUnsigned(versionBytes(pipeline, other), versionBytes(pipeline, version)) > 0;
    }

    /// The bytes of a version in an event, of its text; those of zero in a pipeline without versions.
    public static byte[] versionBytes(Pipeline pipeline, String version) {
        if (!(pipeline.identity() instanceof Identity.Versioned versioned)) {
            return VersionBytes.of(BigInteger.ZERO);
        }
        if (versioned.versionTime() == null) {
            return VersionBytes.of(new BigInteger(version));
        }
        Instant at = Instant.parse(version);
        return VersionBytes.of(
                BigInteger.valueOf(at.getEpochSecond()).multiply(NANOS).add(BigInteger.valueOf(at.getNano())));
    }
}
