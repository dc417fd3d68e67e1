package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// Every distinct record goes into exactly one sealed batch, which is delivered until it is done.
///
/// @param size records of a full batch; 1 to [#SIZE_MAX]
/// @param direct whether a record is handed over by the invocation that takes it, where records are taken by
///     functions
/// @param bytes of a batch's content before compression, at most; [#BYTES_MIN] to [#BYTES_MAX]
/// @param waitMax from the arrival of a batch's first record until it is sealed, full or not
/// @param bisect whether a batch whose content is refused is halved until the poison record is alone
/// @param key parts of the key, if the order is by key; else empty
/// @param concurrency batches that are delivered at the same time; 1 if the order is strict
/// @param compare fields by which two records with one id are compared; empty: they are not; `null`: by all
///     bytes
public record Batching(
        int size,
        boolean direct,
        long bytes,
        Duration waitMax,
        Destination deliver,
        Receiver receiver,
        boolean bisect,
        Order order,
        List<Identity.Part> key,
        int concurrency,
        Retry retry,
        Forget forget,
        @Nullable List<FieldPath> compare)
        implements Fold {
    public static final int SIZE_MAX = 1_000_000;

    /// The same with an order by key, because the keys of batches that wait are in memory.
    public static final int KEYED_SIZE_MAX = 10_000;

    public static final long BYTES_MIN = 1_000;
    public static final long BYTES_MAX = 1_000_000_000;
    public static final long BYTES_DEFAULT = 200_000_000;
    public static final Duration WAIT_DEFAULT = Duration.ofMinutes(5);
    public static final int CONCURRENCY_DEFAULT = 4;
    public static final int CONCURRENCY_MAX = 1_000;
    public static final Retry RETRY_DEFAULT =
            new Retry(List.of(Duration.ofMinutes(1), Duration.ofMinutes(10), Duration.ofHours(1)), Duration.ofDays(3));

    public Batching {
        key = List.copyOf(key);
        compare = compare == null ? null : List.copyOf(compare);
    }

    /// One that is not direct, with an order that has no key.
    public Batching(
            int size,
            long bytes,
            Duration waitMax,
            Destination deliver,
            Receiver receiver,
            boolean bisect,
            Order order,
            int concurrency,
            Retry retry,
            Forget forget,
            @Nullable List<FieldPath> compare) {
        this(
                size,
                false,
                bytes,
                waitMax,
                deliver,
                receiver,
                bisect,
                order,
                List.of(),
                concurrency,
                retry,
                forget,
                compare);
    }

    /// The fields by which two records with one id are compared; empty if all bytes are compared, or nothing.
    public List<FieldPath> compared() {
        return compare == null ? List.of() : compare;
    }

    /// The destination of batches.
    ///
    /// @param target a path, an address or a name; of a command its words
    /// @param options of the kind, by name, as they are written in the pipeline file
    public record Destination(Kind kind, List<String> target, SortedMap<String, String> options) {
        /// The part of a target that the number of a batch replaces.
        public static final String NUMBER = "{number}";

        public Destination {
            target = List.copyOf(target);
            options = Collections.unmodifiableSortedMap(new TreeMap<>(options));
        }

        /// An option as it is written.
        public Optional<String> option(String name) {
            return Optional.ofNullable(options.get(name));
        }

        /// An option that is a time span.
        public Optional<Duration> span(String name) {
            return option(name).map(text -> {
                long number = Long.parseLong(text.substring(0, text.length() - 1));
                return switch (text.charAt(text.length() - 1)) {
                    case 'd' -> Duration.ofDays(number);
                    case 'h' -> Duration.ofHours(number);
                    case 'm' -> Duration.ofMinutes(number);
                    default -> Duration.ofSeconds(number);
                };
            });
        }

        /// Whether each batch has a manifest beside its content.
        public boolean hasManifest() {
            return option("manifest").filter("true"::equals).isPresent();
        }

        /// How the content is compressed, by the end of the target's name.
        public Compression compression() {
            String name = kind.isNamed() ? target.getFirst() : "";
            return name.endsWith(".gz")
                    ? Compression.GZIP
                    : name.endsWith(".zst") ? Compression.ZSTD : Compression.NONE;
        }
    }

    /// The kinds of receivers.
    public enum Kind {
        /// A file, by its path.
        FILE,
        /// An object, by its address `s3://bucket/key`.
        S3,
        /// A file on an SFTP server, by its address `sftp://user@host:port/path`.
        SFTP,
        /// A request to an address.
        HTTP,
        /// A command with the content on its standard input.
        COMMAND,
        /// Rows of a table in a database, by its JDBC address.
        JDBC,
        /// A topic of Kafka.
        KAFKA,
        /// A Lambda function, by its name.
        LAMBDA,
        /// A class in Java that implements `dev.onefold.batch.BatchHandler`.
        JAVA;

        /// As it is written in a pipeline file.
        public String word() {
            return this == JAVA ? "class" : name().toLowerCase(Locale.ROOT);
        }

        /// Whether each batch has a name of its own, under which a second try finds the first one.
        public boolean isNamed() {
            return this == FILE || this == S3 || this == SFTP;
        }

        /// Whether a batch and its number are written there in one transaction.
        public boolean isTransactional() {
            return this == JDBC || this == KAFKA;
        }
    }

    /// How the content of a batch is compressed.
    public enum Compression {
        NONE,
        GZIP,
        ZSTD
    }

    /// The kind of a receiver, by its treatment of a repeated batch.
    public enum Receiver {
        /// A batch that comes again has no second effect.
        IDEMPOTENT,
        /// The effect and the batch's number are written in one transaction.
        TRANSACTIONAL,
        /// Neither: a delivery whose end is unknown waits for a person.
        ONCE;

        /// As it is written in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The order in which batches are delivered.
    public enum Order {
        /// Each batch waits until the one before it is done, or a person has decided on it.
        STRICT,
        /// Several at a time, and a batch that fails does not hold up the next ones.
        ANY,
        /// Several at a time. Each waits until no earlier one is left that has a record of one of its keys.
        KEY;

        /// As it is written in a pipeline file.
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The times at which a failed delivery is tried again.
    ///
    /// @param delays before the second try, the third and so on; the last one repeats; empty: no second try
    /// @param limit from the first try on; after it a batch is put aside
    public record Retry(List<Duration> delays, Duration limit) {
        public static final int DELAYS_MAX = 32;

        public Retry {
            delays = List.copyOf(delays);
        }
    }

    /// The time after which an id may come again.
    public sealed interface Forget {
        /// The least time: producers that retry, queues and streams may send a record again this late.
        Duration TIME_MIN = Duration.ofDays(1);

        /// Never: an id is in one batch for ever.
        record Never() implements Forget {}

        /// As soon as its batch is delivered.
        record AfterDelivery() implements Forget {}

        /// This long after the id's record arrived.
        record After(Duration time) implements Forget {}
    }

    /// Whether the receiver may get any batch a second time, whole, at any later time.
    public boolean bearsEverySecondDelivery() {
        return receiver != Receiver.ONCE && !bisect && deliver.span("remembers").isEmpty();
    }

    /// Bytes that a record takes in a batch: its own, and a line end.
    public static long lineBytes(int recordBytes) {
        return recordBytes + 1L;
    }

    /// The kind of this word.
    public static Optional<Kind> kind(String word) {
        return Arrays.stream(Kind.values())
                .filter(kind -> kind.word().equals(word))
                .findFirst();
    }

    /// The same, with fixed values for settings that do not affect stored data: these may change between two
    /// runs.
    @Override
    public Batching stored() {
        return new Batching(
                1,
                BYTES_DEFAULT,
                WAIT_DEFAULT,
                new Destination(Kind.COMMAND, List.of(""), new TreeMap<>()),
                Receiver.IDEMPOTENT,
                false,
                Order.ANY,
                1,
                RETRY_DEFAULT,
                forget,
                compare);
    }
}
