package dev.onefold.cli.serve;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.core.document.Node;
import dev.onefold.yaml.SettingsFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The file that `onefold serve --config FILE` reads: the settings of the service, and the pipelines with their
/// inputs. Paths in the file are relative to its folder.
record ServeFile(Map<Setting, String> settings, List<Entry> pipelines) {
    /// A setting of the service; the names are those of the file.
    enum Setting {
        ADDRESS("address"),
        PORT("port"),
        CERTIFICATE("tls.certificate"),
        KEY("tls.key"),
        TOKENS("tokens"),
        ISSUER("jwt.issuer"),
        AUDIENCE("jwt.audience"),
        ISSUER_KEYS("jwt.keys"),
        INSECURE("insecure"),
        PROXIES("proxies");

        private final String path;

        Setting(String path) {
            this.path = path;
        }

        private boolean isPath() {
            return switch (this) {
                case CERTIFICATE, KEY, TOKENS -> true;
                case ADDRESS, PORT, INSECURE, PROXIES, ISSUER, AUDIENCE, ISSUER_KEYS -> false;
            };
        }
    }

    /// A pipeline that is served.
    ///
    /// @param file the pipeline file, or the name of a pipeline that has run
    /// @param data its data directory; `null` for the usual one
    /// @param follow files that are read as they grow
    /// @param queue address of an SQS queue; `null` if none is read
    record Entry(
            String file,
            @Nullable String data,
            List<String> follow,
            @Nullable String queue) {
        Entry {
            follow = List.copyOf(follow);
        }

        /// A pipeline without an input but requests.
        static Entry of(String file) {
            return new Entry(file, null, List.of(), null);
        }
    }

    /// No file.
    static ServeFile none() {
        return new ServeFile(Map.of(), List.of());
    }

    Optional<String> setting(Setting setting) {
        return Optional.ofNullable(settings.get(setting));
    }

    /// Reads the file.
    static ServeFile read(Caller caller, String text) throws IOException {
        Path path = caller.path(text);
        if (!Files.isRegularFile(path)) {
            throw CommandFailure.usage(
                    "There is no file " + caller.shown(path) + ". --config names a file of settings.");
        }
        try {
            return new Reader(
                            SettingsFile.read(path, caller.shown(path)),
                            path.toAbsolutePath().getParent())
                    .read();
        } catch (IllegalArgumentException e) {
            throw new CommandFailure(ExitCode.USAGE, String.valueOf(e.getMessage()), e);
        }
    }

    /// Reads one file. Not thread-safe.
    private static final class Reader {
        private final SettingsFile file;
        private final @Nullable Path folder;
        private final Map<Setting, String> settings = new HashMap<>();
        private final List<Entry> pipelines = new ArrayList<>();

        Reader(SettingsFile file, @Nullable Path folder) {
            this.file = file;
            this.folder = folder;
        }

        ServeFile read() {
            for (Node.Entry entry : mapping(file.root(), "").entries()) {
                String name = entry.name().text();
                switch (name) {
                    case "address", "port", "tokens", "insecure", "proxies" -> setting(entry, "");
                    case "jwt" -> mapping(entry.value(), "jwt").entries().forEach(each -> setting(each, "jwt."));
                    case "tls" -> mapping(entry.value(), "tls").entries().forEach(each -> setting(each, "tls."));
                    case "pipelines" -> {
                        for (Node item : sequence(entry.value(), "pipelines")) {
                            pipelines.add(pipeline(item));
                        }
                    }
                    default ->
                        throw unknown(entry.name(), "address, port, tls, tokens, jwt, insecure, proxies and pipelines");
                }
            }
            if (pipelines.isEmpty()) {
                throw file.refused(
                        file.root().place(), "pipelines", "", "is missing or empty", "list the pipeline files");
            }
            return new ServeFile(Map.copyOf(settings), List.copyOf(pipelines));
        }

        private void setting(Node.Entry entry, String before) {
            for (Setting setting : Setting.values()) {
                if (setting.path.equals(before + entry.name().text())) {
                    String value = text(entry.value(), setting.path);
                    settings.put(setting, setting.isPath() ? path(value) : value);
                    return;
                }
            }
            throw unknown(entry.name(), before.equals("jwt.") ? "issuer, audience and keys" : "certificate and key");
        }

        private Entry pipeline(Node item) {
            String pipeline = null;
            String data = null;
            String queue = null;
            List<String> follow = new ArrayList<>();
            for (Node.Entry entry : mapping(item, "pipelines").entries()) {
                switch (entry.name().text()) {
                    case "file" -> pipeline = path(text(entry.value(), "file"));
                    case "data" -> data = path(text(entry.value(), "data"));
                    case "queue" -> queue = text(entry.value(), "queue");
                    case "follow" -> {
                        for (Node each : sequence(entry.value(), "follow")) {
                            follow.add(path(text(each, "follow")));
                        }
                    }
                    default -> throw unknown(entry.name(), "file, data, follow and queue");
                }
            }
            if (pipeline == null) {
                throw file.refused(
                        item.place(), "pipelines", "", "has an entry without 'file'", "name the pipeline file");
            }
            return new Entry(pipeline, data, follow, queue);
        }

        private String path(String text) {
            return folder == null ? text : folder.resolve(text).normalize().toString();
        }

        private Node.Mapping mapping(Node node, String path) {
            if (node instanceof Node.Mapping mapping) {
                Set<String> names = new HashSet<>();
                for (Node.Entry entry : mapping.entries()) {
                    if (!names.add(entry.name().text())) {
                        throw file.refused(
                                entry.name().place(), path, entry.name().text(), "is there twice", "say it once");
                    }
                }
                return mapping;
            }
            throw file.refused(node.place(), path, "", "is not a list of names and values", "write 'name: value'");
        }

        private List<Node> sequence(Node node, String path) {
            if (node instanceof Node.Sequence sequence) {
                return sequence.items();
            }
            throw file.refused(node.place(), path, "", "is not a list", "write each item behind a '-'");
        }

        private String text(Node node, String path) {
            if (node instanceof Node.Scalar scalar
                    && !scalar.isNull()
                    && !scalar.text().isEmpty()) {
                return scalar.text();
            }
            throw file.refused(node.place(), path, "", "has no text", "write a value behind the name");
        }

        private IllegalArgumentException unknown(Node.Scalar name, String known) {
            return file.refused(name.place(), "", name.text(), "is not a setting here", "there are " + known);
        }
    }
}
