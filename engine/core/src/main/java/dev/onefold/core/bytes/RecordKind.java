package dev.onefold.core.bytes;

/// The kind of a record, known from the way it came in. The record itself does not say it: only a seeding or a
/// repair brings rows.
public enum RecordKind {
    /// A record of the input, as people and programs send it.
    SENT(0),

    /// A row, or the removal of one, in the form of [dev.onefold.core.form.RowLine].
    ROW(1),

    /// A record that was stored before kinds were noted: a row, if it has that form.
    UNMARKED(2);

    private final int code;

    RecordKind(int code) {
        this.code = code;
    }

    /// A number that is kept with the record.
    public int code() {
        return code;
    }

    /// @throws IllegalArgumentException if no kind has this code
    public static RecordKind of(int code) {
        for (RecordKind each : values()) {
            if (each.code == code) {
                return each;
            }
        }
        throw new IllegalArgumentException("A record has the kind " + code);
    }
}
