package dev.onefold.core.document;

/// One error in a document. All its texts are printable and short, for any content of the document.
///
/// @param path where in the document's structure, like `input.version`; empty for the document itself
/// @param value the value at the place, shortened; empty if there is none, or if it is not a single text
/// @param wrong the error, as the rest of a sentence that begins with the value: `is not a field`
/// @param right advice: a right value
public record Problem(TextPlace place, String path, String value, String wrong, String right) {
    private static final int PATH_LENGTH_MAX = 160;
    private static final int VALUE_LENGTH_MAX = 60;
    private static final int TEXT_LENGTH_MAX = 600;

    public Problem {
        path = visible(path, PATH_LENGTH_MAX);
        value = visible(value, VALUE_LENGTH_MAX);
        wrong = visible(wrong, TEXT_LENGTH_MAX);
        right = visible(right, TEXT_LENGTH_MAX);
    }

    public int line() {
        return place.line();
    }

    public int column() {
        return place.column();
    }

    /// The problem in one line, without its place.
    public String message() {
        return (path.isEmpty() ? "" : path + ": ") + (value.isEmpty() ? "" : "'" + value + "' ") + wrong + "; " + right;
    }

    @Override
    public String toString() {
        return place + ": " + message();
    }

    /// The text without characters that a terminal would obey or hide, cut to `lengthMax` characters; `…`
    /// replaces the rest.
    public static String visible(String text, int lengthMax) {
        StringBuilder visible = new StringBuilder();
        for (int offset = 0; offset < text.length(); ) {
            int codePoint = text.codePointAt(offset);
            String shown = shown(codePoint);
            if (visible.length() + shown.length() > lengthMax) {
                return visible.append('…').toString();
            }
            visible.append(shown);
            offset += Character.charCount(codePoint);
        }
        return visible.toString();
    }

    private static String shown(int codePoint) {
        return switch (codePoint) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default ->
                switch (Character.getType(codePoint)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.SURROGATE,
                            Character.UNASSIGNED,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR -> String.format("\\u%04x", codePoint);
                    default -> Character.toString(codePoint);
                };
        };
    }
}
