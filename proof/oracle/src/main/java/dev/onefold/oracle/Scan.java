package dev.onefold.oracle;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;

/// Reads the small language of pipeline files, character by character: paths, quoted texts, words and numbers.
final class Scan {
    private static final String ENDS_A_NAME = " \t\n.,()\"'=!<>*";

    private final String text;
    private int position;

    Scan(String text) {
        this.text = text;
    }

    boolean atEnd() {
        skipSpace();
        return position == text.length();
    }

    void expectEnd() {
        if (!atEnd()) {
            throw wrong("nothing more");
        }
    }

    /// Takes a sign if it is next.
    boolean take(String sign) {
        skipSpace();
        if (!text.startsWith(sign, position)) {
            return false;
        }
        position += sign.length();
        return true;
    }

    void expect(String sign) {
        if (!take(sign)) {
            throw wrong("'" + sign + "'");
        }
    }

    /// Takes an unquoted word if it is next and stands alone.
    boolean takeWord(String word) {
        skipSpace();
        int start = position;
        if (bare().equals(word)) {
            return true;
        }
        position = start;
        return false;
    }

    /// Whether a word with an opening parenthesis is next.
    boolean isCallNext() {
        skipSpace();
        int start = position;
        boolean call = !run("[A-Za-z]").isEmpty() && take("(");
        position = start;
        return call;
    }

    /// Takes the characters of this class that are next.
    String run(String characters) {
        skipSpace();
        int start = position;
        while (position < text.length() && String.valueOf(text.charAt(position)).matches(characters)) {
            position++;
        }
        return text.substring(start, position);
    }

    /// Takes a function's name with its opening parenthesis if it is next.
    boolean takeFunction(String name) {
        skipSpace();
        int start = position;
        if (takeWord(name) && take("(")) {
            return true;
        }
        position = start;
        return false;
    }

    /// Names from the top of the record.
    List<String> path() {
        List<String> names = new ArrayList<>();
        do {
            skipSpace();
            String name = peek() == '"' ? quoted() : bare();
            if (name.isEmpty() && text.charAt(position - 1) != '"') {
                throw wrong("the name of a field");
            }
            names.add(name);
        } while (position < text.length() && text.charAt(position) == '.' && take("."));
        return names;
    }

    boolean isNumberNext() {
        skipSpace();
        return peek() == '-' || peek() >= '0' && peek() <= '9';
    }

    boolean isQuoteNext() {
        skipSpace();
        return peek() == '"' || peek() == '\'';
    }

    /// A text in either quotes; the same quote inside is written twice.
    String quoted() {
        skipSpace();
        char quote = peek();
        if (quote != '"' && quote != '\'') {
            throw wrong("a quoted text");
        }
        StringBuilder content = new StringBuilder();
        for (position++; position < text.length(); position++) {
            char c = text.charAt(position);
            if (c != quote) {
                content.append(c);
            } else if (position + 1 < text.length() && text.charAt(position + 1) == quote) {
                content.append(quote);
                position++;
            } else {
                position++;
                return content.toString();
            }
        }
        throw wrong("a closing quote");
    }

    /// Anything up to a space, a comma or a parenthesis.
    String word() {
        skipSpace();
        int start = position;
        while (position < text.length() && " \t\n,()".indexOf(text.charAt(position)) < 0) {
            position++;
        }
        if (start == position) {
            throw wrong("a word");
        }
        return text.substring(start, position);
    }

    BigDecimal number() {
        int start = position;
        String word = word();
        try {
            return new BigDecimal(word);
        } catch (NumberFormatException notOne) {
            position = start;
            throw wrong("a number");
        }
    }

    int integer() {
        return number().intValueExact();
    }

    private String bare() {
        int start = position;
        while (position < text.length() && ENDS_A_NAME.indexOf(text.charAt(position)) < 0) {
            position++;
        }
        return text.substring(start, position);
    }

    private char peek() {
        return position < text.length() ? text.charAt(position) : '\0';
    }

    private void skipSpace() {
        while (position < text.length() && " \t\n".indexOf(text.charAt(position)) >= 0) {
            position++;
        }
    }

    private IllegalArgumentException wrong(String wanted) {
        return new IllegalArgumentException(
                "In the pipeline's '" + text + "' at character " + (position + 1) + " " + wanted + " is expected.");
    }
}
