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
import dev.onefold.core.pipeline.Type;
import dev.onefold.process.Processor;
import dev.onefold.process.Stored;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.TypeVariable;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A pipeline whose function was found, with the types of context, event and rows. A pipeline that the function
/// cannot fold is refused here, before any event is folded. Immutable; its function is called by several threads.
public final class LoadedFunction {
    public static final int CONTEXT_BYTES_MAX = 90_000;

    private final Pipeline pipeline;
    private final Processing processing;
    private final Processor<Record, Record> processor;
    private final Class<? extends Record> contextClass;
    private final Codec<Record> context;
    private final Codec<Record> event;
    private final Record startContext;
    private final byte[] start;
    private final List<String> keyNames;
    private final Map<String, Integer> tables = new HashMap<>();
    private final @Nullable Declared[] declared; // By table.

    private record Declared(Class<? extends Record> row, RowType type) {}

    /// Makes the function that a pipeline names.
    ///
    /// @param loader finds the class
    /// @param sha256 of the jar that has it, in hexadecimal; empty if it is not in one
    /// @throws IllegalArgumentException with the problem of the class
    public static LoadedFunction load(Pipeline pipeline, ClassLoader loader, String sha256) {
        Processing processing = processing(pipeline);
        String name = processing.className();
        try {
            Class<?> found = Class.forName(name, true, loader);
            if (!Processor.class.isAssignableFrom(found)) {
                throw new IllegalArgumentException(
                        "Class " + name + " does not implement " + Processor.class.getName());
            }
            return new LoadedFunction(
                            pipeline, (Processor<?, ?>) found.getConstructor().newInstance(), sha256)
                    .requireFeeds();
        } catch (ClassNotFoundException e) {
            throw new IllegalArgumentException(
                    "There is no class " + name
                            + (processing.jar() == null ? " on the class path" : " in " + processing.jar()),
                    e);
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
        return new LoadedFunction(pipeline, processor, "").requireFeeds();
    }

    @SuppressWarnings("unchecked") // Contexts and events are made by the codecs of these very types.
    private LoadedFunction(Pipeline pipeline, Processor<?, ?> processor, String sha256) {
        Processing said = processing(pipeline);
        this.processor = (Processor<Record, Record>) processor;
        declared = new Declared[said.tables().size()];
        for (int table = 0; table < declared.length; table++) {
            tables.put(said.tables().get(table).name(), table);
        }
        try {
            contextClass = argument(processor.getClass(), 0);
            context = (Codec<Record>) Codec.of(contextClass);
            event = (Codec<Record>) Codec.of(argument(processor.getClass(), 1));
            keyNames = pipeline.input().identity() instanceof Identity.Versioned versioned
                    ? versioned.key().stream().map(FieldPath::toString).toList()
                    : List.of();
            requireFlat(pipeline.input());
            SortedMap<String, Type.Fields> rows = tables(said, called("tables()", this.processor::tables));
            processing = said.with(new Code(sha256, context.type(), event.type(), rows));
            Record first = called("start()", this.processor::start);
            if (first == null) {
                throw new ShapeException("start() returns null; let it return the context of a key without events");
            }
            startContext = first;
            start = encodedStart(first);
        } catch (ShapeException e) {
            throw new IllegalArgumentException("Class " + processor.getClass().getName() + ": " + e.getMessage(), e);
        }
        this.pipeline = pipeline.with(processing);
    }

    /// Calls code of the user, which may throw anything.
    private static <T> @Nullable T called(String what, Supplier<@Nullable T> code) {
        try {
            return code.get();
        } catch (ShapeException e) {
            throw e;
        } catch (Throwable e) {
            Thrown.requireMemory(e);
            throw new ShapeException(what + " threw " + Thrown.text(e));
        }
    }

    private byte[] encodedStart(Record first) {
        try {
            byte[] bytes = context.encode(contextClass.cast(first));
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

    private SortedMap<String, Type.Fields> tables(
            Processing said, @Nullable Map<String, Class<? extends Record>> types) {
        SortedMap<String, Type.Fields> found = new TreeMap<>();
        if (types == null) {
            throw new ShapeException("tables() returns null");
        }
        types.forEach((name, type) -> {
            int table = said.table(name)
                    .orElseThrow(() -> new ShapeException("tables() names " + name
                            + ", and the pipeline file has no such table; it has " + said.tableNames()));
            RowType row = new RowType(said.tables().get(table), type, keyNames);
            declared[table] = new Declared(type, row);
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
            throw new IllegalArgumentException("Class " + processor.getClass().getName() + ": " + e.getMessage(), e);
        }
        return this;
    }

    /// The n-th type argument that a class gives to Processor.
    private static Class<? extends Record> argument(Class<?> type, int index) {
        java.lang.reflect.Type found = resolve(type, Map.of(), index);
        if (found instanceof Class<?> record && record.isRecord()) {
            return record.asSubclass(Record.class);
        }
        throw new ShapeException((index == 0 ? "the context" : "the event") + " of the function is "
                + (found == null ? "not known" : found.getTypeName())
                + "; write a class that implements Processor<MyContext, MyEvent> with two public records");
    }

    private static java.lang.reflect.@Nullable Type resolve(
            @Nullable Class<?> type, Map<TypeVariable<?>, java.lang.reflect.Type> known, int index) {
        if (type == null) {
            return null;
        }
        List<java.lang.reflect.Type> parents = new ArrayList<>(List.of(type.getGenericInterfaces()));
        if (type.getGenericSuperclass() != null) {
            parents.add(type.getGenericSuperclass());
        }
        for (java.lang.reflect.Type parent : parents) {
            Class<?> raw = parent instanceof ParameterizedType generic
                    ? (Class<?>) generic.getRawType()
                    : parent instanceof Class<?> plain ? plain : null;
            Map<TypeVariable<?>, java.lang.reflect.Type> arguments = new HashMap<>();
            if (raw != null && parent instanceof ParameterizedType generic) {
                for (int i = 0; i < raw.getTypeParameters().length; i++) {
                    java.lang.reflect.Type argument = generic.getActualTypeArguments()[i];
                    arguments.put(raw.getTypeParameters()[i], known.getOrDefault(argument, argument));
                }
            }
            if (raw == Processor.class) {
                return arguments.get(raw.getTypeParameters()[index]);
            }
            java.lang.reflect.Type found = resolve(raw, arguments, index);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /// The same function under another definition of its pipeline, if its code for that one is not available;
    /// empty if its types are others.
    public Optional<LoadedFunction> under(Pipeline other) {
        try {
            LoadedFunction same = new LoadedFunction(other, processor, "");
            return same.pipeline.equals(other) ? Optional.of(same) : Optional.empty();
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /// The same function for data that was folded with another definition, as [Pipeline#ofDataOf].
    public LoadedFunction ofDataOf(Pipeline stored) {
        Pipeline same = pipeline.ofDataOf(stored);
        return same.equals(pipeline)
                ? this
                : new LoadedFunction(
                        same,
                        processor,
                        Objects.requireNonNull(processing.code()).sha256());
    }

    /// The same function as another process has it: a new object of its class, if it can be made.
    public LoadedFunction renewed() {
        try {
            Processor<?, ?> other =
                    (Processor<?, ?>) processor.getClass().getConstructor().newInstance();
            return new LoadedFunction(
                    pipeline, other, Objects.requireNonNull(processing.code()).sha256());
        } catch (ReflectiveOperationException e) {
            return this;
        }
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
    public Processor<Record, Record> processor() {
        return processor;
    }

    /// The class of its contexts.
    public Class<? extends Record> contextClass() {
        return contextClass;
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
        return Optional.ofNullable(processor.getClass().getProtectionDomain().getCodeSource());
    }

    /// Whether the class upgrades contexts itself.
    public boolean upgrades() {
        try {
            return processor
                            .getClass()
                            .getMethod("upgrade", int.class, Stored.class)
                            .getDeclaringClass()
                    != Processor.class;
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("Every Processor has upgrade", e);
        }
    }

    /// A type of rows that is not declared.
    public RowType rowType(int table, Class<? extends Record> row) {
        return new RowType(processing.tables().get(table), row, keyNames);
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
        Declared type = declared[table];
        return type == null ? null : type.type;
    }

    /// The declared type of a table's rows for a row; `null` if it is not declared.
    ///
    /// @throws ShapeException if the row is of another class
    public @Nullable RowType declared(int table, Class<? extends Record> row) {
        Declared type = declared[table];
        if (type == null) {
            return null;
        }
        if (type.row != row) {
            throw new ShapeException("Table " + processing.tables().get(table).name() + " has rows of "
                    + type.row.getName() + ", and a " + row.getName() + " was put into it");
        }
        return type.type;
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
