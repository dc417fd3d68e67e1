package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Origin.Encoded;
import dev.onefold.core.pipeline.Origin.Encoding;
import dev.onefold.core.pipeline.Origin.Start;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads which log a pipeline reads by itself, and writes it. Not thread-safe.
record OriginReader(Section input, Setting setting) {
    static final String REGISTRY = "registry";
    static final String SCHEMAS = "schemas";
    static final String DESCRIPTORS = "descriptors";
    static final String MESSAGE = "message";
    static final String KEY_FORMAT = "key-format";
    private static final List<String> OF_ENCODING = List.of(REGISTRY, SCHEMAS, DESCRIPTORS, MESSAGE, KEY_FORMAT);
    private static final Pattern ADDRESS = Pattern.compile("https?://[^\\s/?#@]+(?:/[^\\s?#@]*)?");
    private static final Pattern MESSAGE_NAME = Pattern.compile("[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*");
    private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]+");
    private static final Pattern SERVER = Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9a-fA-F:]+\\]):[0-9]{1,5}");

    /// The log that an input names; `null` if it names none, or if something is wrong, which is noted.
    static @Nullable Origin read(Section input) {
        Setting from = input.get("from");
        if (from == null) {
            refuseEncoding(input);
        }
        return from == null ? null : new OriginReader(input, from).read();
    }

    /// Whatever is sent in another way than by a log is text.
    private static void refuseEncoding(Section input) {
        String format = format(input);
        if (encoded(format).isPresent() || format.equals(PipelineReader.DEBEZIUM) && input.has(REGISTRY)) {
            input.refuse(
                    input.has(REGISTRY) ? REGISTRY : "format",
                    "is for records of a topic, and the input has none",
                    "write 'from: {kafka: {topic: …, servers: …}}', or send JSON");
        }
    }

    private static String format(Section input) {
        Setting format = input.get("format");
        return format != null && format.node() instanceof Node.Scalar word ? word.text() : PipelineReader.JSON;
    }

    private static Optional<Encoded> encoded(String word) {
        return Stream.of(Encoded.values())
                .filter(encoded -> encoded.word().equals(word))
                .findFirst();
    }

    private @Nullable Origin read() {
        Section section = Section.of(setting, Section.Kind.FROM);
        if (section == null) {
            return null;
        }
        Setting kafka = section.require("kafka", "write 'kafka: {topic: …, servers: …}'");
        return kafka == null ? null : kafka(kafka);
    }

    private @Nullable Origin kafka(Setting setting) {
        Section section = Section.of(setting, Section.Kind.KAFKA);
        if (section == null) {
            return null;
        }
        section.require("topic", "write the name of the topic");
        section.require("servers", "write where brokers are: \"localhost:9092\"");
        String topic = section.read("topic", OriginReader::topic);
        String name = section.read("name", OriginReader::topic);
        String servers = section.read("servers", OriginReader::servers);
        Start start = section.has("start") ? section.read("start", OriginReader::start) : Start.BEGINNING;
        String properties = section.read("properties", Expression::whole);
        return topic == null || servers == null || start == null
                ? null
                : new Origin.Kafka(
                        topic, Optional.ofNullable(name), servers, start, Optional.ofNullable(properties), encoding());
    }

    private Optional<Encoding> encoding() {
        Optional<Encoded> values = encoded(format(input));
        if (values.isEmpty() && OF_ENCODING.stream().noneMatch(input::has)) {
            return Optional.empty();
        }
        boolean hasFiles = input.has(SCHEMAS) || input.has(DESCRIPTORS) || input.has(MESSAGE);
        if (input.has(REGISTRY) && hasFiles) {
            input.refuse(REGISTRY, "is there beside files with schemas", "write the one or the others");
        } else if (values.equals(Optional.of(Encoded.AVRO)) && !input.has(REGISTRY) && !hasFiles) {
            input.refuse("format", "needs schemas", "write 'registry: http://…', or 'schemas: FOLDER'");
        } else if (values.equals(Optional.of(Encoded.PROTOBUF))
                && !input.has(REGISTRY)
                && !(input.has(DESCRIPTORS) && input.has(MESSAGE))) {
            input.refuse(
                    "format",
                    "needs schemas",
                    "write 'registry: http://…', or 'descriptors: FILE' with 'message: NAME' for a file of protoc"
                            + " --include_imports --descriptor_set_out");
        }
        if (input.has(KEY_FORMAT) && !input.has(REGISTRY)) {
            input.refuse(KEY_FORMAT, "needs the registry of the keys' schemas", "write 'registry: http://…'");
        }
        return Optional.of(new Encoding(
                values,
                Optional.ofNullable(input.read(REGISTRY, OriginReader::address)),
                Optional.ofNullable(input.read(SCHEMAS, Expression::whole)),
                Optional.ofNullable(input.read(DESCRIPTORS, Expression::whole)),
                Optional.ofNullable(input.read(MESSAGE, OriginReader::message)),
                Optional.ofNullable(input.read(KEY_FORMAT, OriginReader::keyFormat))));
    }

    private static String address(Expression expression) {
        String text = expression.whole();
        if (!ADDRESS.matcher(text).matches()) {
            throw expression.refuseFrom(
                    0,
                    "is not the address of a registry",
                    "write http://HOST:PORT or https://HOST, and its password in the file of properties");
        }
        return text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
    }

    private static String message(Expression expression) {
        String text = expression.whole();
        if (!MESSAGE_NAME.matcher(text).matches()) {
            throw expression.refuseFrom(0, "is not the name of a message", "write it with its package: shop.Order");
        }
        return text;
    }

    private static Encoded keyFormat(Expression expression) {
        String word = expression.whole();
        List<String> words = Stream.of(Encoded.values()).map(Encoded::word).toList();
        return encoded(word)
                .orElseThrow(
                        () -> expression.refuseFrom(0, "is not a format of keys", NearestWord.advice(word, words)));
    }

    /// Adds the settings of the records' encoding to those of the input.
    static void putEncoding(Origin origin, Map<String, Object> input) {
        if (origin instanceof Origin.Kafka kafka && kafka.encoding().isPresent()) {
            Encoding encoding = kafka.encoding().get();
            encoding.values().ifPresent(values -> input.put("format", values.word()));
            encoding.registry().ifPresent(address -> input.put(REGISTRY, address));
            encoding.schemas().ifPresent(folder -> input.put(SCHEMAS, folder));
            encoding.descriptors().ifPresent(file -> input.put(DESCRIPTORS, file));
            encoding.message().ifPresent(name -> input.put(MESSAGE, name));
            encoding.keys().ifPresent(keys -> input.put(KEY_FORMAT, keys.word()));
        }
    }

    static String topic(Expression expression) {
        String text = expression.whole();
        boolean isName = TOPIC.matcher(text).matches() && !text.equals(".") && !text.equals("..");
        if (!isName || text.length() > Origin.Kafka.TOPIC_LENGTH_MAX) {
            throw expression.refuseFrom(
                    0,
                    "is not the name of a topic",
                    "write letters a-z and A-Z, digits, '.', '_' and '-', at most " + Origin.Kafka.TOPIC_LENGTH_MAX);
        }
        return text;
    }

    static String servers(Expression expression) {
        String text = expression.whole();
        for (String server : text.split(",", -1)) {
            if (!SERVER.matcher(server.strip()).matches()) {
                throw expression.refuseFrom(
                        0,
                        "has '" + server.strip() + "', which is not a host with a port",
                        "write one or several: \"kafka-1:9092,kafka-2:9092\"");
            }
        }
        return text;
    }

    private static Start start(Expression expression) {
        String text = expression.whole();
        return switch (text) {
            case "beginning" -> Start.BEGINNING;
            case "end" -> Start.END;
            default -> {
                try {
                    yield new Start(Start.Kind.TIME, Instant.parse(text));
                } catch (DateTimeException e) {
                    throw expression.refuseFrom(
                            0,
                            "does not say where the topic is read from at first",
                            "write beginning, end, or a time such as 2026-11-01T00:00:00Z");
                }
            }
        };
    }

    /// Refuses an id of an offset without its partition: each partition has every offset.
    static void requirePartition(Section input, Identity.ById id) {
        List<String> fields =
                id.parts().stream().map(part -> part.field().names().getFirst()).toList();
        if (fields.contains("@offset") && !fields.contains("@partition")) {
            input.refuse("id", "is an offset, which each partition has", "write [\"@partition\", \"@offset\"]");
        }
    }

    /// As it is written in a pipeline file.
    static Map<String, Object> text(Origin origin) {
        Map<String, Object> section = new LinkedHashMap<>();
        switch (origin) {
            case Origin.Kafka kafka -> {
                Map<String, Object> settings = new LinkedHashMap<>();
                settings.put("topic", kafka.topic());
                kafka.name().ifPresent(name -> settings.put("name", name));
                settings.put("servers", kafka.servers());
                if (!kafka.start().equals(Start.BEGINNING)) {
                    settings.put("start", text(kafka.start()));
                }
                kafka.properties().ifPresent(file -> settings.put("properties", file));
                section.put("kafka", settings);
            }
        }
        return section;
    }

    private static String text(Start start) {
        return start.time() == null
                ? start.kind().name().toLowerCase(Locale.ROOT)
                : start.time().toString();
    }
}
