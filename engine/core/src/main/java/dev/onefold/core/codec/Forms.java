package dev.onefold.core.codec;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.pipeline.Type.Scalar;
import dev.onefold.process.Field;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/// Finds the forms of a record's components, and refuses a type that cannot be stored. It is not thread-safe.
final class Forms {
    /// Components of a record, those of the records in it included.
    static final int COMPONENTS_MAX = 200;

    private static final Map<Class<?>, Scalar> SCALARS = Map.ofEntries(
            Map.entry(boolean.class, Scalar.BOOLEAN),
            Map.entry(int.class, Scalar.INT),
            Map.entry(long.class, Scalar.LONG),
            Map.entry(BigDecimal.class, Scalar.DECIMAL),
            Map.entry(String.class, Scalar.TEXT),
            Map.entry(Instant.class, Scalar.TIME),
            Map.entry(LocalDate.class, Scalar.DATE),
            Map.entry(Duration.class, Scalar.DURATION));
    /// How the values of primitive types are named as type arguments.
    private static final Map<Class<?>, Class<?>> BOXED =
            Map.of(Boolean.class, boolean.class, Integer.class, int.class, Long.class, long.class);

    private static final String POSSIBLE = "boolean, int, long, BigDecimal, String, Instant, LocalDate, Duration, an"
            + " enum, Optional, List or a record of these";

    private final Deque<Class<?>> open = new ArrayDeque<>();
    private int components;

    private Forms() {}

    static RecordForm of(Class<?> record) {
        return new Forms().record(record, new Place(record, ""));
    }

    private RecordForm record(Class<?> record, Place place) {
        if (!record.isRecord()) {
            throw place.refused("is not a record");
        }
        if (record.getTypeParameters().length > 0) {
            throw place.refused("is of the generic record " + record.getName()
                    + "; write a record with the types that it is used for");
        }
        if (open.contains(record)) {
            throw place.refused("is a " + record.getName() + " within another one; a record cannot contain itself");
        }
        if (open.size() == Limits.NESTING_MAX) {
            throw place.refused("is nested too deep; at most " + Limits.NESTING_MAX + " levels are possible");
        }
        open.push(record);
        MethodHandles.Lookup lookup = lookup(record, place);
        List<Part> parts = new ArrayList<>();
        for (RecordComponent component : record.getRecordComponents()) {
            parts.add(part(component, place, lookup));
        }
        open.pop();
        try {
            MethodHandle constructor = lookup.findConstructor(
                    record,
                    MethodType.methodType(
                            void.class,
                            Arrays.stream(record.getRecordComponents())
                                    .map(RecordComponent::getType)
                                    .toArray(Class<?>[]::new)));
            return new RecordForm(place, parts, Slots.maker(constructor));
        } catch (ReflectiveOperationException hidden) {
            throw hidden(record, place, hidden);
        }
    }

    private Part part(RecordComponent component, Place place, MethodHandles.Lookup lookup) {
        Field field = component.getAnnotation(Field.class);
        FieldPath path = field == null
                ? FieldPath.of(component.getName())
                : FieldPath.read(field.value())
                        .orElseThrow(() -> place.component(component.getName())
                                .refused("has @Field(\"" + field.value()
                                        + "\"), which is not the path of a field; a name with"
                                        + " a dot or a space is in double quotes"));
        Place here = place.component(path.toString());
        components++;
        if (components > COMPONENTS_MAX) {
            throw here.refused("is one too many; a record has at most " + COMPONENTS_MAX
                    + " components, those of records in it included");
        }
        Form form = form(component.getGenericType(), here, false);
        try {
            return new Part(path, form, component.getType(), lookup.unreflect(component.getAccessor()));
        } catch (IllegalAccessException hidden) {
            throw hidden(component.getDeclaringRecord(), place, hidden);
        }
    }

    private Form form(java.lang.reflect.Type type, Place place, boolean argument) {
        if (type instanceof ParameterizedType generic) {
            if (generic.getRawType() == Optional.class) {
                Form inner = form(generic.getActualTypeArguments()[0], place, true);
                if (inner instanceof Form.Maybe) {
                    throw place.refused("is an Optional of an Optional; use one");
                }
                return new Form.Maybe(place, inner);
            }
            if (generic.getRawType() == List.class) {
                return new Form.Items(place, form(generic.getActualTypeArguments()[0], place.items(), true));
            }
            return form(generic.getRawType(), place, argument);
        }
        if (!(type instanceof Class<?> named)) {
            throw place.refused(
                    "is of the type " + type.getTypeName() + ", which is not known before it runs; use " + POSSIBLE);
        }
        Scalar scalar = SCALARS.get(argument ? BOXED.getOrDefault(named, named) : named);
        if (scalar != null) {
            return new ScalarForm(place, scalar);
        }
        if (named.isRecord()) {
            return record(named, place);
        }
        if (named.isEnum()) {
            return names(named, place);
        }
        throw refused(named, place);
    }

    private static Form names(Class<?> type, Place place) {
        Enum<?>[] constants = (Enum<?>[]) type.getEnumConstants();
        if (constants.length == 0) {
            throw place.refused("is of the enum " + type.getName() + ", which has no constants");
        }
        return new Form.Names(
                place,
                new Type.Enumeration(Stream.of(constants).map(Enum::name).toList()),
                constants,
                Stream.of(constants)
                        .map(constant -> new BytesOut().text(constant.name()).toBytes())
                        .toArray(byte[][]::new));
    }

    private static ShapeException refused(Class<?> type, Place place) {
        if (type == double.class || type == float.class || type == Double.class || type == Float.class) {
            return place.refused((type == double.class || type == float.class ? "is a " : "is of the class ")
                    + type.getSimpleName() + "; use BigDecimal: binary floating point is not exact");
        }
        Class<?> primitive = BOXED.get(type);
        if (primitive != null) {
            return place.refused("is of the class " + type.getSimpleName() + ", which may be null; use " + primitive
                    + ", or Optional<" + type.getSimpleName() + ">");
        }
        if (type == List.class || type == Optional.class) {
            return place.refused("is a " + type.getSimpleName() + " without the type of what is in it; write "
                    + type.getSimpleName() + "<String>, for example");
        }
        if (Map.class.isAssignableFrom(type)) {
            return place.refused("is a " + type.getSimpleName() + "; use a List of records with a key and a value");
        }
        if (Collection.class.isAssignableFrom(type) || type.isArray()) {
            return place.refused("is of the type " + type.getSimpleName() + "; use List");
        }
        return place.refused("is of the type " + type.getTypeName() + "; use " + POSSIBLE);
    }

    /// The lookup that may read the accessors and the constructor of a record.
    private static MethodHandles.Lookup lookup(Class<?> record, Place place) {
        if (!Modifier.isPublic(record.getModifiers())) {
            throw place.refused("is of the record " + record.getName() + ", which is not public; make it public");
        }
        Module module = Forms.class.getModule();
        if (!record.getModule().isExported(record.getPackageName(), module)) {
            throw place.refused("is of the record " + record.getName() + ", whose package is not exported; write"
                    + " 'exports " + record.getPackageName() + ";' into the module "
                    + record.getModule().getName());
        }
        module.addReads(record.getModule());
        try {
            // A lookup of the record's own loader: with ours, the JVM would never let a second loader define a class of
            // the same name, such as that of the function's next version.
            return MethodHandles.privateLookupIn(record, MethodHandles.lookup());
        } catch (IllegalAccessException notOpened) { // It is in a named module, which has one loader.
            return MethodHandles.lookup();
        }
    }

    private static ShapeException hidden(Class<?> record, Place place, ReflectiveOperationException cause) {
        return place.refused(
                "is of the record " + record.getName() + ", whose constructor and accessors cannot be called: " + cause,
                cause);
    }
}
