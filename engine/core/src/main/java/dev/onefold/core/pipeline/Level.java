package dev.onefold.core.pipeline;

import java.math.BigDecimal;
import java.time.DayOfWeek;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.TemporalAdjusters;
import org.jspecify.annotations.Nullable;

/// One dimension of a roll-up: its name in answers, the source of its value, and the value that replaces a
/// missing one (`null`: a record without it is refused).
public record Level(String name, Source source, @Nullable String missing) {

    /// A part of the calendar.
    public enum Unit {
        DAY("1d"),
        /// From Monday.
        WEEK("week"),
        WEEK_FROM_SUNDAY("week-from-sunday"),
        WEEK_FROM_SATURDAY("week-from-saturday"),
        MONTH("month"),
        QUARTER("quarter"),
        YEAR("year");

        private final String word;

        Unit(String word) {
            this.word = word;
        }

        /// The word for it in a pipeline file.
        public String word() {
            return word;
        }

        /// Its first date.
        public LocalDate first(LocalDate date) {
            return switch (this) {
                case DAY -> date;
                case WEEK -> first(date, DayOfWeek.MONDAY);
                case WEEK_FROM_SUNDAY -> first(date, DayOfWeek.SUNDAY);
                case WEEK_FROM_SATURDAY -> first(date, DayOfWeek.SATURDAY);
                case MONTH -> date.withDayOfMonth(1);
                case QUARTER -> date.withDayOfMonth(1).minusMonths((date.getMonthValue() - 1) % 3);
                case YEAR -> date.withDayOfYear(1);
            };
        }

        private static LocalDate first(LocalDate date, DayOfWeek day) {
            return date.with(TemporalAdjusters.previousOrSame(day));
        }

        /// The first date of the next one.
        public LocalDate next(LocalDate first) {
            return switch (this) {
                case DAY -> first.plusDays(1);
                case WEEK, WEEK_FROM_SUNDAY, WEEK_FROM_SATURDAY -> first.plusWeeks(1);
                case MONTH -> first.plusMonths(1);
                case QUARTER -> first.plusMonths(3);
                case YEAR -> first.plusYears(1);
            };
        }
    }

    /// The source of a level's value.
    public sealed interface Source {
        FieldPath field();

        /// The field's text.
        record Text(FieldPath field) implements Source {}

        /// The first code points of the field's text.
        record Prefix(FieldPath field, int length) implements Source {}

        /// A span of time. The texts of later ones are greater.
        sealed interface Timed extends Source {
            TimeType type();

            /// The first second of the span that holds a second, since 1970-01-01T00:00Z.
            long start(long second);

            /// The text of the span that begins with a second.
            String text(long start);

            /// The first second of the span with a text.
            long start(String text);
        }

        /// The start of the time bucket, ISO-8601 in UTC; sizes are whole seconds.
        record Bucket(FieldPath field, Duration size, TimeType type) implements Timed {
            @Override
            public long start(long second) {
                return Math.floorDiv(second, size.toSeconds()) * size.toSeconds();
            }

            @Override
            public String text(long start) {
                return Instant.ofEpochSecond(start).toString();
            }

            @Override
            public long start(String text) {
                return Instant.parse(text).getEpochSecond();
            }
        }

        /// The day, week, month, quarter or year of a time in a zone: its first date. Without a zone it is of
        /// UTC: its start, in ISO-8601.
        record Calendar(
                FieldPath field,
                Unit unit,
                TimeType type,
                @Nullable ZoneId zone) implements Timed {
            @Override
            public long start(long second) {
                return first(second).atStartOfDay(zoneOrUtc()).toEpochSecond();
            }

            @Override
            public String text(long start) {
                return text(first(start));
            }

            @Override
            public long start(String text) {
                return zone == null
                        ? Instant.parse(text).getEpochSecond()
                        : LocalDate.parse(text).atStartOfDay(zone).toEpochSecond();
            }

            /// The text of the span that begins with a date.
            public String text(LocalDate first) {
                return zone == null ? first + "T00:00:00Z" : first.toString();
            }

            private LocalDate first(long second) {
                return unit.first(
                        Instant.ofEpochSecond(second).atZone(zoneOrUtc()).toLocalDate());
            }

            /// The zone whose days they are.
            public ZoneId zoneOrUtc() {
                return zone == null ? ZoneOffset.UTC : zone;
            }
        }

        /// The greatest multiple of the step that is not above the number.
        record Step(FieldPath field, BigDecimal step) implements Source {}
    }
}
