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
    /// Nanoseconds since 1970, a point, and a counter of ten digits, which orders versions and is no part of
    /// the time.
    HLC("hlc"),
    /// A UUID of version 7 (RFC 9562): its milliseconds are the time, and all its bits order versions.
    UUID7("uuid7"),
    /// As a UUID of version 7, in the 26 letters and digits of ULID.
    ULID("ulid"),
    /// As spreadsheets write it: day, month and year, perhaps with a time; in the zone of the input.
    DMY("dmy"),
    /// Likewise, with the month in front.
    MDY("mdy");

    private final String word;

    TimeType(String word) {
        this.word = word;
    }

    /// Whether times that are equal have an order: a version is a number then, of which the time is a part.
    public boolean ordersEqualTimes() {
        return this == HLC || isId();
    }

    /// Whether it is always a text.
    public boolean isText() {
        return isId() || mayBeLocal();
    }

    /// Whether it is a text that may be a time without an offset, in the zone of the input.
    public boolean mayBeLocal() {
        return this == ISO || this == DMY || this == MDY;
    }

    /// Whether it is a text that tells records apart, with its time in front.
    public boolean isId() {
        return this == UUID7 || this == ULID;
    }

    /// The word for it in a pipeline file.
    public String word() {
        return word;
    }
}
