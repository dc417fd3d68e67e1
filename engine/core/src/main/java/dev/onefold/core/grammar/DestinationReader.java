package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Limits;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Reads where batches are delivered, and writes it. Not thread-safe.
final class DestinationReader {
    private static final List<String> TRUTHS = List.of("true", "false");
    private static final int WORDS_MAX = 64;

    private final Setting setting;

    DestinationReader(Setting setting) {
        this.setting = setting;
    }

    /// The options that a kind may have.
    static List<String> options(Kind kind) {
        return switch (kind) {
            case FILE -> List.of("manifest");
            case S3 -> List.of("manifest", "region", "endpoint");
            case SFTP -> List.of("manifest", "identity", "known-hosts", "password");
            case HTTP -> List.of("remembers", "timeout", "authorization");
            case COMMAND, LAMBDA -> List.of("timeout");
            case JDBC -> List.of("insert", "user", "password");
            case JAVA -> List.of("jar", "timeout");
            case KAFKA -> List.of();
        };
    }

    /// Reads the destination; if something is wrong, notes it and returns `null`.
    @Nullable
    Destination read() {
        Section section = Section.of(setting, Section.Kind.DELIVER);
        if (section == null) {
            return null;
        }
        List<Kind> kinds = Stream.of(Kind.values())
                .filter(kind -> section.has(kind.word()))
                .toList();
        if (kinds.size() != 1) {
            List<String> words = Stream.of(Kind.values()).map(Kind::word).toList();
            setting.refuse(
                    "",
                    kinds.isEmpty() ? "names no receiver" : "names " + kinds.size() + " receivers",
                    "write one of " + NearestWord.oneOf(words));
            return null;
        }
        Kind kind = kinds.getFirst();
        Setting target = Objects.requireNonNull(section.get(kind.word()));
        SortedMap<String, String> options = new TreeMap<>();
        List<String> words = kind == Kind.KAFKA ? topic(target, options) : target(kind, target);
        for (String name : Section.Kind.DELIVER.names()) {
            boolean isKind = Batching.kind(name).isPresent();
            if (!isKind && section.has(name) && !options(kind).contains(name)) {
                section.refuse(
                        name,
                        "is not for " + kind.word(),
                        options(kind).isEmpty() ? "leave it out" : "possible are " + String.join(", ", options(kind)));
            } else if (!isKind) {
                String value = section.read(name, expression -> option(name, expression));
                if (value != null) {
                    options.put(name, value);
                }
            }
        }
        if (kind == Kind.JDBC) {
            section.require("insert", "write the statement of one record: 'insert into t (id) values (:id)'");
        }
        return words.isEmpty() ? null : new Destination(kind, words, options);
    }

    /// A topic with its brokers, which are a section of their own.
    ///
    /// @param options gets them
    private static List<String> topic(Setting target, SortedMap<String, String> options) {
        Section section = Section.of(target, Section.Kind.TOPIC);
        if (section == null) {
            return List.of();
        }
        section.require("topic", "write the name of the topic");
        section.require("servers", "write where brokers are: \"localhost:9092\"");
        String topic = section.read("topic", OriginReader::topic);
        put(options, "servers", section.read("servers", OriginReader::servers));
        put(options, "properties", section.read("properties", Expression::whole));
        return topic == null || !options.containsKey("servers") ? List.of() : List.of(topic);
    }

    private static void put(SortedMap<String, String> options, String name, @Nullable String value) {
        if (value != null) {
            options.put(name, value);
        }
    }

    private static List<String> target(Kind kind, Setting target) {
        if (kind == Kind.COMMAND && target.node() instanceof Node.Sequence) {
            target.refuseMoreThan(WORDS_MAX, target.items().size());
            List<String> words = target.items().stream()
                    .map(item -> item.read(Expression::whole))
                    .filter(Objects::nonNull)
                    .toList();
            if (words.isEmpty()) {
                target.refuseKind("the command and its arguments: [load, --from, nightly]");
            }
            return words;
        }
        return Stream.ofNullable(target.read(expression -> target(kind, expression)))
                .toList();
    }

    private static String target(Kind kind, Expression expression) {
        String text = expression.whole();
        String wrong = wrong(kind, text);
        if (wrong != null) {
            throw expression.refuseFrom(0, wrong, "write it like " + example(kind));
        }
        return text;
    }

    private static @Nullable String wrong(Kind kind, String text) {
        if (text.isEmpty()) {
            return "is empty";
        }
        if (kind.isNamed() && !text.substring(text.lastIndexOf('/') + 1).contains(Destination.NUMBER)) {
            return "has no " + Destination.NUMBER
                    + " in its last part, so each batch would have the name of the one before";
        }
        if (kind.isNamed() && text.replace(Destination.NUMBER, "").matches("(?s).*[{}].*")) {
            return "has braces of which nothing is known but " + Destination.NUMBER;
        }
        if (kind.isNamed() && text.startsWith(".", text.lastIndexOf('/') + 1)) {
            return "names hidden files, which 'onefold batches verify' passes over";
        }
        boolean isRight = switch (kind) {
            case FILE -> !text.endsWith("/");
            case S3 -> text.matches("s3://[A-Za-z0-9._-]{3,255}/.+");
            case SFTP -> text.matches("sftp://[^/@]+@[^/]+/.+");
            case HTTP -> text.matches("https?://[^/].*");
            case JDBC -> text.startsWith("jdbc:");
            case COMMAND, LAMBDA, JAVA, KAFKA -> true;
        };
        return isRight ? null : "is not an address of " + kind.word();
    }

    private static String example(Kind kind) {
        return switch (kind) {
            case FILE -> "'out/quakes-{number}.ndjson.gz'";
            case S3 -> "'s3://bucket/quakes-{number}.ndjson.gz'";
            case SFTP -> "'sftp://user@host:22/drop/quakes-{number}.ndjson.gz'";
            case HTTP -> "'https://host/batches'";
            case COMMAND -> "[load, --nightly]";
            case JDBC -> "'jdbc:postgresql://host/database'";
            case LAMBDA -> "'load-quakes'";
            case JAVA -> "'com.example.Load'";
            case KAFKA -> "{topic: quakes, servers: \"localhost:9092\"}";
        };
    }

    private static String option(String name, Expression expression) {
        return switch (name) {
            case "manifest" -> Boolean.toString(truth(expression));
            case "remembers", "timeout" -> PipelineText.of(span(expression));
            default -> expression.whole();
        };
    }

    private static Duration span(Expression expression) {
        Duration span = expression.duration(Limits.DURATION_DAYS_MAX);
        expression.end("write one number and one unit, like 30s");
        return span;
    }

    /// Yes or no.
    static boolean truth(Expression expression) {
        String word = expression.whole();
        if (!TRUTHS.contains(word)) {
            throw expression.refuseFrom(0, "is not possible", "write true or false");
        }
        return word.equals("true");
    }

    /// As it is written in a pipeline file.
    static Map<String, Object> text(Destination destination) {
        Map<String, Object> section = new LinkedHashMap<>();
        List<String> target = destination.target();
        if (destination.kind() == Kind.KAFKA) {
            Map<String, Object> topic = new LinkedHashMap<>(Map.of("topic", target.getFirst()));
            topic.putAll(destination.options());
            section.put(Kind.KAFKA.word(), topic);
            return section;
        }
        section.put(destination.kind().word(), target.size() == 1 ? target.getFirst() : target);
        section.putAll(destination.options());
        return section;
    }
}
