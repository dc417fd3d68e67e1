package dev.onefold.core.pipeline;

import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The input of a pipeline: the rules that make an event of a record, and that identify an event that came
/// before.
///
/// @param delete the condition on which a record deletes its key; `null`: none
/// @param filter the condition on which a record contributes; any other record contributes nothing, yet
///     replaces
///     its predecessor. `null`: all records contribute
/// @param edition of the rules by which records are read, see [Edition]
/// @param spellings of its values, beside those that every input has
/// @param lets derived fields, each made of fields of the record and of those before it
public record Input(
        Format format,
        Identity identity,
        @Nullable EventTime time,
        @Nullable Condition delete,
        @Nullable Condition filter,
        int edition,
        Spellings spellings,
        List<Let> lets) {
    public Input {
        lets = List.copyOf(lets);
        edition = Edition.of(format, identity, edition);
        if (!comparesTruths(edition, spellings)) {
            delete = delete == null ? null : delete.inTexts();
            filter = filter == null ? null : filter.inTexts();
        }
    }

    /// An input whose values have no spellings of their own, and without derived fields.
    public Input(
            Format format,
            Identity identity,
            @Nullable EventTime time,
            @Nullable Condition delete,
            @Nullable Condition filter,
            int edition) {
        this(format, identity, time, delete, filter, edition, Spellings.NONE, List.of());
    }

    /// An input whose file names no edition.
    public Input(
            Format format,
            Identity identity,
            @Nullable EventTime time,
            @Nullable Condition delete,
            @Nullable Condition filter) {
        this(format, identity, time, delete, filter, Edition.UNSTATED);
    }

    /// The definition of a derived field; `null` if it is a field of the record.
    public @Nullable Let let(FieldPath field) {
        return lets.stream()
                .filter(let -> let.field().equals(field))
                .findFirst()
                .orElse(null);
    }

    /// Whether records are read by the rules of an edition, or of a later one; an input whose edition is not
    /// known yet is read by the newest.
    public boolean readsBy(int since) {
        return edition == Edition.UNSTATED || edition >= since;
    }

    /// Whether a removal is newer than the row of its version: a log of changes reports a removal with the
    /// removed row, so its version is that of the row.
    public boolean isRemovalNewer() {
        return format instanceof Format.Changes
                && identity instanceof Identity.Versioned versioned
                && versioned.version() != null;
    }

    /// Whether `true` and `false` in conditions are truths: before edition 3 they are texts, unless the file
    /// lists further spellings of them.
    boolean comparesTruths() {
        return comparesTruths(edition, spellings);
    }

    private static boolean comparesTruths(int edition, Spellings spellings) {
        return edition == Edition.UNSTATED
                || edition >= Edition.OF_VALUES
                || !spellings.truths.isEmpty()
                || !spellings.falsehoods.isEmpty();
    }

    /// The field of a record that has the event's time.
    public record EventTime(FieldPath field, TimeType type) {}

    /// How a file holds its records of JSON.
    public enum Records {
        /// One in each line.
        LINES,
        /// As the elements of arrays.
        ARRAY,
        /// As objects one after the other, side by side or over several lines.
        OBJECTS;

        /// The word for it in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// How Debezium writes decimals.
    public enum DecimalForm {
        /// As text.
        TEXT,
        /// As bytes in base64.
        PRECISE;

        /// The word for it in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The meaning of a local time at which a zone changes its offset: of the times that it has with the offset
    /// before and with the one after.
    public enum LocalFold {
        EARLIER,
        LATER;

        /// The word for it in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The spellings of values that the file adds.
    ///
    /// @param truths texts that are true in a comparison with `true` or `false`, beside `true`
    /// @param falsehoods texts that are false there, beside `false`
    /// @param normalized whether texts of keys, ids, levels and `distinct` are brought to Unicode's composed
    ///     form
    /// @param zone of times that are written without one; `null`: they are refused
    /// @param fold the meaning of a local time that comes twice, or never; `null`: it is refused
    public record Spellings(
            List<String> truths,
            List<String> falsehoods,
            boolean normalized,
            @Nullable ZoneId zone,
            @Nullable LocalFold fold) {
        /// No spellings.
        public static final Spellings NONE = new Spellings(List.of(), List.of(), false, null, null);

        public Spellings {
            truths = List.copyOf(truths);
            falsehoods = List.copyOf(falsehoods);
        }

        /// Whether all that is read by other spellings is read alike by these.
        public boolean include(Spellings others) {
            return truths.containsAll(others.truths)
                    && falsehoods.containsAll(others.falsehoods)
                    && normalized == others.normalized
                    && (others.zone == null || others.zone.equals(zone))
                    && (others.fold == null || others.fold == fold);
        }
    }

    /// How the bytes of a record are read.
    public sealed interface Format {
        /// One JSON object a record.
        ///
        /// @param unwrap the field that holds the event, as an object or as a text of JSON, and inside of
        ///     it the next such field, and so on; empty if the record is the event
        /// @param records how files hold the records
        record Json(List<FieldPath> unwrap, Records records) implements Format {
            public Json {
                unwrap = List.copyOf(unwrap);
            }

            public Json(List<FieldPath> unwrap) {
                this(unwrap, Records.LINES);
            }

            public Json() {
                this(List.of());
            }
        }

        /// Records of RFC 4180; without columns, the first record of each source names them.
        ///
        /// @param quote around values that hold a delimiter, quote or line end; [#NO_QUOTE] if there is none
        /// @param decimal between the digits before and behind the point: `.` or `,`
        /// @param thousands between groups of three digits; [#NO_THOUSANDS] if there is none
        /// @param nulls values without quotes that are missing, beside the empty one
        /// @param comment at the beginning of a line that is passed over; [#NO_COMMENT] if there are none
        /// @param escape in front of a delimiter, quote, line end or itself, which is a character then;
        ///     [#NO_ESCAPE] if there is none
        /// @param isHeaderOnce whether only the first record of a source is a header, and others that look so
        ///     are records
        record Csv(
                char delimiter,
                List<String> columns,
                char quote,
                char decimal,
                char thousands,
                List<String> nulls,
                char comment,
                char escape,
                boolean isHeaderOnce)
                implements Format {
            public static final char QUOTE = '"';
            public static final char NO_QUOTE = 0;
            public static final char POINT = '.';
            public static final char NO_THOUSANDS = 0;
            public static final char NO_COMMENT = 0;
            public static final char NO_ESCAPE = 0;

            public Csv {
                columns = List.copyOf(columns);
                nulls = List.copyOf(nulls);
            }

            public Csv(char delimiter, List<String> columns) {
                this(delimiter, columns, QUOTE, POINT, NO_THOUSANDS, List.of(), NO_COMMENT, NO_ESCAPE, false);
            }
        }

        /// A record of JSON reports a change of a table's row. Fields are named as in the table; the format
        /// defines where key, place in the change log and removal are.
        sealed interface Changes extends Format {}

        /// Changes of a DynamoDB table: as Lambda and the API of its stream give them, and as its Kinesis
        /// stream does.
        ///
        /// @param table name or ARN of the table; `null` if the pipeline file names none: from edition 3 on, a
        ///     record that does is refused then
        /// @param stream time at which the stream of records that do not name it was switched on, by the
        ///     label in its ARN; `null` if such records are refused
        /// @param keepsExpired whether a row that the table removed by its time to live still counts
        record DynamoDbStream(
                @Nullable String table, @Nullable Instant stream, boolean keepsExpired) implements Changes {}

        /// Changes as Debezium writes them.
        ///
        /// @param tables names of the tables, one at least
        /// @param logs names of the connectors, each with a log that was restarted, the oldest first; none:
        ///     all changes are of one log. Behind a name and `/` may be the number of a server; a log with
        ///     changes of several servers is there several times
        /// @param decimals how decimals are written where a record has no schema; `null` if the pipeline file
        ///     leaves it open
        record Debezium(
                List<TableName> tables,
                List<String> logs,
                @Nullable DecimalForm decimals) implements Changes {
            /// In front of the number of a server, in an entry of the logs.
            public static final char SERVER = '/';

            public Debezium {
                tables = List.copyOf(tables);
                logs = List.copyOf(logs);
            }

            /// The names of the connectors, each once, the oldest first.
            public List<String> logNames() {
                return logs.stream().map(Debezium::logName).distinct().toList();
            }

            /// The name of the connector in an entry of the logs.
            public static String logName(String log) {
                int server = log.indexOf(SERVER);
                return server < 0 ? log : log.substring(0, server);
            }

            /// Whether the names leave a part open, or differ in it, so that rows of several origins may have
            /// equal keys. A pattern of tables alone is of the partitions of one table, which share no key.
            public boolean varies(Function<TableName, String> part, boolean isOfTable) {
                return tables.stream().map(part).distinct().count() > 1
                        || !isOfTable
                                && tables.stream()
                                        .anyMatch(name -> part.apply(name).indexOf(TableName.ANY) >= 0);
            }
        }
    }
}
