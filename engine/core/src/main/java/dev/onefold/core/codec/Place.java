package dev.onefold.core.codec;

/// The place of a type in a record's class, for messages.
///
/// @param path names joined by dots, with `[]` behind that of a list for its items; empty for the record itself
record Place(Class<?> record, String path) {
    Place component(String name) {
        return new Place(record, path.isEmpty() ? name : path + "." + name);
    }

    Place items() {
        return new Place(record, path + "[]");
    }

    /// @param wrong the rest of the message, after the component's name
    ShapeException refused(String wrong) {
        return new ShapeException(record.getName() + ": " + subject() + " " + wrong);
    }

    ShapeException refused(String wrong, Throwable cause) {
        return new ShapeException(record.getName() + ": " + subject() + " " + wrong, cause);
    }

    private String subject() {
        return path.isEmpty() ? "the record" : "component " + path;
    }
}
