package dev.onefold.core.pipeline;

/// The form of an instant in a field. `AUTO`: text is ISO-8601, a number is epoch seconds.
public enum TimeType {
    AUTO("auto"),
    ISO("iso"),
    /// A day is its first instant.
    EPOCH_DAYS("epoch-days"),
    EPOCH_SECONDS("epoch-seconds"),
    EPOCH_MILLIS("epoch-millis"),
    EPOCH_MICROS("epoch-micros"),
    EPOCH_NANOS("epoch-nanos"),
    /// Nanoseconds since 1970, a point, and a counter of ten digits, which orders versions and is no part of the time.
    HLC("hlc");

    private final String word;

    TimeType(String word) {
        this.word = word;
    }

    /// The word for it in a pipeline file.
    public String word() {
        return word;
    }
}
