package dev.onefold.core.pipeline;

import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The input of a pipeline: the rules that make an event of a record, and that identify an event that came
/// before.
///
/// @param delete the condition on which a record deletes its key; `null`: none
/// @param filter the condition on which a record contributes; any other record contributes nothing, yet replaces
///     its predecessor. `null`: all records contribute
/// @param edition of the rules by which records are read, see [Edition]
public record Input(
        Format format,
        Identity identity,
        @Nullable EventTime time,
        @Nullable Condition delete,
        @Nullable Condition filter,
        int edition) {
    public Input {
        edition = Edition.of(format, identity, edition);
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

    /// The field of a record that has the event's time.
    public record EventTime(FieldPath field, TimeType type) {}

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

    /// How the bytes of a record are read.
    public sealed interface Format {
        /// One JSON object a record.
        ///
        /// @param unwrap the field that holds the event, as an object or as a text of JSON, and inside of
        ///     it the next such field, and so on; empty if the record is the event
        record Json(List<FieldPath> unwrap) implements Format {
            public Json {
                unwrap = List.copyOf(unwrap);
            }

            public Json() {
                this(List.of());
            }
        }

        /// One RFC 4180 line a record; without columns, the first line of each source names them.
        record Csv(char delimiter, List<String> columns) implements Format {
            public Csv {
                columns = List.copyOf(columns);
            }
        }

        /// A record of JSON reports a change of a table's row. Fields are named as in the table; the format
        /// defines where key, place in the change log and removal are.
        sealed interface Changes extends Format {}

        /// Changes of a DynamoDB table: as Lambda and the API of its stream give them, and as its Kinesis stream does.
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
        ///     all changes are of one log
        /// @param decimals how decimals are written where a record has no schema; `null` if the pipeline file
        ///     leaves it open
        record Debezium(
                List<TableName> tables,
                List<String> logs,
                @Nullable DecimalForm decimals) implements Changes {
            public Debezium {
                tables = List.copyOf(tables);
                logs = List.copyOf(logs);
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
