package dev.onefold.fakes.aws.expression;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.item.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// An expression, cut into words, placeholders, indices and signs, and read from left to right.
final class Tokens {
    private static final int EXPRESSION_BYTES_MAX = 4_096;
    private static final Pattern TOKEN = Pattern.compile("\\s*([#:]?[A-Za-z0-9_]+|<>|<=|>=|[=<>(),.+\\-\\[\\]])\\s*");

    private final String kind;
    private final List<String> tokens = new ArrayList<>();
    private int at;

    /// @param kind what kind of expression it is, for messages
    Tokens(String kind, String text) {
        this.kind = kind;
        if (text.isBlank()) {
            throw invalid("Invalid %s: The expression can not be empty;".formatted(kind));
        }
        if (Values.utf8(text).length > EXPRESSION_BYTES_MAX) {
            throw refused("Expression size has exceeded the maximum allowed size");
        }
        Matcher matcher = TOKEN.matcher(text);
        int end = 0;
        while (end < text.length()) {
            if (!matcher.find(end) || matcher.start() != end) {
                throw refused("Syntax error; token: \"" + text.charAt(end) + "\"");
            }
            tokens.add(matcher.group(1));
            end = matcher.end();
        }
    }

    /// The next token, or an empty text at the end.
    String peek() {
        return peek(0);
    }

    String peek(int ahead) {
        return at + ahead < tokens.size() ? tokens.get(at + ahead) : "";
    }

    String next() {
        String token = peek();
        if (token.isEmpty()) {
            throw unexpected();
        }
        at++;
        return token;
    }

    /// Takes a sign or a word, in small or capital letters, if it is next.
    boolean take(String token) {
        if (peek().equalsIgnoreCase(token)) {
            at++;
            return true;
        }
        return false;
    }

    void expect(String token) {
        if (!take(token)) {
            throw unexpected();
        }
    }

    boolean isAtEnd() {
        return at == tokens.size();
    }

    void expectEnd() {
        if (!isAtEnd()) {
            throw unexpected();
        }
    }

    /// Whether the parenthesis just taken has another directly within it, around all that it holds.
    boolean isWrappedTwice() {
        return peek().equals("(") && peek(close(at) - at + 1).equals(")");
    }

    private int close(int open) {
        int depth = 0;
        for (int i = open; i < tokens.size(); i++) {
            depth += tokens.get(i).equals("(") ? 1 : tokens.get(i).equals(")") ? -1 : 0;
            if (depth == 0) {
                return i;
            }
        }
        throw unexpected();
    }

    RuntimeException unexpected() {
        return refused("Syntax error; token: \"" + (isAtEnd() ? "<EOF>" : peek()) + "\"");
    }

    RuntimeException refused(String message) {
        return invalid("Invalid %s: %s".formatted(kind, message));
    }
}
