package dev.onefold.core.grammar;

import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import dev.onefold.core.json.NearestWord;
import dev.onefold.core.json.Refusal;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads the small language inside a text from left to right. A grammar takes the tokens that it needs. Where
/// it finds another token, it throws the result of [#refuse(String, String)]: the first error in a text ends
/// its reading, at its exact column. Not thread-safe.
final class Expression {
    /// The most digits of a number, without leading zeros.
    private static final int NUMBER_DIGITS_MAX = 28;

    private static final Pattern NUMBER = Pattern.compile("-?[0-9]+(\\.[0-9]+)?");
    private static final Pattern WHOLE_NUMBER = Pattern.compile("[0-9]{1,9}");
    private static final Pattern DURATION = Pattern.compile("[0-9]{1,11}[smhd]");
    private static final int NUMBER_LENGTH_MAX = 100;
    private static final String ARITHMETIC = "*/+%";
    private static final String NO_ARITHMETIC =
            "there is no arithmetic here: name one field, which 'let' under input may derive, as in 'net: gross - tax'";
    private static final String PRODUCTS_ALONE = "numbers are multiplied only here, as in sum(price * quantity); derive"
            + " others with 'let' under input, as in 'net: gross - tax'";

    /// The operator that may join fields.
    static final String TIMES = "*";

    /// Those that may follow a field of a derived one directly.
    static final String OPERATORS = "*+/";

    private final Node.Scalar scalar;
    private final String text;
    private final String path;
    private int offset;

    private Expression(Node.Scalar scalar, String path) {
        this.scalar = scalar;
        this.text = scalar.text();
        this.path = path;
    }

    /// Reads a text by a grammar. If the text is wrong, notes the problem and returns `null`.
    ///
    /// @param path place of the text in the document's structure
    static <T> @Nullable T read(Node.Scalar scalar, String path, Problems problems, Function<Expression, T> grammar) {
        Expression expression = new Expression(scalar, path);
        return Refusal.read(problems, () -> {
            expression.refuseBrokenText();
            return grammar.apply(expression);
        });
    }

    /// Takes the whole text as it is.
    String whole() {
        offset = text.length();
        return text;
    }

    /// The offset of the next token.
    int offset() {
        skipSpace();
        return offset;
    }

    /// Goes back to where [#offset()] was.
    void back(int toOffset) {
        offset = toOffset;
    }

    /// The refusal of the text at this point.
    Refusal refuse(String wrong, String right) {
        skipSpace();
        if (!atEnd()) {
            return refuse(offset, token(), wrong, right);
        }
        return text.isBlank()
                ? refuse(0, "", "is empty", right)
                : refuse(offset, text, "ends too early", right + unclosedAdvice());
    }

    /// The refusal of the text that was read since `start`.
    Refusal refuseFrom(int start, String wrong, String right) {
        return refuse(start, text.substring(start, offset), wrong, right);
    }

    private Refusal refuse(int at, String value, String wrong, String right) {
        return new Refusal(new Problem(scalar.at(at), path, value, wrong, right));
    }

    /// Refuses a rest of the text.
    void end(String right) {
        skipSpace();
        if (!atEnd()) {
            throw refuse("is unexpected", right);
        }
    }

    /// Takes the character if it is next.
    boolean take(char wanted) {
        skipSpace();
        if (offset < text.length() && text.charAt(offset) == wanted) {
            offset++;
            return true;
        }
        return false;
    }

    /// Takes the character, which must be next.
    void expect(char wanted, String right) {
        if (!take(wanted)) {
            throw refuse("is unexpected, expected '" + wanted + "'", right);
        }
    }

    /// Takes the word if it is next, alone: not as the beginning of a path.
    boolean takeWord(String wanted) {
        int start = offset;
        if (word().equals(wanted) && !(offset < text.length() && text.charAt(offset) == '.')) {
            return true;
        }
        offset = start;
        return false;
    }

    /// Whether one of these characters is next.
    boolean isNext(String characters) {
        skipSpace();
        return !atEnd() && characters.indexOf(text.charAt(offset)) >= 0;
    }

    /// Whether the word is next, as [#takeWord] takes it.
    boolean isNextWord(String wanted) {
        int start = offset;
        boolean next = takeWord(wanted);
        offset = start;
        return next;
    }

    /// Takes the letters, digits, `_`, `-` and `@` that are next; may be none.
    String word() {
        skipSpace();
        return plain();
    }

    /// Takes the text up to the next space, comma or parenthesis; may be none.
    String argument() {
        skipSpace();
        int start = offset;
        while (offset < text.length() && !isSpace(offset) && ",()".indexOf(text.charAt(offset)) < 0) {
            offset++;
        }
        return text.substring(start, offset);
    }

    /// Takes one of these words, which must be next.
    String oneOf(List<String> words, String wrong) {
        int start = offset();
        String word = word();
        if (word.isEmpty()) {
            throw refuse(wrong, "write " + NearestWord.oneOf(words));
        }
        if (!words.contains(word)) {
            throw refuseFrom(start, wrong, NearestWord.advice(word, words));
        }
        return word;
    }

    /// Takes the next of these characters; may be none.
    String run(String characters) {
        skipSpace();
        int start = offset;
        while (offset < text.length() && characters.indexOf(text.charAt(offset)) >= 0) {
            offset++;
        }
        return text.substring(start, offset);
    }

    /// Takes a path of names joined by dots; a name with other characters than [#word()] takes is in double
    /// quotes.
    ///
    /// @param operators characters that may follow a name directly
    List<String> names(String operators) {
        skipSpace();
        List<String> names = new ArrayList<>();
        names.add(name(operators));
        while (offset < text.length() && text.charAt(offset) == '.') {
            offset++;
            names.add(name(operators));
        }
        return names;
    }

    private String name(String operators) {
        int start = offset;
        if (offset < text.length() && text.charAt(offset) == '"') {
            return quoted();
        }
        String name = plain();
        int plainEnd = offset;
        String ends = ".,()=!<>\"'" + operators;
        while (offset < text.length() && !isSpace(offset) && ends.indexOf(text.charAt(offset)) < 0) {
            offset++;
        }
        if (offset > plainEnd) {
            throw noName(start, text.substring(start, offset), operators);
        }
        if (name.isEmpty() && offset < text.length() && text.charAt(offset) == '\'') {
            throw refuse("is not a name", "names are in double quotes, or in none");
        }
        if (name.isEmpty() && offset < text.length()) {
            throw refuse(
                    "is unexpected, expected the name of a field", "write a path like Order.Total or \"unit.price\"");
        }
        if (name.isEmpty()) {
            throw refuse("", "write the name of a field");
        }
        return name;
    }

    private static String noArithmetic(String operators) {
        return operators.isEmpty()
                ? NO_ARITHMETIC
                : operators.equals(TIMES) ? PRODUCTS_ALONE : "derived fields have +, -, * and divide(a, b, 2)";
    }

    private Refusal noName(int start, String whole, String operators) {
        if (whole.indexOf('[') >= 0) {
            return refuse(
                    start,
                    whole,
                    "is an element of an array, and arrays are not addressed",
                    "split the record beforehand, into one for each element");
        }
        return whole.chars().anyMatch(c -> ARITHMETIC.indexOf(c) >= 0)
                ? refuse(
                        start,
                        whole,
                        "is not a field name",
                        noArithmetic(operators) + "; a field that has just this name: " + innerQuotes(whole))
                : refuse(start, whole, "must be in quotes to be a name", "write " + innerQuotes(whole));
    }

    /// The text is refused if an operator is next.
    ///
    /// @param operators those that could have been here
    void refuseArithmetic(String operators) {
        skipSpace();
        if (!atEnd() && (ARITHMETIC + "-").indexOf(text.charAt(offset)) >= 0) {
            throw refuse("is arithmetic", noArithmetic(operators));
        }
    }

    /// How to name a field whose name is not a plain word. YAML takes the outer quotes away.
    String nameAdvice() {
        return "a name with a space is in double quotes, inside those of YAML: "
                + innerQuotes(isPlainWords() ? text.strip() : "Order No.");
    }

    /// Whether the text has neither quotes nor parentheses: it may be a name with spaces that lost its quotes.
    boolean isPlainWords() {
        return text.strip().indexOf(' ') > 0 && text.chars().noneMatch(c -> "\"'()".indexOf(c) >= 0);
    }

    private static String innerQuotes(String name) {
        return "'\"" + name + "\"'";
    }

    /// Takes a text in double or single quotes, in which the same quote is written twice; null when no quote is
    /// next.
    @Nullable
    String quotedText() {
        skipSpace();
        return offset < text.length() && (text.charAt(offset) == '"' || text.charAt(offset) == '\'') ? quoted() : null;
    }

    private String quoted() {
        int start = offset;
        char quote = text.charAt(offset++);
        StringBuilder content = new StringBuilder();
        while (offset < text.length()) {
            char next = text.charAt(offset++);
            if (next != quote) {
                content.append(next);
            } else if (offset < text.length() && text.charAt(offset) == quote) {
                content.append(quote);
                offset++;
            } else {
                return content.toString();
            }
        }
        throw refuseFrom(start, "has no closing quote", "end it with " + quote + unclosedAdvice());
    }

    /// Takes a decimal like `-100.50`, without its trailing zeros; null when no number is next.
    @Nullable
    BigDecimal number() {
        int start = offset();
        if (!numberIsNext()) {
            return null;
        }
        String digits = numberRun();
        if (digits.length() > NUMBER_LENGTH_MAX || !NUMBER.matcher(digits).matches()) {
            throw refuseFrom(
                    start,
                    "is not a plain number",
                    "write it with digits, '-' and '.' alone, like -12.50, at most " + NUMBER_DIGITS_MAX + " digits");
        }
        BigDecimal number = new BigDecimal(digits).stripTrailingZeros();
        int before = Math.max(0, number.precision() - number.scale());
        if (before + Math.max(0, number.scale()) > NUMBER_DIGITS_MAX) {
            throw refuseFrom(start, "has too many digits", "at most " + NUMBER_DIGITS_MAX + " are possible");
        }
        return number;
    }

    /// Takes a whole number within these bounds, which are not negative.
    int wholeNumber(int min, int max) {
        int start = offset();
        String right = String.format(Locale.ROOT, "write a whole number from %,d to %,d", min, max);
        if (!numberIsNext()) {
            throw refuse("is not a number", right);
        }
        String digits = numberRun();
        int number = WHOLE_NUMBER.matcher(digits).matches() ? Integer.parseInt(digits) : -1;
        if (number < min || number > max) {
            throw refuseFrom(start, "is not possible here", right);
        }
        return number;
    }

    /// Takes a time span of whole seconds, like `90s`, `15m`, `1h` or `7d`, of at most `daysMax` days.
    Duration duration(int daysMax) {
        int start = offset();
        String span = numberRun();
        String right = String.format(Locale.ROOT, "write a number and s, m, h or d, like 15m, from 1s to %dd", daysMax);
        if (!DURATION.matcher(span).matches()) {
            throw span.isEmpty() ? refuse("is not a time span", right) : refuseFrom(start, "is not a time span", right);
        }
        int unit = span.length() - 1;
        long secondsEach = switch (span.charAt(unit)) {
            case 's' -> 1;
            case 'm' -> 60;
            case 'h' -> 3_600;
            default -> 86_400;
        };
        Duration duration = Duration.ofSeconds(Long.parseLong(span, 0, unit, 10) * secondsEach);
        if (duration.isZero() || duration.compareTo(Duration.ofDays(daysMax)) > 0) {
            throw refuseFrom(start, "is not possible", right);
        }
        return duration;
    }

    /// The next token, for a message: a single sign, or the text up to the next space or sign.
    private String token() {
        int end = offset + Character.charCount(text.codePointAt(offset));
        boolean isSign = ",()".indexOf(text.charAt(offset)) >= 0;
        while (!isSign && end < text.length() && !isSpace(end) && ",()".indexOf(text.charAt(end)) < 0) {
            end++;
        }
        return text.substring(offset, end);
    }

    private boolean numberIsNext() {
        return offset < text.length() && "+-.0123456789".indexOf(text.charAt(offset)) >= 0;
    }

    private String numberRun() {
        int start = offset;
        while (offset < text.length() && (isPlain(text.charAt(offset)) || "+.".indexOf(text.charAt(offset)) >= 0)) {
            offset++;
        }
        return text.substring(start, offset);
    }

    private String plain() {
        int start = offset;
        while (offset < text.length() && isPlain(text.charAt(offset))) {
            offset++;
        }
        return text.substring(start, offset);
    }

    private static boolean isPlain(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '-' || c == '@';
    }

    private boolean isSpace(int at) {
        return Character.isWhitespace(text.charAt(at));
    }

    private void skipSpace() {
        while (offset < text.length() && isSpace(offset)) {
            offset++;
        }
    }

    private boolean atEnd() {
        return offset == text.length();
    }

    /// In YAML's flow style a comma ends a text that has no quotes, which is the likely reason for a
    /// parenthesis left open.
    private String unclosedAdvice() {
        boolean open = text.lastIndexOf('(') > text.lastIndexOf(')');
        return open && !scalar.quoted()
                ? " (within [ ] and { } a comma ends a text: put the whole text in quotes)"
                : "";
    }

    private void refuseBrokenText() {
        for (int at = 0; at < text.length(); at++) {
            if (Character.isHighSurrogate(text.charAt(at))
                    && at + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(at + 1))) {
                at++;
            } else if (Character.isSurrogate(text.charAt(at))) {
                throw refuse(at, text.substring(at, at + 1), "is half a character", "write both surrogates, or none");
            }
        }
    }
}
