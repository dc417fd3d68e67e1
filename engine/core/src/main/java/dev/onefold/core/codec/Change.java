package dev.onefold.core.codec;

import dev.onefold.core.pipeline.Type;

/// How a component of a stored record differs from the one that is wanted. Its text is one line.
public sealed interface Change {
    /// The component: names joined by dots, with `[]` behind that of a list for its items.
    String component();

    /// It was not there; it gets the value that it has in the defaults, or none.
    record Added(String component, Type type) implements Change {
        @Override
        public String toString() {
            return "component " + component + " is new: " + type;
        }
    }

    /// It is gone, and its stored value is dropped.
    record Removed(String component, Type type) implements Change {
        @Override
        public String toString() {
            return "component " + component + " is gone: " + type;
        }
    }

    /// Its type holds all that the stored one held.
    record Widened(String component, Type from, Type to) implements Change {
        @Override
        public String toString() {
            return "component " + component + " is widened from " + from + " to " + to;
        }
    }

    /// The stored component cannot be read as the wanted type.
    record Refused(String component, Type from, Type to) implements Change {
        @Override
        public String toString() {
            return "component " + component + " is stored as " + from + ", and " + to + " is wanted";
        }
    }

    /// It was not there, and its value is not known.
    record Undefined(String component, Type type) implements Change {
        @Override
        public String toString() {
            return "component " + component + " is new, and nothing says its value in what is stored: " + type
                    + "; make it an Optional";
        }
    }
}
