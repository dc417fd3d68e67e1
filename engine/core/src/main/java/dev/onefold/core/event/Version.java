package dev.onefold.core.event;

import dev.onefold.core.bytes.VersionBytes;
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

    /// The generation of a change that has the time for its position, as in a table's Kinesis stream. It is above
    /// that of each stream of a table, so that the rows of a seeding are below it, whichever stream was named.
    public static final long TIMED_GENERATION = (1L << 33) - 1;

    private static final int REPAIR_BITS = 47;
    private static final int POSITION_BITS = 133;

    /// The kind of a version.
    public enum Kind {
        NONE,
        NUMBER,
        TIME,
        /// The place of a change in the log of its table, as [#of(long, BigInteger, long)] makes it.
        PLACE;

        private static Kind of(Pipeline pipeline) {
            return switch (pipeline.input().identity()) {
                case Identity.Versioned versioned ->
                    versioned.version() == null
                            ? PLACE
                            : versioned.versionTime() == null
                                            || versioned.versionTime().ordersEqualTimes()
                                    ? NUMBER
                                    : TIME;
                case Identity.ById _, Identity.ByMessage _, Identity.ByPlace _ -> NONE;
            };
        }
    }

    /// The place of a change in the log of its table. Ordered by generation, then by position, then by
    /// number. So a row of a seeding, at position 0, is below every live change of that log, and a repair is
    /// between the change that it follows and the next one.
    ///
    /// @param generation of the log, from 0; a log that was restarted has a higher one
    /// @param position in the log, from 0
    /// @param number 0 of a change; else of the seeding or repair, from 1
    /// @throws IllegalArgumentException if one of them is negative or too great
    public static Version of(long generation, BigInteger position, long number) {
        BigInteger high = BigInteger.valueOf(generation);
        BigInteger low = BigInteger.valueOf(number);
        if (generation < 0
                || number < 0
                || position.signum() < 0
                || position.bitLength() > POSITION_BITS
                || low.bitLength() > REPAIR_BITS
                || high.bitLength() + POSITION_BITS + REPAIR_BITS > Byte.SIZE * (VersionBytes.LENGTH_MAX - 1)) {
            throw new IllegalArgumentException("There is no place in a log of generation " + generation + ", position "
                    + position + ", number " + number);
        }
        return new Version(
                high.shiftLeft(POSITION_BITS)
                        .or(position)
                        .shiftLeft(REPAIR_BITS)
                        .or(low),
                Kind.PLACE);
    }

    /// Of the place of a change: the generation of its log.
    public long generation() {
        return number.shiftRight(POSITION_BITS + REPAIR_BITS).longValueExact();
    }

    /// Of the place of a change: its position in the log; 0 of a row of a seeding.
    public BigInteger position() {
        return low(number.shiftRight(REPAIR_BITS), POSITION_BITS);
    }

    /// Whether it is the time of a change, in whole milliseconds: two changes of one item may have the same.
    public boolean isOfMillisecond() {
        return kind == Kind.PLACE
                && generation() == TIMED_GENERATION
                && repair() == 0
                && position().mod(BigInteger.valueOf(1_000)).signum() == 0;
    }

    /// Of the place of a change: the number of the seeding or repair; 0 of a change that the log has.
    public long repair() {
        return low(number, REPAIR_BITS).longValueExact();
    }

    private static BigInteger low(BigInteger number, int bits) {
        return number.and(BigInteger.ONE.shiftLeft(bits).subtract(BigInteger.ONE));
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
            case PLACE -> {
                String[] parts = text.split("/", -1);
                yield of(Long.parseLong(parts[0]), new BigInteger(parts[1]), Long.parseLong(parts[2]));
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

    /// The number, the time in ISO 8601, or generation, position and number with slashes; empty if there is no version.
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
            case PLACE -> generation() + "/" + position() + "/" + repair();
        };
    }
}
