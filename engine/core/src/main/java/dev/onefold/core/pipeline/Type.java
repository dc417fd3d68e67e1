package dev.onefold.core.pipeline;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/// The type of a component of a context, an event or a table's row, as data: without the Java class that it was
/// read from. Its text is one line, such as `{metres: long, at: time?, laps: [duration], mode: (WALK|RUN)}`.
public sealed interface Type {
    /// One value.
    enum Scalar implements Type {
        BOOLEAN,
        INT,
        LONG,
        /// Of at most 38 digits.
        DECIMAL,
        TEXT,
        /// A point in time, up to nanoseconds.
        TIME,
        DATE,
        DURATION;

        /// The scalar of this word.
        public static Optional<Scalar> of(String word) {
            return Arrays.stream(values())
                    .filter(scalar -> scalar.toString().equals(word))
                    .findFirst();
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// One of some names.
    record Enumeration(List<String> names) implements Type {
        public Enumeration {
            names = List.copyOf(names);
        }

        @Override
        public String toString() {
            return names.stream().collect(Collectors.joining("|", "(", ")"));
        }
    }

    /// A value, or none.
    record Maybe(Type type) implements Type {
        @Override
        public String toString() {
            return type + "?";
        }
    }

    /// Any number of values.
    record Items(Type type) implements Type {
        @Override
        public String toString() {
            return "[" + type + "]";
        }
    }

    /// A record's components, in their order.
    record Fields(List<Component> components) implements Type {
        public Fields {
            components = List.copyOf(components);
        }

        /// The component that is stored under a name.
        public Optional<Component> named(String name) {
            return components.stream()
                    .filter(component -> component.name().equals(name))
                    .findFirst();
        }

        @Override
        public String toString() {
            return components.stream()
                    .map(component -> component.path() + ": " + component.type())
                    .collect(Collectors.joining(", ", "{", "}"));
        }
    }

    /// A component of a record.
    ///
    /// @param path of an event's component: the path of its field in the record; else one name
    record Component(FieldPath path, Type type) {
        /// The name under which it is stored.
        public String name() {
            return path.toString();
        }
    }
}
