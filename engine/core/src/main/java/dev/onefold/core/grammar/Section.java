package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.TextPlace;
import dev.onefold.core.json.NearestWord;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The settings of one section of a pipeline file, each known and there once. Any other setting is noted as a
/// problem. Not thread-safe.
final class Section {
    /// The sections of a pipeline file and the settings that each may have, in the order of the reference:
    /// the one list of them.
    enum Kind {
        FILE("the file", "pipeline", "input", "process", "batch", "rollup", "rollups", "publish"),
        INPUT(
                "input",
                "format",
                "from",
                "registry",
                "schemas",
                "descriptors",
                "message",
                "key-format",
                "columns",
                "delimiter",
                "quote",
                "decimal",
                "thousands",
                "nulls",
                "comment",
                "escape",
                "header",
                "unwrap",
                "records",
                "stream",
                "expired",
                "table",
                "logs",
                "decimals",
                "let",
                "key",
                "version",
                "id",
                "horizon",
                "time",
                "delete",
                "filter",
                "truths",
                "falsehoods",
                "normalize",
                "zone",
                "fold",
                "edition"),
        FROM("from", "kafka"),
        KAFKA("kafka", "topic", "name", "servers", "start", "properties"),
        PART("a part of a key", "field", "type", "missing", "element"),
        ORIGIN("a part of the key", "origin"),
        VERSION("version", "field", "type"),
        VERSION_PART("a part of the version", "field", "type", "missing"),
        TIME("time", "field", "type"),
        PROCESS("process", "class", "jar", "command", "version", "on-new-version", "order", "keep", "tables", "code"),
        CODE("code", "sha256", "context", "event", "tables"),
        BATCH(
                "batch",
                "size",
                "direct",
                "bytes",
                "wait",
                "deliver",
                "receiver",
                "bisect",
                "order",
                "concurrency",
                "retry",
                "forget",
                "compare"),
        DELIVER(
                "deliver",
                "file",
                "s3",
                "sftp",
                "http",
                "command",
                "jdbc",
                "kafka",
                "lambda",
                "class",
                "manifest",
                "region",
                "endpoint",
                "identity",
                "known-hosts",
                "user",
                "password",
                "remembers",
                "timeout",
                "authorization",
                "insert",
                "jar"),
        PUBLISH("publish", "jdbc", "table", "kafka", "every", "user", "password", "top"),
        TOPIC("a topic to write to", "topic", "servers", "properties"),
        RETRY("retry", "delays", "for"),
        ROLLUP("a roll-up", "levels", "measures", "keep"),
        FEED("a roll-up of a table", "of", "levels", "measures"),
        LEVEL("a level", "field", "name", "missing");

        private final String title;

        @SuppressWarnings("ImmutableEnumChecker") // It is one of List.of.
        private final List<String> names;

        Kind(String title, String... names) {
            this.title = title;
            this.names = List.of(names);
        }

        String title() {
            return title;
        }

        List<String> names() {
            return names;
        }

        private String advice(String unknown) {
            Optional<String> ofAws = AwsNames.advice(unknown);
            if (ofAws.isPresent()) {
                return ofAws.get();
            }
            if (NearestWord.nearest(unknown, names).isEmpty()) {
                for (Kind other : values()) {
                    if (other.names.contains(unknown)) {
                        return "it belongs to " + other.title;
                    }
                }
            }
            return NearestWord.advice(unknown, names);
        }
    }

    private final Setting at;
    private final Map<String, Node.Entry> entries = new LinkedHashMap<>();

    private Section(Setting at) {
        this.at = at;
    }

    /// The settings of a section; `null` if it is not a map of settings.
    static @Nullable Section of(Setting at, Kind kind) {
        if (!(at.node() instanceof Node.Mapping)) {
            at.refuseKind("settings, as in '" + kind.names.getFirst() + ": …'");
            return null;
        }
        Section section = new Section(at);
        at.entries().forEach((name, entry) -> {
            if (kind.names.contains(name)) {
                section.entries.put(name, entry);
            } else {
                TextPlace place = entry.name().place();
                String wrong = "is not a setting of " + kind.title;
                at.problems().add(place, at.pathTo(name), name, wrong, kind.advice(name));
            }
        });
        return section;
    }

    boolean has(String name) {
        return entries.containsKey(name);
    }

    /// A setting; `null` when it is not there.
    @Nullable
    Setting get(String name) {
        Node.Entry entry = entries.get(name);
        return entry == null ? null : at.entry(entry);
    }

    /// A setting that must be there; if it is missing, notes that and returns `null`.
    @Nullable
    Setting require(String name, String right) {
        Setting setting = get(name);
        if (setting == null) {
            refuse(name, "is not set", right);
        }
        return setting;
    }

    /// Reads a setting's text by a grammar; `null` if the setting is missing or wrong.
    <T> @Nullable T read(String name, Function<Expression, T> grammar) {
        Setting setting = get(name);
        return setting == null ? null : setting.read(grammar);
    }

    /// Refuses a setting because of other settings that are there, or that are missing.
    void refuse(String name, String wrong, String right) {
        Node.Entry entry = entries.get(name);
        TextPlace place = entry == null ? at.node().place() : entry.name().place();
        at.problems().add(place, at.pathTo(name), "", wrong, right);
    }
}
