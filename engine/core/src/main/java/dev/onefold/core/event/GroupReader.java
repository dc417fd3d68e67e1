package dev.onefold.core.event;

import dev.onefold.core.pipeline.Level;
import dev.onefold.core.pipeline.TimeType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.math.RoundingMode;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Reads the group of a record in one roll-up: the value of each level, as a tuple. Not thread-safe.
final class GroupReader {
    private static final int STEP_DIGITS_MAX = 100;
    private static final long DAY_SECONDS = 86_400;

    private final Level[] levels;
    private final int[] slots;
    private final byte[][] missing;
    private final Fields fields;
    private final Scalars scalars;
    private final Times times;
    // Records of one time mostly come together: the last bucket's text is often the next one's.
    private final long[] bucketStart;
    private final long[] bucketEnd; // Of the calendar.
    private final byte[][] bucketText;

    GroupReader(List<Level> levels, Fields fields, Scalars scalars, Times times) {
        this.times = times;
        this.levels = levels.toArray(new Level[0]);
        this.fields = fields;
        this.scalars = scalars;
        slots = levels.stream()
                .mapToInt(level -> fields.slot(level.source().field()))
                .toArray();
        missing = levels.stream()
                .map(level ->
                        level.missing() == null ? new byte[0] : level.missing().getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
        bucketStart = new long[levels.size()];
        bucketEnd = new long[levels.size()];
        bucketText = new byte[levels.size()][];
    }

    /// Appends the tuple of the record in the fields to the event; `null`, or the problem.
    @Nullable
    Malformed append(Event event) {
        for (int i = 0; i < levels.length; i++) {
            int slot = slots[i];
            if (fields.isMissing(slot)) {
                if (levels[i].missing() == null) {
                    return Malformed.field(fields.paths.get(slot), "is missing; it is a level without a default");
                }
                event.appendPart(missing[i], 0, missing[i].length);
                continue;
            }
            Malformed malformed = switch (levels[i].source()) {
                case Level.Source.Text _ -> text(event, slot);
                case Level.Source.Prefix prefix -> prefix(event, slot, prefix.length());
                case Level.Source.Bucket bucket -> bucket(event, i, bucket);
                case Level.Source.Calendar calendar -> calendar(event, i, calendar);
                case Level.Source.Step step -> step(event, slot, step.step());
            };
            if (malformed != null) {
                return malformed;
            }
        }
        return null;
    }

    private @Nullable Malformed text(Event event, int slot) {
        if (fields.kind[slot] == Fields.TEXT && !scalars.spellings.normalized()) {
            event.appendPart(fields.bytes, fields.from[slot], fields.to[slot]);
            return null;
        }
        int length = scalars.normalText(fields, slot);
        if (length < 0) {
            return notText(slot);
        }
        event.appendPart(scalars.bytes, 0, length);
        return null;
    }

    private Malformed notText(int slot) {
        return Malformed.field(fields.paths.get(slot), "is not text or a number; it is a level");
    }

    private @Nullable Malformed prefix(Event event, int slot, int points) {
        int length = scalars.normalText(fields, slot);
        if (length < 0) {
            return notText(slot);
        }
        int end = 0;
        for (int point = 0; point < points && end < length; point++) {
            end++;
            while (end < length && (scalars.bytes[end] & 0xc0) == 0x80) {
                end++;
            }
        }
        event.appendPart(scalars.bytes, 0, end);
        return null;
    }

    private @Nullable Malformed time(int slot, TimeType type) {
        String wrong = times.read(fields, slot, scalars, type);
        wrong = wrong == null ? times.unlikely(type) : wrong;
        return wrong == null ? null : Malformed.field(fields.paths.get(slot), wrong);
    }

    private @Nullable Malformed calendar(Event event, int level, Level.Source.Calendar calendar) {
        Malformed malformed = time(slots[level], calendar.type());
        if (malformed != null) {
            return malformed;
        }
        if (times.isDayOfUtc && calendar.zone() != null) {
            return Malformed.field(
                    fields.paths.get(slots[level]),
                    "is a day without a zone, and the level is of " + calendar.zone()
                            + "; write under input, whose day it is: 'zone: " + calendar.zone() + "'");
        }
        long seconds = times.seconds;
        byte[] text = bucketText[level];
        if (text == null || seconds < bucketStart[level] || seconds >= bucketEnd[level]) {
            ZoneRules rules = calendar.zoneOrUtc().getRules();
            Instant instant = Instant.ofEpochSecond(seconds);
            ZoneOffset offset = rules.getOffset(instant);
            LocalDate first = calendar.unit()
                    .first(LocalDate.ofEpochDay(Math.floorDiv(seconds + offset.getTotalSeconds(), DAY_SECONDS)));
            ZoneOffsetTransition last = rules.previousTransition(instant.plusNanos(1)); // At this instant, too.
            ZoneOffsetTransition next = rules.nextTransition(instant);
            // Where the offset changes, the date is found again: a zone may go back behind midnight.
            bucketStart[level] = Math.max(
                    first.toEpochSecond(LocalTime.MIN, offset), last == null ? Long.MIN_VALUE : last.toEpochSecond());
            bucketEnd[level] = Math.min(
                    calendar.unit().next(first).toEpochSecond(LocalTime.MIN, offset),
                    next == null ? Long.MAX_VALUE : next.toEpochSecond());
            text = calendar.text(first).getBytes(StandardCharsets.US_ASCII);
            bucketText[level] = text;
        }
        event.appendPart(text, 0, text.length);
        return null;
    }

    private @Nullable Malformed bucket(Event event, int level, Level.Source.Bucket bucket) {
        Malformed malformed = time(slots[level], bucket.type());
        if (malformed != null) {
            return malformed;
        }
        long start = bucket.start(times.seconds);
        byte[] text = bucketText[level];
        if (text == null || bucketStart[level] != start) {
            text = bucket.text(start).getBytes(StandardCharsets.US_ASCII);
            bucketStart[level] = start;
            bucketText[level] = text;
        }
        event.appendPart(text, 0, text.length);
        return null;
    }

    private @Nullable Malformed step(Event event, int slot, BigDecimal step) {
        BigDecimal number = scalars.number(fields, slot);
        if (number == null
                || number.signum() != 0
                        && (Math.abs((long) number.precision() - number.scale()) > STEP_DIGITS_MAX
                                || number.scale() > Decimals.CHARACTERS_MAX)) {
            return Malformed.number(
                    fields,
                    slot,
                    "is " + Malformed.excerpt(fields.bytes, fields.from[slot], fields.to[slot])
                            + ", which is not a number of at most " + STEP_DIGITS_MAX + " digits");
        }
        BigInteger steps = number.divide(step, 0, RoundingMode.FLOOR).unscaledValue();
        int length = scalars.put(Scalars.plain(step.multiply(new BigDecimal(steps))), 0);
        event.appendPart(scalars.bytes, 0, length);
        return null;
    }
}
