package dev.onefold.core.pipeline;

import java.time.Instant;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The log that a pipeline reads by itself, beside what is sent to it. It decides nothing about what is stored:
/// a log is known by its identity, which is in the position.
public sealed interface Origin {
    /// In front of the names of fields that the log has beside a record: `@key`.
    char FIELD = '@';

    /// A topic of Kafka.
    ///
    /// @param servers hosts and ports, separated by commas
    /// @param start of a partition that was never read
    /// @param name of the log in positions, if it is not the topic's: for a topic that was recreated
    /// @param properties file with further properties of Kafka's client, relative to the pipeline file
    /// @param encoding of its records; empty if they are text
    record Kafka(
            String topic,
            Optional<String> name,
            String servers,
            Start start,
            Optional<String> properties,
            Optional<Encoding> encoding)
            implements Origin {
        public static final int TOPIC_LENGTH_MAX = 249;

        /// A topic whose records are text.
        public Kafka(String topic, Optional<String> name, String servers, Start start, Optional<String> properties) {
            this(topic, name, servers, start, properties, Optional.empty());
        }

        /// The name of the log in positions.
        public String log() {
            return name.orElse(topic);
        }
    }

    /// How records are encoded that a reader of a log decodes to JSON.
    ///
    /// @param values the format of values; empty if the registry names it with each schema
    /// @param registry address of the registry of schemas
    /// @param schemas folder with schemas of Avro, relative to the pipeline file
    /// @param descriptors file with descriptors of Protobuf, relative to the pipeline file
    /// @param message full name of the message in that file which a value is
    /// @param keys the format of keys; empty if they are text
    record Encoding(
            Optional<Encoded> values,
            Optional<String> registry,
            Optional<String> schemas,
            Optional<String> descriptors,
            Optional<String> message,
            Optional<Encoded> keys) {}

    /// An encoding of records.
    enum Encoded {
        AVRO,
        PROTOBUF,
        JSON_SCHEMA;

        /// The word for it in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /// Where a log is read from at first.
    ///
    /// @param time of the first record that is read; `null` unless it is a time
    record Start(Kind kind, @Nullable Instant time) {
        public static final Start BEGINNING = new Start(Kind.BEGINNING, null);
        public static final Start END = new Start(Kind.END, null);

        public Start {
            if ((time == null) == (kind == Kind.TIME)) {
                throw new IllegalArgumentException("A start at " + kind + " with the time " + time);
            }
        }

        /// A place in a log.
        public enum Kind {
            BEGINNING,
            END,
            TIME
        }
    }

    /// Whether a field is one that the log has beside a record.
    static boolean isBeside(FieldPath field) {
        return field.names().getFirst().charAt(0) == FIELD;
    }
}
