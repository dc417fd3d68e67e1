package dev.onefold.core.process;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.codec.Thrown;
import dev.onefold.process.Processor;
import dev.onefold.process.Stored;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.TypeVariable;
import java.security.CodeSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A function in Java.
final class JavaBody implements FunctionBody {
    private final Processor<Record, Record> processor;

    @SuppressWarnings("unchecked") // Contexts and events are made by the codecs of these very types.
    JavaBody(Processor<?, ?> processor) {
        this.processor = (Processor<Record, Record>) processor;
    }

    /// The object of the class.
    Processor<Record, Record> processor() {
        return processor;
    }

    @SuppressWarnings("unchecked") // It encodes records of this class only: it is looked up by the class.
    static Codec<Record> codec(Class<? extends Record> type) {
        return (Codec<Record>) Codec.of(type);
    }

    @Override
    public String name() {
        return "Class " + processor.getClass().getName();
    }

    @Override
    public String tablesWord() {
        return "tables()";
    }

    @Override
    public Codec<Record> context() {
        return codec(argument(processor.getClass(), 0));
    }

    @Override
    public Codec<Record> event() {
        return codec(argument(processor.getClass(), 1));
    }

    @Override
    public Map<String, Codec<Record>> tables() {
        Map<String, Class<? extends Record>> types = called("tables()", processor::tables);
        if (types == null) {
            throw new ShapeException("tables() returns null");
        }
        Map<String, Codec<Record>> codecs = new TreeMap<>();
        types.forEach((name, type) -> codecs.put(name, codec(type)));
        return codecs;
    }

    @Override
    public Record start() {
        Record first = called("start()", processor::start);
        if (first == null) {
            throw new ShapeException("start() returns null; let it return the context of a key without events");
        }
        return first;
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

    @Override
    public FunctionBody renewed() {
        try {
            return new JavaBody(processor.getClass().getConstructor().newInstance());
        } catch (ReflectiveOperationException e) {
            return this;
        }
    }

    @Override
    public void release() {}

    @Override
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

    @Override
    public Optional<CodeSource> source() {
        return Optional.ofNullable(processor.getClass().getProtectionDomain().getCodeSource());
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
}
