package dev.onefold.core.json;

import dev.onefold.core.document.Node;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// How the records of a public class are written as JSON objects, and read again: one description for both ways. It
/// names the members in their order:
///
///     name            a component, or the result of another method, which is written and not read
///     name=method     the same under another name in JSON
///     component*      a record whose members are written among these, without an object of their own
///     name?           is not written if it is null or an empty text, and is read as that if it is missing
///
/// An empty optional value is not written. A reader passes over members that the description does not have. Immutable.
public final class JsonRecord<T extends Record> implements JsonValue<T> {
    private static final Pattern MEMBER = Pattern.compile("(\\w+)(?:=(\\w+))?([*?]?)");

    private final Constructor<T> maker;
    private final List<Member> members;

    private JsonRecord(Constructor<T> maker, List<Member> members) {
        this.maker = maker;
        this.members = members;
    }

    /// Describes the records of a class.
    ///
    /// @param description of the members, with spaces between; empty if they are the components
    /// @param described values in them that are not written as their classes alone say
    /// @throws IllegalArgumentException if a member is not there, or the description does not have each component
    public static <T extends Record> JsonRecord<T> of(Class<T> type, String description, JsonValue<?>... described) {
        RecordComponent[] components = type.getRecordComponents();
        List<String> names = Stream.of(components).map(RecordComponent::getName).toList();
        List<Member> members = new ArrayList<>();
        try {
            for (String word : description.isEmpty() ? names : List.of(description.split(" ", -1))) {
                Matcher parts = MEMBER.matcher(word);
                if (!parts.matches()) {
                    throw new IllegalArgumentException("'" + word + "' does not describe a member of " + type);
                }
                Method method = type.getMethod(parts.group(2) == null ? parts.group(1) : parts.group(2));
                members.add(Member.of(parts, method, names.indexOf(method.getName()), List.of(described)));
            }
            if (members.stream()
                            .map(Member::slot)
                            .filter(slot -> slot >= 0)
                            .distinct()
                            .count()
                    < components.length) {
                throw new IllegalArgumentException("The description of " + type + " does not have each component");
            }
            Class<?>[] types =
                    Stream.of(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
            return new JsonRecord<>(type.getConstructor(types), members);
        } catch (NoSuchMethodException e) {
            throw new IllegalArgumentException("The description of " + type + " names what the record lacks", e);
        }
    }

    @Override
    public Class<T> type() {
        return maker.getDeclaringClass();
    }

    /// The members of a record, in their order.
    @Override
    public Map<String, @Nullable Object> write(T some) {
        Map<String, @Nullable Object> json = new LinkedHashMap<>();
        members.forEach(member -> member.write(some, json));
        return json;
    }

    @Override
    public T read(Node json) {
        @Nullable Object[] values = new Object[maker.getParameterCount()];
        members.stream().filter(member -> member.slot >= 0).forEach(member -> values[member.slot] = member.read(json));
        try {
            return maker.newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("What is read is not a " + maker.getName(), e);
        }
    }

    /// A member of an object, or a record whose members are among those of the object.
    ///
    /// @param method its value
    /// @param slot number of the component; -1 if there is none of this name
    /// @param mark `*`, `?` or empty
    private record Member(String name, Method method, JsonValue<Object> value, int slot, String mark) {
        static Member of(Matcher parts, Method method, int slot, List<JsonValue<?>> described) {
            Type type = method.getGenericReturnType();
            if (type instanceof ParameterizedType optional && optional.getRawType() == Optional.class) {
                type = optional.getActualTypeArguments()[0];
            }
            return new Member(parts.group(1), method, PlainValue.of(type, described), slot, parts.group(3));
        }

        private boolean isOptional() {
            return method.getReturnType() == Optional.class;
        }

        void write(Record of, Map<String, @Nullable Object> json) {
            Object some;
            try {
                some = method.invoke(of);
            } catch (ReflectiveOperationException e) {
                throw new IllegalStateException(e);
            }
            Object inner = some instanceof Optional<?> optional ? optional.orElse(null) : some;
            if (inner == null || mark.equals("?") && inner.equals("")) {
                return;
            }
            Object written = value.write(inner);
            if (mark.equals("*") && written instanceof Map<?, ?> members) {
                members.forEach((member, each) -> json.put(String.valueOf(member), each));
            } else {
                json.put(name, written);
            }
        }

        @Nullable
        Object read(Node json) {
            if (mark.equals("*")) {
                return value.read(json);
            }
            Node found = isOptional() || mark.equals("?") ? json.find(name) : json.get(name);
            Object some = found == null ? null : value.read(found);
            if (isOptional()) {
                return Optional.ofNullable(some);
            }
            return some == null && method.getReturnType() == String.class ? "" : some;
        }
    }

    /// `too large`: the form of a constant.
    public static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }

    /// The constant of this word.
    public static <E extends Enum<E>> E constant(Class<E> type, String word) {
        return Enum.valueOf(type, word.toUpperCase(Locale.ROOT).replace(' ', '_'));
    }
}
