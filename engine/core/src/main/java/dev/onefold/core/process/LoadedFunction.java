package dev.onefold.core.process;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.codec.Thrown;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Input;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Processing.Code;
import dev.onefold.core.pipeline.Processing.Program.JavaClass;
import dev.onefold.core.pipeline.Type;
import dev.onefold.process.Processor;
import java.lang.reflect.InvocationTargetException;
import java.security.CodeSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// A pipeline whose function was found, with the types of context, event and rows. A pipeline that the function
/// cannot fold is refused here, before any event is folded. Immutable; its function is called by several threads.
public final class LoadedFunction {
    public static final int CONTEXT_BYTES_MAX = 90_000;

    private final Pipeline pipeline;
    private final Processing processing;
    private final FunctionBody body;
    private final Codec<Record> context;
    private final Codec<Record> event;
    private final Record startContext;
    private final byte[] start;
    private final List<String> keyNames;
    private final Map<String, Integer> tables = new HashMap<>();
    private final @Nullable RowType[] declared; // By table.

    /// Makes the function that a pipeline names.
    ///
    /// @param loader finds the class
    /// @param sha256 of the jar that has it, in hexadecimal; empty if it is not in one
    /// @throws IllegalArgumentException with the problem of the class
    public static LoadedFunction load(Pipeline pipeline, ClassLoader loader, String sha256) {
        Processing processing = processing(pipeline);
        if (!(processing.program() instanceof JavaClass(String name, String jar))) {
            throw new IllegalArgumentException(
                    "The function of pipeline " + pipeline.name() + " is a command: " + processing.programName());
        }
        try {
            Class<?> found = Class.forName(name, true, loader);
            if (!Processor.class.isAssignableFrom(found)) {
                throw new IllegalArgumentException(
                        "Class " + name + " does not implement " + Processor.class.getName());
            }
            return new LoadedFunction(
                            pipeline,
                            new JavaBody(
                                    (Processor<?, ?>) found.getConstructor().newInstance()),
                            sha256)
                    .requireFeeds();
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(
                    "There is no class " + name + (jar == null ? " on the class path" : " in " + jar), e);
        } catch (NoSuchMethodException | IllegalAccessException | InstantiationException e) {
            throw new IllegalArgumentException(
                    "Class " + name
                            + " cannot be made: it must be public, with a public constructor without parameters",
                    e);
        } catch (InvocationTargetException | LinkageError e) {
            throw new IllegalArgumentException(
                    "Class " + name + " cannot be made: "
                            + Thrown.text(Optional.ofNullable(e.getCause()).orElse(e)),
                    e);
        }
    }

    /// A pipeline with a function that is here already.
    ///
    /// @throws IllegalArgumentException with the problem of the function
    public static LoadedFunction of(Pipeline pipeline, Processor<?, ?> processor) {
        return new LoadedFunction(pipeline, new JavaBody(processor), "").requireFeeds();
    }

    /// A pipeline whose function is a command.
    ///
    /// @param sha256 of the command's files, in hexadecimal; empty if there are none
    /// @throws IllegalArgumentException with the problem of the function
    public static LoadedFunction of(Pipeline pipeline, CommandFunction command, String sha256) {
        return new LoadedFunction(pipeline, command, sha256).requireFeeds();
    }

    private LoadedFunction(Pipeline pipeline, FunctionBody body, String sha256) {
        Processing said = processing(pipeline);
        this.body = body;
        declared = new RowType[said.tables().size()];
        for (int table = 0; table < declared.length; table++) {
            tables.put(said.tables().get(table).name(), table);
        }
        try {
            context = body.context();
            event = body.event();
            keyNames = pipeline.input().identity() instanceof Identity.Versioned versioned
                    ? versioned.key().stream().map(FieldPath::toString).toList()
                    : List.of();
            requireFlat(pipeline.input());
            SortedMap<String, Type.Fields> rows = tables(said, body.tables());
            processing = said.with(new Code(sha256, context.type(), event.type(), rows));
            startContext = body.start();
            start = encodedStart(startContext);
        } catch (ShapeException e) {
            throw new IllegalArgumentException(body.name() + ": " + e.getMessage(), e);
        }
        this.pipeline = pipeline.with(processing);
    }

    private byte[] encodedStart(Record first) {
        try {
            byte[] bytes = context.encode(context.record().cast(first));
            if (bytes.length > CONTEXT_BYTES_MAX) {
                throw new ShapeException(
                        "it has " + bytes.length + " bytes; at most " + CONTEXT_BYTES_MAX + " are possible");
            }
            return bytes;
        } catch (ShapeException e) {
            throw new ShapeException("The context of start() cannot be stored: " + e.getMessage());
        } catch (Throwable e) { // Accessors of the record are the user's code, too.
            Thrown.requireMemory(e);
            throw new ShapeException("The context of start() cannot be stored: it threw " + Thrown.text(e));
        }
    }

    private static Processing processing(Pipeline pipeline) {
        if (!(pipeline.fold() instanceof Processing processing)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no process section");
        }
        return processing;
    }

    private SortedMap<String, Type.Fields> tables(Processing said, Map<String, Codec<Record>> types) {
        SortedMap<String, Type.Fields> found = new TreeMap<>();
        types.forEach((name, type) -> {
            int table = said.table(name)
                    .orElseThrow(() -> new ShapeException(body.tablesWord() + " names " + name
                            + ", and the pipeline file has no such table; it has " + said.tableNames()));
            RowType row = new RowType(said.tables().get(table), type, keyNames);
            declared[table] = row;
            found.put(name, row.type());
        });
        return found;
    }

    /// A CSV line has no lists and no records in it.
    private void requireFlat(Input input) {
        if (input.format() instanceof Input.Format.Csv) {
            for (Type.Component component : event.type().components()) {
                Type type = component.type() instanceof Type.Maybe maybe ? maybe.type() : component.type();
                if (type instanceof Type.Items || type instanceof Type.Fields) {
                    throw new ShapeException("Component " + component.name() + " of the event is a " + type
                            + ", which a CSV line cannot hold");
                }
            }
        }
    }

    /// Requires that tables whose types are known can feed their roll-ups. A stored definition is not checked
    /// again, so that its data can be read.
    private LoadedFunction requireFeeds() {
        Map<String, Type.Fields> tables =
                Objects.requireNonNull(processing.code()).tables();
        try {
            for (Processing.Feed feed : processing.feeds()) {
                Type.Fields row = tables.get(feed.table());
                if (row != null) {
                    FeedTypes.require(feed.table(), row, feed.rollup());
                }
            }
        } catch (ShapeException e) {
            throw new IllegalArgumentException(body.name() + ": " + e.getMessage(), e);
        }
        return this;
    }

    /// The same function under another definition of its pipeline, if its code for that one is not available;
    /// empty if its types are others.
    public Optional<LoadedFunction> under(Pipeline other) {
        try {
            LoadedFunction same = new LoadedFunction(other, body, body instanceof CommandFunction ? sha256(other) : "");
            return same.pipeline.equals(other) ? Optional.of(same) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /// The hash of the code that has folded: a command is not kept, so the given one folds what is left.
    private static String sha256(Pipeline other) {
        Code code = processing(other).code();
        return code == null ? "" : code.sha256();
    }

    /// The same function for data that was folded with another definition, as [Pipeline#ofDataOf].
    public LoadedFunction ofDataOf(Pipeline stored) {
        Pipeline same = pipeline.ofDataOf(stored);
        return same.equals(pipeline)
                ? this
                : new LoadedFunction(
                        same, body, Objects.requireNonNull(processing.code()).sha256());
    }

    /// The same function as another process has it: a new object of its class, if it can be made, or a new
    /// process.
    public LoadedFunction renewed() {
        return new LoadedFunction(
                pipeline,
                body.renewed(),
                Objects.requireNonNull(processing.code()).sha256());
    }

    /// Ends what the function has started; a later call starts it again.
    public void release() {
        body.release();
    }

    /// The pipeline, with the properties of its function.
    public Pipeline pipeline() {
        return pipeline;
    }

    /// Its function, with the properties that were found.
    public Processing processing() {
        return processing;
    }

    /// The function itself.
    ///
    /// @throws IllegalStateException if it is a command
    public Processor<Record, Record> processor() {
        if (body instanceof JavaBody java) {
            return java.processor();
        }
        throw new IllegalStateException(body.name() + " is not a class");
    }

    /// The command that computes it, which bounds each call itself; empty if a class does.
    public Optional<CommandFunction> command() {
        return body instanceof CommandFunction command ? Optional.of(command) : Optional.empty();
    }

    /// The context that `start()` returned when the function was loaded.
    public Record startContext() {
        return startContext;
    }

    /// The same, as bytes.
    public byte[] start() {
        return start;
    }

    /// The bytes of its contexts.
    public Codec<Record> context() {
        return context;
    }

    /// The bytes of its events.
    public Codec<Record> event() {
        return event;
    }

    /// The names of the fields of the pipeline's key.
    public List<String> keyNames() {
        return keyNames;
    }

    /// Where its class was read.
    public Optional<CodeSource> source() {
        return body.source();
    }

    /// Whether the class upgrades contexts itself.
    public boolean upgrades() {
        return body.upgrades();
    }

    /// A type of rows that is not declared.
    public RowType rowType(int table, Class<? extends Record> row) {
        return new RowType(processing.tables().get(table), JavaBody.codec(row), keyNames);
    }

    /// The number of a table.
    ///
    /// @throws ShapeException if the pipeline has no such table
    public int table(String name) {
        Integer table = tables.get(name);
        if (table == null) {
            throw new ShapeException("There is no table " + name + "; there is " + processing.tableNames());
        }
        return table;
    }

    /// The declared type of a table's rows; `null` if it is not declared.
    public @Nullable RowType declared(int table) {
        return declared[table];
    }

    /// The declared type of a table's rows for a row; `null` if it is not declared.
    ///
    /// @throws ShapeException if the row is of another class
    public @Nullable RowType declared(int table, Class<? extends Record> row) {
        RowType type = declared[table];
        if (type != null && type.row() != row) {
            throw new ShapeException("Table " + processing.tables().get(table).name() + " has rows of "
                    + type.row().getName() + ", and a " + row.getName() + " was put into it");
        }
        return type;
    }

    /// The parent of a class loader for a function's jar: it has the classes of the JDK, and those of Onefold
    /// that a function needs. So a function cannot come to depend on a library that another version of
    /// Onefold, or AWS, does not have.
    public static final class Classes extends ClassLoader {
        private static final String PROCESS = Processor.class.getPackageName() + ".";

        public Classes() {
            super(getPlatformClassLoader());
        }

        @Override
        protected Class<?> findClass(@Nullable String name) throws ClassNotFoundException {
            if (name != null && name.startsWith(PROCESS)) {
                return Class.forName(name, false, Processor.class.getClassLoader());
            }
            throw new ClassNotFoundException(name);
        }
    }
}
