package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Batching.Order;
import dev.onefold.core.pipeline.Batching.Receiver;
import dev.onefold.core.pipeline.Batching.Retry;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Input.Format;
import dev.onefold.core.pipeline.Let;
import dev.onefold.core.pipeline.Limits;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads the section `batch` of a pipeline file, and writes it. Not thread-safe.
final class BatchReader {
    private static final String NEVER = "never";
    private static final String AFTER_DELIVERY = "after-delivery";
    private static final String NONE = "none";
    private static final List<String> ORDERS =
            Stream.of(Order.values()).map(Order::word).toList();
    private static final List<String> RECEIVERS =
            Stream.of(Receiver.values()).map(Receiver::word).toList();

    private static final String OR_NOT = ", or leave direct out";

    /// Settings beside `direct`, as far as they are right.
    private record Settings(
            @Nullable Integer size,
            @Nullable Destination deliver,
            @Nullable Order order,
            Forget forget,
            boolean bisect) {}

    private final Section file;
    private final @Nullable Input input;
    private final @Nullable Setting key;
    private final FieldGrammar fields;

    /// @param input `null` if it is wrong itself
    /// @param key by which batches wait for each other; `null` if there is none
    BatchReader(Section file, @Nullable Input input, @Nullable Setting key, FieldGrammar fields) {
        this.file = file;
        this.input = input;
        this.key = key;
        this.fields = fields;
    }

    /// Reads the section; if something is wrong, notes it and returns `null`.
    @Nullable
    Batching read(Setting setting) {
        Section section = Section.of(setting, Section.Kind.BATCH);
        if (section == null) {
            return null;
        }
        refuseInput();
        section.require("size", "write how many records make a full batch, 1 to " + Batching.SIZE_MAX);
        Integer size = section.read("size", text -> Numbers.integer(text, 1, Batching.SIZE_MAX));
        Long bytes = section.read("bytes", text -> Numbers.bytes(text, Batching.BYTES_MIN, Batching.BYTES_MAX));
        Duration wait = section.read("wait", BatchReader::span);
        Setting delivery =
                section.require("deliver", "write where batches go: 'deliver: {file: \"out/{number}.ndjson\"}'");
        Destination deliver = delivery == null ? null : new DestinationReader(delivery).read();
        if (input != null && deliver != null) {
            refuseDerived(section, input.lets(), deliver.option("insert").orElse(""));
        }
        Receiver receiver = receiver(section, deliver);
        Boolean bisect = section.read("bisect", DestinationReader::truth);
        if (Boolean.TRUE.equals(bisect) && receiver != null && receiver != Receiver.IDEMPOTENT) {
            section.refuse("bisect", "needs a receiver that is idempotent", "leave it out");
        }
        Order order = section.read("order", BatchReader::order);
        List<Identity.Part> parts = key(section, order, size);
        Integer concurrency = section.read("concurrency", text -> Numbers.integer(text, 1, Batching.CONCURRENCY_MAX));
        refuseOrder(section, deliver, order, concurrency);
        Retry retry =
                section.has("retry") ? retry(Objects.requireNonNull(section.get("retry"))) : Batching.RETRY_DEFAULT;
        Forget forget = forget(section);
        List<FieldPath> compare = compare(section);
        boolean isDirect = Boolean.TRUE.equals(section.read("direct", DestinationReader::truth));
        if (isDirect) {
            refuseDirect(section, new Settings(size, deliver, order, forget, Boolean.TRUE.equals(bisect)));
        }
        if (size == null || deliver == null || receiver == null || retry == null) {
            return null;
        }
        Order found = order == null ? Order.ANY : order;
        return new Batching(
                size,
                isDirect,
                bytes == null ? Batching.BYTES_DEFAULT : bytes,
                wait == null ? Batching.WAIT_DEFAULT : wait,
                deliver,
                receiver,
                bisect != null && bisect,
                found,
                parts,
                found == Order.STRICT ? 1 : concurrency == null ? Batching.CONCURRENCY_DEFAULT : concurrency,
                retry,
                forget,
                compare);
    }

    private static void refuseOrder(
            Section section, @Nullable Destination deliver, @Nullable Order order, @Nullable Integer concurrency) {
        if (deliver != null && deliver.kind() == Kind.KAFKA && order != Order.STRICT) {
            section.refuse("order", "is not strict, and a topic takes one batch at a time", "write 'order: strict'");
        }
        if (order == Order.STRICT && concurrency != null && concurrency > 1) {
            section.refuse(
                    "concurrency", "is not for order: strict, which delivers one batch at a time", "leave it out");
        }
    }

    /// The parts of the key, which is there with an order by key, and with no other one.
    private List<Identity.Part> key(Section section, @Nullable Order order, @Nullable Integer size) {
        if (order != Order.KEY) {
            if (key != null) {
                key.refuse(
                        "", "is for batches in the order of keys", "write 'order: key' under batch, or leave key out");
            }
            return List.of();
        }
        if (key == null) {
            section.refuse("order", "needs the key of a record", "write 'key: FIELD' under input");
        }
        if (size != null && size > Batching.KEYED_SIZE_MAX) {
            section.refuse(
                    "size",
                    "is more than " + Batching.KEYED_SIZE_MAX + ", and the keys of batches that wait are in memory",
                    "write a smaller size; with 'size: 1' a record that fails holds up its own key alone");
        }
        return new ValuesReader(fields).parts(key);
    }

    /// Refuses beside `direct` each setting that needs what a record that is handed over at once has not: a
    /// neighbour in its batch, a number, a place in an order, a batch that tells when its id is forgotten.
    private static void refuseDirect(Section section, Settings with) {
        if (with.size != null && with.size > 1) {
            section.refuse(
                    "direct", "is for batches of one record, and size is " + with.size, "write 'size: 1'" + OR_NOT);
        }
        if (with.deliver != null && with.deliver.kind().isNamed()) {
            section.refuse(
                    "direct",
                    "is not for " + with.deliver.kind().word()
                            + ", which names each content by the number of its batch",
                    "deliver to http, lambda, jdbc or class" + OR_NOT);
        }
        if (with.order != null && with.order != Order.ANY) {
            section.refuse(
                    "direct",
                    "is not for order: " + with.order.word()
                            + ": a record that is handed over at once waits for no other",
                    "leave order out" + OR_NOT);
        }
        if (!(with.forget instanceof Forget.Never)) {
            section.refuse(
                    "direct",
                    "is not for a pipeline that forgets ids: the receiver knows a record by its id, and would take one"
                            + " that comes again later for a retry",
                    "leave forget out" + OR_NOT);
        }
        if (with.bisect) {
            section.refuse(
                    "direct", "is not for bisect: true, because one record has no halves", "leave bisect out" + OR_NOT);
        }
    }

    private void refuseInput() {
        for (String other : List.of("process", "rollup", "rollups")) {
            if (file.has(other)) {
                file.refuse(other, "stands beside batch", "leave out one of them: a pipeline has one fold");
            }
        }
        if (input == null) {
            return;
        }
        if (input.format() instanceof Format.Json json && !json.unwrap().isEmpty()) {
            file.refuse(
                    "batch",
                    "delivers records as they are, and input.unwrap takes the event out of them",
                    "leave unwrap out, and name fields by their paths in the record");
        }
        if (input.format() instanceof Format.Csv csv && csv.comment() != Format.Csv.NO_COMMENT) {
            file.refuse(
                    "batch",
                    "delivers records as they are, and a record has the comments in front of it",
                    "leave comment out");
        }
        if (input.format() instanceof Format.Changes) {
            file.refuse(
                    "input",
                    "has the changes of a table, each of which is a version of its row, and a sealed batch cannot be"
                            + " replaced by a higher one",
                    "write 'format: json', and as id what names a change, such as its key and its place in the log");
        } else if (input.identity() instanceof Identity.Versioned) {
            file.refuse(
                    "input",
                    "has a version, and a sealed batch cannot be replaced by a higher one",
                    "write id: [KEY, VERSION] in place of key and version");
        }
        if (input.identity() instanceof Identity.ById byId && byId.horizon() != null) {
            file.refuse("input", "has a horizon", "write 'forget: 30d' under batch in its place");
        }
        if (input.format() instanceof Format.Csv csv && csv.columns().isEmpty()) {
            file.refuse(
                    "input",
                    "has csv without columns: a batch of several files would have lines under several headers",
                    "name the columns, as the files have them without a header line");
        }
    }

    /// A statement takes its values from the records, which have no derived fields.
    private static void refuseDerived(Section section, List<Let> lets, String insert) {
        lets.stream()
                .map(let -> let.field().toString())
                .filter(name -> Pattern.compile(":" + name + "(?![\\p{L}\\p{N}_])")
                        .matcher(insert)
                        .find())
                .forEach(name -> section.refuse(
                        "deliver",
                        "inserts " + name + ", which is derived, and a batch has the records as they are",
                        "name fields of the record, and compute in the statement: 'values (lower(:email))'"));
    }

    private static Duration span(Expression expression) {
        Duration span = expression.duration(Limits.DURATION_DAYS_MAX);
        expression.end("write one number and one unit, like 5m");
        return span;
    }

    private static Order order(Expression expression) {
        String word = word(expression, ORDERS, "is not an order of deliveries");
        return Stream.of(Order.values())
                .filter(order -> order.word().equals(word))
                .findFirst()
                .orElseThrow();
    }

    private static String word(Expression expression, List<String> words, String wrong) {
        String word = expression.whole();
        if (!words.contains(word)) {
            throw expression.refuseFrom(0, wrong, NearestWord.advice(word, words));
        }
        return word;
    }

    private static @Nullable Receiver receiver(Section section, @Nullable Destination deliver) {
        Receiver said = section.read("receiver", expression -> {
            String word = word(expression, RECEIVERS, "is not a kind of receiver");
            return Stream.of(Receiver.values())
                    .filter(each -> each.word().equals(word))
                    .findFirst()
                    .orElseThrow();
        });
        if (deliver == null) {
            return said;
        }
        Kind kind = deliver.kind();
        Receiver own = kind.isNamed() ? Receiver.IDEMPOTENT : kind.isTransactional() ? Receiver.TRANSACTIONAL : null;
        if (own != null && said != null && said != own) {
            section.refuse(
                    "receiver", "is not possible with " + kind.word() + ", which is " + own.word(), "leave it out");
        } else if (said == Receiver.TRANSACTIONAL && own == null) {
            section.refuse(
                    "receiver",
                    "is not possible with " + kind.word()
                            + ": only jdbc and kafka write effect and number in one transaction",
                    "write idempotent or once");
        } else if (own == null && !section.has("receiver")) {
            section.refuse(
                    "receiver",
                    "is not set",
                    "write idempotent if a batch that comes again has no second effect, else once");
        }
        return own == null ? said : own;
    }

    private static @Nullable Retry retry(Setting setting) {
        if (setting.node() instanceof Node.Scalar scalar && scalar.text().equals(NONE)) {
            return new Retry(List.of(), Batching.RETRY_DEFAULT.limit());
        }
        Section section = Section.of(setting, Section.Kind.RETRY);
        if (section == null) {
            return null;
        }
        List<Duration> delays = Batching.RETRY_DEFAULT.delays();
        Setting list = section.get("delays");
        if (list != null) {
            delays = list.node() instanceof Node.Scalar
                    ? Stream.ofNullable(list.read(BatchReader::span)).toList()
                    : list.items().stream()
                            .map(item -> item.read(BatchReader::span))
                            .filter(Objects::nonNull)
                            .toList();
            list.refuseMoreThan(Retry.DELAYS_MAX, delays.size());
            if (delays.isEmpty()) {
                list.refuseKind("a list of time spans: [1m, 10m, 1h]; or 'retry: none'");
            }
        }
        Duration limit = section.read("for", BatchReader::span);
        return new Retry(delays, limit == null ? Batching.RETRY_DEFAULT.limit() : limit);
    }

    private static Forget forget(Section section) {
        Forget forget = section.read("forget", BatchReader::forget);
        if (forget instanceof Forget.After(Duration time) && time.compareTo(Forget.TIME_MIN) < 0) {
            section.refuse(
                    "forget",
                    "is less than a day: a producer, a queue or a stream may give a record again that long",
                    "write 1d or more, and more than the input's retention and its producers' retries");
            return new Forget.Never();
        }
        return forget == null ? new Forget.Never() : forget;
    }

    private static Forget forget(Expression expression) {
        int start = expression.offset();
        String word = expression.whole();
        if (word.equals(NEVER)) {
            return new Forget.Never();
        }
        if (word.equals(AFTER_DELIVERY)) {
            return new Forget.AfterDelivery();
        }
        if (!word.isEmpty() && !Character.isDigit(word.charAt(0))) {
            String right = NearestWord.nearest(word, List.of(NEVER, AFTER_DELIVERY))
                    .map(near -> "did you mean '" + near + "'?")
                    .orElse("write never, after-delivery, or a time from 1d on, like 30d");
            throw expression.refuseFrom(0, "is not a time", right);
        }
        expression.back(start);
        return new Forget.After(span(expression));
    }

    private @Nullable List<FieldPath> compare(Section section) {
        Setting setting = section.get("compare");
        if (setting == null) {
            return null;
        }
        if (setting.node() instanceof Node.Scalar scalar && scalar.text().equals(NONE)) {
            return List.of();
        }
        List<FieldPath> paths = setting.node() instanceof Node.Scalar
                ? Stream.ofNullable(setting.read(fields::alone)).toList()
                : setting.distinct(fields::alone, "name it once");
        if (paths.isEmpty()) {
            setting.refuseKind("the fields that tell two records with one id apart, or none");
        }
        setting.refuseMoreThan(Limits.KEY_FIELDS_MAX, paths.size());
        return paths;
    }

    /// The section as it is written, without settings that have their defaults.
    static Map<String, Object> text(Batching batching) {
        Map<String, Object> section = new LinkedHashMap<>();
        section.put("size", batching.size());
        put(section, "direct", batching.direct(), false, Function.identity());
        put(section, "bytes", batching.bytes(), Batching.BYTES_DEFAULT, Function.identity());
        put(section, "wait", batching.waitMax(), Batching.WAIT_DEFAULT, PipelineText::of);
        section.put("deliver", DestinationReader.text(batching.deliver()));
        if (!batching.deliver().kind().isNamed() && !batching.deliver().kind().isTransactional()) {
            section.put("receiver", batching.receiver().word());
        }
        put(section, "bisect", batching.bisect(), false, Function.identity());
        put(section, "order", batching.order(), Order.ANY, Order::word);
        if (batching.order() != Order.STRICT) {
            put(section, "concurrency", batching.concurrency(), Batching.CONCURRENCY_DEFAULT, Function.identity());
        }
        put(section, "retry", batching.retry(), Batching.RETRY_DEFAULT, BatchReader::text);
        put(section, "forget", batching.forget(), new Forget.Never(), forget -> switch (forget) {
            case Forget.Never _ -> NEVER;
            case Forget.AfterDelivery _ -> AFTER_DELIVERY;
            case Forget.After(Duration time) -> PipelineText.of(time);
        });
        List<FieldPath> compare = batching.compare();
        if (compare != null) {
            section.put("compare", compare.isEmpty() ? NONE : compare);
        }
        return section;
    }

    private static Object text(Retry retry) {
        if (retry.delays().isEmpty()) {
            return NONE;
        }
        Map<String, Object> section = new LinkedHashMap<>();
        section.put("delays", retry.delays().stream().map(PipelineText::of).toList());
        section.put("for", PipelineText.of(retry.limit()));
        return section;
    }

    private static <T> void put(Map<String, Object> section, String name, T value, T usual, Function<T, Object> text) {
        if (!value.equals(usual)) {
            section.put(name, text.apply(value));
        }
    }
}
