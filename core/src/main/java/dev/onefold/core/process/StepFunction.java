package dev.onefold.core.process;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.shape.Reshaped;
import dev.onefold.core.shape.ShapeException;
import dev.onefold.core.shape.Thrown;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The user's function, called on bytes: what it may do is checked here. Not thread-safe; each thread has
/// its own.
public final class StepFunction {
    /// Of the rows that one event may write.
    public static final int ROWS_MAX = 90;

    /// Of the contents of these rows together.
    public static final int WRITTEN_BYTES_MAX = 2_000_000;

    public static final int CONTEXT_BYTES_MAX = 90_000;
    public static final int ROW_BYTES_MAX = 90_000;

    private static final int SAMPLE = 1_024;

    private final LoadedFunction loaded;
    private final Feeds feeds;
    private final Caller caller;
    private final Consumer<Impurity> impurities;
    private final Map<Class<?>, Map<Integer, RowType>> rowTypes = new HashMap<>();
    private final Record startContext;
    private final byte[] start;
    private final BytesOut scratch = new BytesOut();
    private int untilSample;

    /// Calls the function, and bounds the time that it takes.
    public interface Caller {
        /// Calls it on the thread that asks, for as long as it takes.
        Caller DIRECT = Supplier::get;

        /// @throws OverrunException if it did not return in time
        Step<?> call(Supplier<Step<?>> function);

        /// The same, for a caller that tells calls apart by their arguments.
        ///
        /// @param context before the step
        /// @param content of the event
        /// @throws OverrunException if it did not return in time
        default Step<?> call(byte[] context, byte[] content, Supplier<Step<?>> function) {
            return call(function);
        }
    }

    /// A call did not return in time.
    public static final class OverrunException extends RuntimeException {
        /// @param message says how long it may take
        public OverrunException(String message) {
            super(message);
        }
    }

    /// The call failed: told apart from what its caller throws.
    private static final class FailedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final String why;

        FailedException(String why) {
            super(null, null, false, false);
            this.why = why;
        }
    }

    /// Two calls with equal arguments had different results: the function is not pure.
    ///
    /// @param key of the event
    /// @param first result, which counts, as JSON
    public record Impurity(List<String> key, String first, String second) {}

    /// What a call came to.
    public sealed interface Result {
        /// The next context, and the rows that it wrote; without content they were removed.
        ///
        /// @param rows in their order
        record Done(byte[] context, Map<RowId, byte @Nullable []> rows) implements Result {}

        /// The function threw, or broke a limit.
        record Failed(String why) implements Result {}
    }

    /// @param impurities is told of calls that a sample found to be impure
    public StepFunction(LoadedFunction loaded, Caller caller, Consumer<Impurity> impurities) {
        this.loaded = loaded;
        this.caller = caller;
        this.impurities = impurities;
        feeds = new Feeds(loaded.processing());
        startContext = loaded.startContext();
        start = loaded.start();
    }

    /// The pipeline, with what was found of its function.
    public Pipeline pipeline() {
        return loaded.pipeline();
    }

    Processing processing() {
        return loaded.processing();
    }

    /// What its rows contribute to roll-ups.
    public Feeds feeds() {
        return feeds;
    }

    /// The context of a key before its first event.
    public byte[] start() {
        return start;
    }

    /// Calls the function once, and of some events twice.
    ///
    /// @param owner the parts of the key
    /// @param content of the event, as [Arrival] has it
    public Result step(List<String> owner, byte[] context, byte[] content) {
        Result result = once(owner, context, content);
        if (untilSample-- == 0) {
            untilSample = SAMPLE - 1;
            Result second = once(owner, context, content);
            if (!isSame(result, second)) {
                impurities.accept(new Impurity(owner, json(result), json(second)));
            }
        }
        return result;
    }

    /// The content of an event as it is when it comes today: an older version of the function may have had another
    /// type of event.
    byte[] today(byte[] content) {
        if (Arrival.isFiltered(content)) {
            return content;
        }
        byte[] fields = Reshaped.of(
                Arrays.copyOfRange(content, 1, content.length), loaded.event().type());
        return Arrival.counted(fields, 0, fields.length);
    }

    private Result once(List<String> owner, byte[] context, byte[] content) {
        Record before = decode(owner, context);
        Step<?> step;
        try {
            step = caller.call(context, content, () -> called(before, content));
        } catch (OverrunException e) {
            return new Result.Failed(Objects.toString(e.getMessage()));
        } catch (FailedException e) {
            return new Result.Failed(e.why);
        }
        try {
            return step == null ? new Result.Failed("The function returned null") : done(owner, step);
        } catch (ShapeException e) {
            return new Result.Failed("The function's result cannot be stored: " + e.getMessage());
        } catch (RuntimeException | Error e) { // Accessors of its records are the user's code, too.
            return new Result.Failed(thrown(e));
        }
    }

    /// All of the user's code that a step runs before its result is there: also what makes the event's record, and
    /// the message of what is thrown.
    private Step<?> called(Record before, byte[] content) {
        Record event;
        try {
            event = loaded.event().decode(content, 1, null);
        } catch (ShapeException e) {
            throw new FailedException(
                    "The event that was kept does not fit the function's event type: " + e.getMessage());
        } catch (Throwable e) {
            throw new FailedException(thrown(e));
        }
        try {
            return loaded.processor().step(before, event);
        } catch (Throwable e) { // Also checked exceptions: not all languages of the JVM know them.
            throw new FailedException(thrown(e));
        }
    }

    private static String thrown(Throwable thrown) {
        Thrown.requireMemory(thrown);
        return "The function threw " + Thrown.text(thrown);
    }

    private Record decode(List<String> owner, byte[] context) {
        try {
            return loaded.context().decode(context, startContext);
        } catch (ShapeException e) {
            throw new IllegalStateException(
                    "The context of key " + String.join(", ", owner) + " cannot be read: " + e.getMessage(), e);
        }
    }

    /// A context that an older version stored, as this one has it.
    ///
    /// @throws IllegalStateException if it cannot be read, naming key, component and both types
    public byte[] upgraded(List<String> key, int fromVersion, byte[] context) {
        if (fromVersion == processing().version()) {
            return context;
        }
        try {
            byte[] read = loaded.context().encode(loaded.context().decode(context, startContext));
            if (!loaded.upgrades() || Arrays.equals(read, context)) {
                return read;
            }
        } catch (ShapeException e) {
            if (!loaded.upgrades()) {
                throw new IllegalStateException(
                        "The context of key " + String.join(", ", key)
                                + ", stored by version " + fromVersion + " of the function, cannot be read: "
                                + e.getMessage() + ". Implement upgrade, or keep the type",
                        e);
            }
        }
        return loaded.context()
                .encode(loaded.processor()
                        .upgrade(fromVersion, Value.read(context).stored()));
    }

    private Result done(List<String> owner, Step<?> step) {
        byte[] context = loaded.context().encode(loaded.contextClass().cast(step.context()), scratch);
        if (context.length > CONTEXT_BYTES_MAX) {
            return tooMuch("a context of " + context.length + " bytes", CONTEXT_BYTES_MAX);
        }
        List<Write> writes = step.writes();
        if (writes.size() == 1) {
            return checked(
                    context, Collections.singletonMap(row(writes.getFirst(), owner), content(writes.getFirst())));
        }
        SortedMap<RowId, byte @Nullable []> rows = new TreeMap<>();
        for (Write write : writes) {
            rows.put(row(write, owner), content(write));
        }
        return checked(context, rows);
    }

    private RowId row(Write write, List<String> owner) {
        int table = loaded.table(write.table());
        return new RowId(
                table,
                switch (write) {
                    case Write.Put put -> type(table, put.row().getClass()).key(put.row(), owner);
                    case Write.Remove remove -> removed(table, remove, owner);
                });
    }

    private byte @Nullable [] content(Write write) {
        return write instanceof Write.Put put
                ? type(loaded.table(put.table()), put.row().getClass()).encode(put.row(), scratch)
                : null;
    }

    private Tuple removed(int table, Write.Remove remove, List<String> owner) {
        RowType declared = loaded.declared(table);
        if (declared != null) {
            declared.requireKey(remove.key());
        }
        return RowType.key(processing().tables().get(table), remove.key(), loaded.keyNames(), owner);
    }

    private Result checked(byte[] context, Map<RowId, byte @Nullable []> rows) {
        long bytes = 0;
        for (Map.Entry<RowId, byte @Nullable []> row : rows.entrySet()) {
            byte[] content = row.getValue();
            int length = content == null ? 0 : content.length;
            bytes += length + row.getKey().key().bytes().length;
            if (length > ROW_BYTES_MAX) {
                return tooMuch("a row of " + length + " bytes into table " + name(row.getKey()), ROW_BYTES_MAX);
            }
            if (row.getKey().key().bytes().length > RowType.KEY_BYTES_MAX) {
                return tooMuch(
                        "a row whose key has " + row.getKey().key().bytes().length + " bytes into table "
                                + name(row.getKey()),
                        RowType.KEY_BYTES_MAX);
            }
            String refusal = content == null ? null : feeds.refusal(row.getKey().table(), content);
            if (refusal != null) {
                return new Result.Failed("The function " + refusal);
            }
        }
        if (rows.size() > ROWS_MAX) {
            return tooMuch(rows.size() + " rows", ROWS_MAX);
        }
        return bytes > WRITTEN_BYTES_MAX
                ? tooMuch("rows of " + bytes + " bytes in all", WRITTEN_BYTES_MAX)
                : new Result.Done(context, rows);
    }

    private String name(RowId row) {
        return processing().tables().get(row.table()).name();
    }

    private static Result tooMuch(String what, int max) {
        return new Result.Failed("The function wrote " + what + "; at most " + max + " are possible");
    }

    private RowType type(int table, Class<? extends Record> row) {
        RowType declared = loaded.declared(table, row);
        return declared != null
                ? declared
                : rowTypes.computeIfAbsent(row, _ -> new HashMap<>())
                        .computeIfAbsent(table, _ -> loaded.rowType(table, row));
    }

    private static boolean isSame(Result one, Result other) {
        return one instanceof Result.Done done && other instanceof Result.Done second
                ? Arrays.equals(done.context, second.context)
                        && done.rows.keySet().equals(second.rows.keySet())
                        && done.rows.keySet().stream()
                                .allMatch(row -> Arrays.equals(done.rows.get(row), second.rows.get(row)))
                : one.getClass() == other.getClass();
    }

    private String json(Result result) {
        return switch (result) {
            case Result.Failed(String why) -> why;
            case Result.Done(byte[] context, Map<RowId, byte @Nullable []> rows) -> {
                StringBuilder text =
                        new StringBuilder("context ").append(Value.read(context).toJson());
                rows.forEach((row, content) -> text.append(", ")
                        .append(processing().tables().get(row.table()).name())
                        .append(' ')
                        .append(
                                content == null
                                        ? "without " + row.key()
                                        : Value.read(content).toJson()));
                yield text.toString();
            }
        };
    }
}
