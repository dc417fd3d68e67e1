package dev.onefold.core.grammar;

import dev.onefold.core.json.NearestWord;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Fold;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Publishing.Database;
import dev.onefold.core.pipeline.Publishing.TopList;
import dev.onefold.core.pipeline.Rollups;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads where totals are published, and writes it. Not thread-safe.
record PublishingReader(Setting setting) {
    private static final Pattern TABLE = Pattern.compile("[a-z_][a-z0-9_]*(?:\\.[a-z_][a-z0-9_]*)?");
    private static final Pattern TABLE_OF_ITEMS = Pattern.compile("[a-zA-Z0-9_.-]{3,255}");
    private static final Pattern TOP = Pattern.compile("([1-9][0-9]{0,2}) by (.+)");

    /// Where a pipeline file publishes totals; `null` if nowhere, or if something is wrong, which is noted.
    static @Nullable Publishing read(Section file, @Nullable Fold fold) {
        Setting publish = file.get("publish");
        return publish == null ? null : new PublishingReader(publish).read(fold);
    }

    private @Nullable Publishing read(@Nullable Fold fold) {
        Section section = Section.of(setting, Section.Kind.PUBLISH);
        if (section == null) {
            return null;
        }
        if (fold instanceof Batching
                || fold instanceof Processing processing && processing.feeds().isEmpty()) {
            setting.refuse("", "is for totals, and there is no roll-up", "leave it out, or write a roll-up");
            return null;
        }
        Setting kafka = section.get("kafka");
        if (kafka != null) {
            return topic(section, kafka);
        }
        section.require("table", "write the name of the table that is made there: totals");
        return section.has("jdbc") ? database(section) : items(section, fold);
    }

    private static @Nullable Publishing topic(Section section, Setting kafka) {
        refuse(section, List.of("jdbc", "table", "user", "password", "top"), "is not for Kafka", "leave it out");
        Duration every = every(section);
        Section topic = Section.of(kafka, Section.Kind.TOPIC);
        if (topic == null) {
            return null;
        }
        topic.require("topic", "write the name of the topic");
        topic.require("servers", "write where brokers are: \"localhost:9092\"");
        String name = topic.read("topic", OriginReader::topic);
        String servers = topic.read("servers", OriginReader::servers);
        Optional<String> properties = Optional.ofNullable(topic.read("properties", Expression::whole));
        return name == null || servers == null || every == null
                ? null
                : new Publishing.Topic(name, servers, every, properties);
    }

    private static @Nullable Duration every(Section section) {
        return section.has("every") ? section.read("every", PublishingReader::span) : Database.EVERY_DEFAULT;
    }

    private @Nullable Publishing database(Section section) {
        refuse(section, List.of("top"), "is for a table of DynamoDB", "leave it out; a query of SQL sorts");
        String address = section.read("jdbc", PublishingReader::address);
        String table = section.read("table", PublishingReader::table);
        Duration every = every(section);
        String user = section.read("user", Expression::whole);
        String password = section.read("password", Expression::whole);
        return address == null || table == null || every == null
                ? null
                : new Database(address, table, every, Optional.ofNullable(user), Optional.ofNullable(password));
    }

    private @Nullable Publishing items(Section section, @Nullable Fold fold) {
        refuse(
                section,
                List.of("every", "user", "password"),
                "is for a database",
                "leave it out, or name the database with 'jdbc'");
        String table = section.read("table", PublishingReader::tableOfItems);
        List<String> measures = rollups(fold).all().stream()
                .flatMap(rollup -> rollup.figureNames().stream())
                .distinct()
                .toList();
        TopList top = section.read("top", expression -> top(expression, measures));
        return table == null || section.has("top") && top == null
                ? null
                : new Publishing.Items(table, Optional.ofNullable(top));
    }

    private static Rollups rollups(@Nullable Fold fold) {
        return switch (fold) {
            case Rollups rollups -> rollups;
            case Processing processing -> processing.rollups();
            case Batching _ -> new Rollups(List.of());
            case null -> new Rollups(List.of());
        };
    }

    private static void refuse(Section section, List<String> names, String wrong, String right) {
        names.stream().filter(section::has).forEach(name -> section.refuse(name, wrong, right));
    }

    private static String address(Expression expression) {
        String text = expression.whole();
        if (!text.startsWith("jdbc:postgresql:")) {
            throw expression.refuseFrom(
                    0, "is not an address of PostgreSQL", "write it like 'jdbc:postgresql://host/database'");
        }
        return text;
    }

    private static String table(Expression expression) {
        String text = expression.whole();
        if (text.equals(Database.OWN_TABLE)) {
            throw expression.refuseFrom(0, "is the table that says how far the others are", "write another name");
        }
        if (text.length() > Database.TABLE_LENGTH_MAX || !TABLE.matcher(text).matches()) {
            throw expression.refuseFrom(
                    0,
                    "is not the name of a table",
                    "write letters a-z, digits and _, at most " + Database.TABLE_LENGTH_MAX
                            + ", also behind a schema and a dot");
        }
        return text;
    }

    private static String tableOfItems(Expression expression) {
        String text = expression.whole();
        if (!TABLE_OF_ITEMS.matcher(text).matches()) {
            throw expression.refuseFrom(
                    0, "is not the name of a table of DynamoDB", "write 3 to 255 letters, digits, '_', '-' and '.'");
        }
        return text;
    }

    private static TopList top(Expression expression, List<String> measures) {
        Matcher matcher = TOP.matcher(expression.whole());
        if (!matcher.matches() || Integer.parseInt(matcher.group(1)) > TopList.COUNT_MAX) {
            throw expression.refuseFrom(
                    0, "is not a top list", "write it like '100 by count', with 1 to " + TopList.COUNT_MAX);
        }
        String measure = matcher.group(2);
        if (!measures.contains(measure)) {
            throw expression.refuseFrom(0, "names no measure", NearestWord.advice(measure, measures));
        }
        return new TopList(Integer.parseInt(matcher.group(1)), measure);
    }

    private static Duration span(Expression expression) {
        Duration span = expression.duration(Database.EVERY_DAYS_MAX);
        expression.end("write one number and one unit, like 1s");
        return span;
    }

    /// As it is written in a pipeline file.
    static Map<String, Object> text(Publishing publishing) {
        Map<String, Object> section = new LinkedHashMap<>();
        switch (publishing) {
            case Database database -> {
                section.put("jdbc", database.address());
                section.put("table", database.table());
                if (!database.every().equals(Database.EVERY_DEFAULT)) {
                    section.put("every", PipelineText.of(database.every()));
                }
                database.user().ifPresent(user -> section.put("user", user));
                database.password().ifPresent(variable -> section.put("password", variable));
            }
            case Publishing.Topic topic -> {
                Map<String, Object> settings = new LinkedHashMap<>();
                settings.put("topic", topic.table());
                settings.put("servers", topic.servers());
                topic.properties().ifPresent(file -> settings.put("properties", file));
                section.put("kafka", settings);
                if (!topic.every().equals(Database.EVERY_DEFAULT)) {
                    section.put("every", PipelineText.of(topic.every()));
                }
            }
            case Publishing.Items items -> {
                section.put("table", items.table());
                items.top().ifPresent(top -> section.put("top", top.count() + " by " + top.measure()));
            }
        }
        return section;
    }
}
