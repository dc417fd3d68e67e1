package dev.onefold.core.grammar;

import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Fold;
import dev.onefold.core.pipeline.Pipeline.Publishing;
import dev.onefold.core.pipeline.Processing;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads where totals are published, and writes it. Not thread-safe.
record PublishingReader(Setting setting) {
    private static final Pattern TABLE = Pattern.compile("[a-z_][a-z0-9_]*(?:\\.[a-z_][a-z0-9_]*)?");

    /// Where totals are published; `null`, and noted, where something is wrong.
    @Nullable
    Publishing read(@Nullable Fold fold) {
        Section section = Section.of(setting, Section.Kind.PUBLISH);
        if (section == null) {
            return null;
        }
        if (fold instanceof Batching
                || fold instanceof Processing processing && processing.feeds().isEmpty()) {
            setting.refuse("", "is for totals, and there is no roll-up", "leave it out, or write a roll-up");
        }
        section.require("jdbc", "write the address of the database: 'jdbc:postgresql://host/database'");
        section.require("table", "write the name of the table that is made there: totals");
        String address = section.read("jdbc", PublishingReader::address);
        String table = section.read("table", PublishingReader::table);
        Duration every =
                section.has("every") ? section.read("every", PublishingReader::span) : Publishing.EVERY_DEFAULT;
        String user = section.read("user", Expression::whole);
        String password = section.read("password", Expression::whole);
        return address == null || table == null || every == null
                ? null
                : new Publishing(address, table, every, Optional.ofNullable(user), Optional.ofNullable(password));
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
        if (text.equals(Publishing.OWN_TABLE)) {
            throw expression.refuseFrom(0, "is the table that says how far the others are", "write another name");
        }
        if (text.length() > Publishing.TABLE_LENGTH_MAX || !TABLE.matcher(text).matches()) {
            throw expression.refuseFrom(
                    0,
                    "is not the name of a table",
                    "write letters a-z, digits and _, at most " + Publishing.TABLE_LENGTH_MAX
                            + ", also behind a schema and a dot");
        }
        return text;
    }

    private static Duration span(Expression expression) {
        Duration span = expression.duration(Publishing.EVERY_DAYS_MAX);
        expression.end("write one number and one unit, like 1s");
        return span;
    }

    /// As it is written in a pipeline file.
    static Map<String, Object> text(Publishing publishing) {
        Map<String, Object> section = new LinkedHashMap<>();
        section.put("jdbc", publishing.address());
        section.put("table", publishing.table());
        if (!publishing.every().equals(Publishing.EVERY_DEFAULT)) {
            section.put("every", PipelineText.of(publishing.every()));
        }
        publishing.user().ifPresent(user -> section.put("user", user));
        publishing.password().ifPresent(variable -> section.put("password", variable));
        return section;
    }
}
