package dev.onefold.core.grammar;

import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Origin.Start;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads which log a pipeline reads by itself, and writes it. Not thread-safe.
record OriginReader(Setting setting) {
    private static final Pattern TOPIC = Pattern.compile("[a-zA-Z0-9._-]+");
    private static final Pattern SERVER = Pattern.compile("(?:[A-Za-z0-9._-]+|\\[[0-9a-fA-F:]+\\]):[0-9]{1,5}");

    /// The log that an input names; `null` if it names none, or if something is wrong, which is noted.
    static @Nullable Origin read(Section input) {
        Setting from = input.get("from");
        return from == null ? null : new OriginReader(from).read();
    }

    private @Nullable Origin read() {
        Section section = Section.of(setting, Section.Kind.FROM);
        if (section == null) {
            return null;
        }
        Setting kafka = section.require("kafka", "write 'kafka: {topic: …, servers: …}'");
        return kafka == null ? null : kafka(kafka);
    }

    private static @Nullable Origin kafka(Setting setting) {
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
                : new Origin.Kafka(topic, Optional.ofNullable(name), servers, start, Optional.ofNullable(properties));
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
