package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.codec.Reshaped;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.codec.Thrown;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.process.Impurity;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.process.RowType;
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

/// The user's function, called on bytes: its limits are checked here. Not thread-safe; each thread has its
/// own.
public final class StepFunction {
    /// Of the rows that one event may write.
    public static final int ROWS_MAX = 90;

    /// Of the contents of these rows together.
    public static final int WRITTEN_BYTES_MAX = 2_000_000;

    public static final int ROW_BYTES_MAX = 90_000;

    private static final int SAMPLE = 1_024;
    private static final byte[] NO_EVENT = {};

    private final LoadedFunction loaded;
    private final Feeds feeds;
    private final Caller caller;
    private final Consumer<Impurity> impurities;
    private final Record startContext;
    private final byte[] start;
    private final boolean[] shared; // By table.
    private final boolean sharesRows;
    private final @Nullable CommandCalls command;
    private Making making = new Making();
    private int untilSample;
    private boolean overran; // A call of the step that is under way.

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
        /// @param message has the time limit
        public OverrunException(String message) {
            super(message);
        }
    }

    /// The call failed. A type of its own tells it from exceptions of the caller.
    private static final class FailedException extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final String why;

        FailedException(String why) {
            super(null, null, false, false);
            this.why = why;
        }
    }

    /// The result of a call.
    public sealed interface Result {
        /// The next context, and the rows that it wrote; without content they were removed.
        ///
        /// @param rows in their order
        record Done(byte[] context, Map<RowId, byte @Nullable []> rows) implements Result {}

        /// The function threw, or broke a limit.
        record Failed(String why) implements Result {}
    }

    /// @param impurities receives the calls that a sample found to be impure
    public StepFunction(LoadedFunction loaded, Caller caller, Consumer<Impurity> impurities) {
        this.loaded = loaded;
        this.caller = caller;
        this.impurities = impurities;
        feeds = new Feeds(loaded.processing());
        startContext = loaded.startContext();
        start = loaded.start();
        List<Processing.Table> tables = loaded.processing().tables();
        shared = new boolean[tables.size()];
        for (int table = 0; table < shared.length; table++) {
            shared[table] = tables.get(table).isShared(loaded.pipeline().input());
        }
        sharesRows = loaded.processing().sharesRows(loaded.pipeline().input());
        command = loaded.command()
                .map(function -> new CommandCalls(function, loaded.processing(), start))
                .orElse(null);
    }

    /// The pipeline, with the properties of its function.
    public Pipeline pipeline() {
        return loaded.pipeline();
    }

    Processing processing() {
        return loaded.processing();
    }

    /// Whether several keys write the rows of a table.
    boolean isShared(int table) {
        return shared[table];
    }

    /// Whether several keys write the rows of some table.
    boolean sharesRows() {
        return sharesRows;
    }

    /// The feeds from its rows to roll-ups.
    public Feeds feeds() {
        return feeds;
    }

    /// The context of a key before its first event.
    public byte[] start() {
        return start;
    }

    /// A context, and events that may be folded onto it one after the other.
    ///
    /// @param contents of the events, as [Arrival] has them; none that the filter leaves out
    public record Chain(byte[] context, List<byte[]> contents) {}

    /// The number of calls that cost less together than one after the other; 0 if none do.
    public int aheadMax() {
        return command == null ? 0 : command.aheadMax();
    }

    /// Says which calls are likely to come next. The results of the calls are the same without it.
    public void ahead(List<Chain> chains) {
        if (command != null && !chains.isEmpty()) {
            command.ahead(chains);
        }
    }

    /// The same for the calls of a refold. What was said before remains.
    void aheadOfRefold(Chain chain) {
        if (command != null && chain.contents().size() > 1) {
            command.refold(chain);
        }
    }

    /// Calls the function once, and of some events twice.
    ///
    /// @param owner the parts of the key
    /// @param content of the event, as [Arrival] has it
    public Result step(List<String> owner, byte[] context, byte[] content) {
        overran = false;
        Result result = once(owner, context, content, false);
        if (untilSample-- == 0) {
            untilSample = SAMPLE - 1;
            Result second = once(owner, context, content, true);
            if (!overran && !isSame(result, second)) { // The time that a call takes says nothing about its result.
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

    private Result once(List<String> owner, byte[] context, byte[] content, boolean again) {
        Making mine = making;
        try {
            Step<?> step = caller.call(context, content, () -> mine.step(owner, context, content, again));
            if (step == null) {
                return new Result.Failed("The function returned null");
            }
            mine.encode(owner, step);
            return checked(mine.context, mine.rows);
        } catch (OverrunException e) {
            making = new Making(); // The call continues with the other one.
            overran = true;
            return new Result.Failed(Objects.toString(e.getMessage()));
        } catch (FailedException e) {
            return new Result.Failed(e.why);
        }
    }

    private static String thrown(Throwable thrown) {
        Thrown.requireMemory(thrown);
        return "The function threw " + Thrown.text(thrown);
    }

    /// A context that an older version stored, as this one has it.
    ///
    /// @throws IllegalStateException if it cannot be read, naming key, component and both types
    public byte[] upgraded(List<String> key, int fromVersion, byte[] context) {
        if (fromVersion == processing().version()) {
            return context;
        }
        byte[][] upgraded = new byte[1][];
        try {
            caller.call(context, NO_EVENT, () -> {
                upgraded[0] = upgradedNow(fromVersion, context);
                return Step.to(startContext);
            });
            return Objects.requireNonNull(upgraded[0]);
        } catch (OverrunException e) {
            throw unreadable(key, fromVersion, "upgrade(): " + e.getMessage());
        } catch (FailedException e) {
            throw unreadable(key, fromVersion, e.why);
        }
    }

    private static IllegalStateException unreadable(List<String> key, int fromVersion, String why) {
        return new IllegalStateException("The context of key " + String.join(", ", key) + ", stored by version "
                + fromVersion + " of the function, cannot be read: " + why);
    }

    /// All of it may be the user's code.
    private byte[] upgradedNow(int fromVersion, byte[] context) {
        try {
            byte[] read = loaded.context().encode(loaded.context().decode(context, startContext));
            if (!loaded.upgrades() || Arrays.equals(read, context)) {
                return read;
            }
        } catch (ShapeException e) {
            if (!loaded.upgrades()) {
                throw new FailedException(e.getMessage() + ". Implement upgrade, or keep the type");
            }
        } catch (Throwable e) {
            throw new FailedException(thrown(e));
        }
        try {
            return loaded.context()
                    .encode(loaded.processor()
                            .upgrade(fromVersion, Value.read(context).stored()));
        } catch (Throwable e) {
            throw new FailedException("upgrade() failed: " + thrown(e));
        }
    }

    /// Runs the user's code on one event. All of that code runs within the bounded call, including constructors
    /// and accessors of records. A call that does not return keeps the object that it works with.
    private final class Making {
        private final Map<Class<?>, Map<Integer, RowType>> rowTypes = new HashMap<>();
        private final BytesOut scratch = new BytesOut();
        private @Nullable Step<?> made;
        private byte[] context = {};
        private Map<RowId, byte @Nullable []> rows = Map.of();

        /// Calls the function, and writes its result as bytes.
        @Nullable
        Step<?> step(List<String> owner, byte[] before, byte[] content, boolean again) {
            made = null; // A function may return one and the same step for several keys.
            Step<?> step =
                    command == null ? called(decode(owner, before), content) : asked(command, before, content, again);
            if (step != null) {
                encode(owner, step);
            }
            return step;
        }

        private Step<?> asked(CommandCalls calls, byte[] before, byte[] content, boolean again) {
            try {
                return calls.step(before, content, again);
            } catch (ShapeException e) {
                throw new FailedException(String.valueOf(e.getMessage()));
            }
        }

        private Record decode(List<String> owner, byte[] before) {
            try {
                return loaded.context().decode(before, startContext);
            } catch (ShapeException e) {
                throw new IllegalStateException(
                        "The context of key " + String.join(", ", owner) + " cannot be read: " + e.getMessage(), e);
            }
        }

        /// Calls the function, and also the user's code for the event's record and for the message of an
        /// exception.
        private @Nullable Step<?> called(Record before, byte[] content) {
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

        /// Writes a step as bytes, if it is not the one that was written last.
        @SuppressWarnings("ReferenceEquality") // equals() of a step would call the user's code.
        void encode(List<String> owner, Step<?> step) {
            if (step == made) {
                return;
            }
            try {
                context = loaded.context().encode(loaded.context().record().cast(step.context()), scratch);
                rows = rows(owner, step.writes());
                made = step;
            } catch (ShapeException e) {
                throw new FailedException("The function's result cannot be stored: " + e.getMessage());
            } catch (Throwable e) {
                throw new FailedException(thrown(e));
            }
        }

        private Map<RowId, byte @Nullable []> rows(List<String> owner, List<Write> writes) {
            if (writes.size() == 1) {
                return Collections.singletonMap(row(writes.getFirst(), owner), content(writes.getFirst()));
            }
            SortedMap<RowId, byte @Nullable []> all = new TreeMap<>();
            for (Write write : writes) {
                all.put(row(write, owner), content(write));
            }
            return all;
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

        private RowType type(int table, Class<? extends Record> row) {
            RowType declared = loaded.declared(table, row);
            return declared != null
                    ? declared
                    : rowTypes.computeIfAbsent(row, _ -> new HashMap<>())
                            .computeIfAbsent(table, _ -> loaded.rowType(table, row));
        }
    }

    private Tuple removed(int table, Write.Remove remove, List<String> owner) {
        RowType declared = loaded.declared(table);
        if (declared != null) {
            declared.requireKey(remove.key());
        }
        return RowType.key(processing().tables().get(table), remove.key(), loaded.keyNames(), owner);
    }

    private Result checked(byte[] context, Map<RowId, byte @Nullable []> rows) {
        if (context.length > LoadedFunction.CONTEXT_BYTES_MAX) {
            return tooMuch("a context of " + context.length + " bytes", LoadedFunction.CONTEXT_BYTES_MAX);
        }
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
