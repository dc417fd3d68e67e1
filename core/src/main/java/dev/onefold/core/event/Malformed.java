package dev.onefold.core.event;

/// A record that cannot become an event: why, in words that name the field, the value and what would be right.
public record Malformed(Reason reason, String message) {
    /// Longest excerpt of a value in a message; a payload never goes into a log whole.
    private static final int EXCERPT_BYTES_MAX = 40;

    static Malformed syntax(int position, String message) {
        return new Malformed(Reason.MALFORMED, message + " at byte " + position + " of the record");
    }

    static Malformed field(Object field, String message) {
        return new Malformed(Reason.REFUSED, "Field " + field + " " + message);
    }

    static String excerpt(byte[] bytes, int from, int to) {
        int end = Math.min(to, from + EXCERPT_BYTES_MAX);
        StringBuilder text = new StringBuilder("'");
        for (int i = from; i < end; i++) {
            byte b = bytes[i];
            text.append(b >= 0x20 && b < 0x7f ? (char) b : '\uFFFD');
        }
        return text.append(end < to ? "…'" : "'").toString();
    }
}
