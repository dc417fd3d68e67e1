package dev.onefold.core.process;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.codec.StoredRecord;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.TypedJson;
import dev.onefold.core.grammar.TypeReader;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Type;
import java.nio.charset.StandardCharsets;
import java.security.CodeSource;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/// A function that a program in another language computes. Each line is a JSON object:
///
///     from the program, first   {"onefold": 1, "context": "{metres: long}", "event": "{user: text, metres: long}",
///                                "tables": {"stats": "{user: text, metres: long}"}, "start": {"metres": 0}}
///     to the program            {"steps": [[context, event, event, …], [context, event, …], …]}
///     from the program          {"answers": [[context, ["put", "stats", row], ["remove", "stats", key]], "why", …]}
///
/// Types are texts of [Type.Fields]; values are as in [TypedJson]. Each item of `steps` is a chain: its events are
/// folded one after the other onto the context. Each event has one answer, in their order: the next context and the
/// writes, or a text that says why the function has failed; then the next event is folded onto the context before.
/// The answers of a line may come in several lines, each as soon as it is there.
///
/// Immutable; several threads use it.
public final class CommandFunction implements FunctionBody {
    private static final String PROTOCOL = "1";
    private static final int COMPONENTS_MAX = 200;

    private final Processes processes;
    private final String command;
    private final Type.Fields context;
    private final Type.Fields event;
    private final SortedMap<String, Type.Fields> tables = new TreeMap<>();
    private final StoredRecord start;

    /// The running program. Several threads use it at once, each with a process of its own.
    public interface Processes {
        /// The first line that the program has written.
        byte[] hello();

        /// Sends a line, and passes each line of the answer on, until the answer is whole.
        ///
        /// @param isWhole takes a line, and says whether the answer is whole; an exception of it ends the
        ///     process
        /// @throws NoAnswerException if the process ends or exceeds a limit before; another one is started
        ///     for the next line
        /// @throws IllegalStateException if no process can be started
        void ask(byte[] line, Predicate<byte[]> isWhole);

        /// Ends the processes that are idle; a later line starts another one.
        void release();
    }

    /// A process did not answer.
    public static final class NoAnswerException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final boolean overrun;

        /// @param message says what happened, after "The process of the function "
        /// @param overrun whether a call took too long
        public NoAnswerException(String message, boolean overrun) {
            super(message, null, false, false);
            this.overrun = overrun;
        }

        /// Whether the time was up.
        public boolean isOverrun() {
            return overrun;
        }
    }

    /// The program of a function cannot be run any more, or is another one. No event may be folded behind it.
    public static final class ProgramException extends IllegalStateException {
        private static final long serialVersionUID = 1;

        public ProgramException(String message, @Nullable Throwable cause) {
            super(message, cause);
        }
    }

    /// The function of a program that has said what it is.
    ///
    /// @throws IllegalArgumentException if its first line is wrong
    public CommandFunction(Processing processing, Processes processes) {
        this.processes = processes;
        command = processing.programName();
        byte[] hello = processes.hello();
        try {
            Node said = read(hello);
            if (!PROTOCOL.equals(said.get("onefold").text())) {
                throw new ShapeException("it speaks protocol "
                        + said.get("onefold").text() + ", and this Onefold speaks protocol " + PROTOCOL);
            }
            context = type(said.get("context"), "the context", false);
            event = type(said.get("event"), "the event", true);
            for (Node.Entry table : ((Node.Mapping) said.get("tables")).entries()) {
                tables.put(
                        table.name().text(),
                        type(table.value(), "a row of table " + table.name().text(), false));
            }
            for (Processing.Table table : processing.tables()) {
                if (!tables.containsKey(table.name())) {
                    throw new ShapeException("it does not say the type of the rows of table " + table.name());
                }
            }
            start = new StoredRecord(new TypedJson(context).member(hello, "start"));
        } catch (ShapeException | IllegalStateException | ClassCastException e) {
            throw new IllegalArgumentException(
                    name() + " does not begin with the line that describes a function: " + e.getMessage()
                            + ". Let it use onefold.py or onefold.mjs, or write the line as docs/process.md says",
                    e);
        }
    }

    private static Node read(byte[] hello) {
        Problems problems = new Problems();
        String text = new String(hello, StandardCharsets.UTF_8);
        Node node = JsonText.read(text, problems);
        if (node == null) {
            throw new ShapeException("'" + text.substring(0, Math.min(text.length(), 100)) + "' is not JSON");
        }
        return node;
    }

    private static Type.Fields type(Node said, String what, boolean hasPaths) {
        try {
            Type.Fields type = TypeReader.read(said.text());
            int[] components = new int[1];
            require(type, hasPaths, 1, components);
            return type;
        } catch (IllegalArgumentException e) {
            throw new ShapeException("the type of " + what + ", " + said.text() + ", is wrong: " + e.getMessage());
        }
    }

    private static void require(Type type, boolean hasPaths, int depth, int[] components) {
        switch (type) {
            case Type.Scalar _ -> {}
            case Type.Enumeration names -> {
                if (names.names().isEmpty()
                        || new HashSet<>(names.names()).size() < names.names().size()) {
                    throw new IllegalArgumentException("names of an enumeration are at least one, and each once");
                }
            }
            case Type.Maybe(Type some) -> {
                if (some instanceof Type.Maybe) {
                    throw new IllegalArgumentException("a value is optional twice");
                }
                require(some, false, depth, components);
            }
            case Type.Items(Type item) -> require(item, false, depth, components);
            case Type.Fields fields -> {
                if (depth > Limits.NESTING_MAX) {
                    throw new IllegalArgumentException("it is nested too deep");
                }
                Set<String> names = new HashSet<>();
                for (Type.Component component : fields.components()) {
                    if (!names.add(component.name())) {
                        throw new IllegalArgumentException("component " + component.name() + " is there twice");
                    }
                    if (!hasPaths && component.path().names().size() > 1) {
                        throw new IllegalArgumentException("component " + component.name()
                                + " is a path, which only a component of the event may be");
                    }
                    if (++components[0] > COMPONENTS_MAX) {
                        throw new IllegalArgumentException("it has more than " + COMPONENTS_MAX + " components");
                    }
                    require(component.type(), false, depth + 1, components);
                }
            }
        }
    }

    /// The processes that compute it.
    public Processes processes() {
        return processes;
    }

    @Override
    public String name() {
        return "The command " + command;
    }

    @Override
    public String tablesWord() {
        return "the program";
    }

    @Override
    public Codec<Record> context() {
        return codec(context);
    }

    @Override
    public Codec<Record> event() {
        return codec(event);
    }

    @SuppressWarnings("unchecked") // All records of such a function are of this class.
    private static Codec<Record> codec(Type.Fields type) {
        Codec<? extends Record> codec = Codec.of(type);
        return (Codec<Record>) codec;
    }

    @Override
    public Map<String, Codec<Record>> tables() {
        Map<String, Codec<Record>> codecs = new TreeMap<>();
        tables.forEach((name, type) -> codecs.put(name, codec(type)));
        return codecs;
    }

    @Override
    public Record start() {
        return start;
    }

    @Override
    public FunctionBody renewed() {
        release();
        return this;
    }

    @Override
    public void release() {
        processes.release();
    }

    @Override
    public boolean upgrades() {
        return false;
    }

    @Override
    public Optional<CodeSource> source() {
        return Optional.empty();
    }
}
