package dev.onefold.core.document;

/// One thing that is wrong in a document. All its texts are printable and short, whatever the document holds.
///
/// @param path where in the document's structure, like `input.version`; empty for the document itself
/// @param value what stands there, shortened; empty when nothing does, or no single text
/// @param wrong what is wrong with the value; reads on from it, as in `is no field`
/// @param right what would be right
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

    /// The whole of it in one line, but for the place.
    public String message() {
        return (path.isEmpty() ? "" : path + ": ") + (value.isEmpty() ? "" : "'" + value + "' ") + wrong + "; " + right;
    }

    @Override
    public String toString() {
        return place + ": " + message();
    }

    /// The text without anything that a terminal would obey or hide, at most so many characters, `…` in place of the
    /// rest.
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
