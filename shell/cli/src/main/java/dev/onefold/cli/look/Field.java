package dev.onefold.cli.look;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// One field of a sample: how often it is there, and the kinds and examples of its values. Not thread-safe.
final class Field {
    static final String TEXT = "text";
    static final String INTEGER = "integer";
    static final String DECIMAL = "decimal";
    static final String LOCAL = "decimal with separators";
    static final String TIME = "time";
    static final String DATE = "date of a spreadsheet";
    static final String TRUTH = "true/false";
    static final String LIST = "list";

    private static final Set<String> NULLS = Set.of("NULL", "null", "\\N", "NA", "N/A", "NaN", "None");
    private static final int EXAMPLES = 3;
    private static final int MONTHS = 12;
    private static final int EXAMPLE_LENGTH = 24;
    private static final Pattern INTEGERS = Pattern.compile("-?(0|[1-9][0-9]{0,27})");
    private static final Pattern DECIMALS = Pattern.compile("-?(0|[1-9][0-9]{0,17})\\.[0-9]{1,9}");
    private static final Pattern EXPONENTS =
            Pattern.compile("-?(0|[1-9][0-9]{0,17})(\\.[0-9]{1,9})?[eE][-+]?[0-9]{1,2}");

    private static final Pattern EITHER = Pattern.compile("-?[1-9][0-9]{0,2}[.,][0-9]{3}");
    private static final Pattern COMMA = Pattern.compile("-?[0-9]+,([0-9]{1,9})");
    private static final Pattern GROUPS = Pattern.compile(
            "-?[1-9][0-9]{0,2}([.,'_ \u00a0\u202f\u2019])[0-9]{3}(?:\\1[0-9]{3})*(?:(?!\\1)([.,])([0-9]{1,9}))?");
    private static final Pattern TIMES =
            Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}.*)?");

    private static final Pattern DATES =
            Pattern.compile("([0-9]{1,2})([./-])([0-9]{1,2})\\2[0-9]{4}(,? [0-9]{1,2}:[0-9]{2}.*)?");

    private final String path;
    private final Map<String, Long> kinds = new LinkedHashMap<>();
    private final Set<String> nulls = new LinkedHashSet<>();
    private final Set<Character> decimals = new LinkedHashSet<>();
    private final Set<Character> thousands = new LinkedHashSet<>();
    private final Set<String> values = new HashSet<>(); // As many as the sample has records at most.
    private final List<String> examples = new ArrayList<>();
    private long there;
    private int scale;
    private String either = "";
    private boolean isClear;
    private boolean isDayFirst;
    private boolean isMonthFirst;

    /// @param path as a pipeline file names it
    Field(String path) {
        this.path = path;
    }

    /// Counts a value.
    ///
    /// @param isQuoted whether it is a text in JSON
    void see(String value, boolean isQuoted) {
        see(kind(value, isQuoted));
        if (NULLS.contains(value)) {
            nulls.add(value);
        }
        if (values.add(value) && examples.size() < EXAMPLES) {
            examples.add(value.length() > EXAMPLE_LENGTH ? value.substring(0, EXAMPLE_LENGTH) + "…" : value);
        }
        boolean isDecimal =
                DECIMALS.matcher(value).matches() || EXPONENTS.matcher(value).matches();
        scale = Math.max(scale, isDecimal ? new BigDecimal(value).scale() : 0);
        if (EITHER.matcher(value).matches()) {
            either = value;
        } else {
            isClear |= isDecimal
                    || kinds.containsKey(LOCAL) && !INTEGERS.matcher(value).matches();
        }
    }

    /// Counts a value that is a list.
    void seeList() {
        see(LIST);
    }

    private void see(String kind) {
        there++;
        kinds.merge(kind, 1L, Long::sum);
    }

    private String kind(String value, boolean isQuoted) {
        if (INTEGERS.matcher(value).matches()) {
            return INTEGER;
        }
        if (DECIMALS.matcher(value).matches() || EXPONENTS.matcher(value).matches()) {
            return DECIMAL;
        }
        if (isLocal(value)) {
            return LOCAL;
        }
        if (TIMES.matcher(value).matches()) {
            return TIME;
        }
        Matcher date = DATES.matcher(value);
        if (date.matches()) {
            isDayFirst |= Integer.parseInt(date.group(1)) > MONTHS;
            isMonthFirst |= Integer.parseInt(date.group(3)) > MONTHS;
            return DATE;
        }
        boolean isTruth = value.equals("true") || value.equals("false");
        return isTruth ? TRUTH : isQuoted ? TEXT : DECIMAL;
    }

    private boolean isLocal(String value) {
        Matcher comma = COMMA.matcher(value);
        Matcher groups = GROUPS.matcher(value);
        String fraction;
        if (comma.matches()) {
            decimals.add(',');
            fraction = comma.group(1);
        } else if (groups.matches()) {
            thousands.add(groups.group(1).charAt(0));
            fraction = groups.group(3);
            if (fraction != null) {
                decimals.add(groups.group(2).charAt(0));
            }
        } else {
            return false;
        }
        scale = Math.max(scale, fraction == null ? 0 : fraction.length());
        return true;
    }

    String path() {
        return path;
    }

    /// The characters between the digits before and behind the point, of numbers that are not written as
    /// everywhere else.
    Set<Character> decimals() {
        return decimals;
    }

    /// The type of dates of a spreadsheet, or both if the values do not say.
    String dates() {
        return isDayFirst == isMonthFirst ? "dmy, or mdy if the month is first" : isDayFirst ? "dmy" : "mdy";
    }

    /// A number whose separator may be that of decimals or of thousands, as that of all others; may be empty.
    String either() {
        return isClear ? "" : either;
    }

    /// The characters between groups of three digits.
    Set<Character> thousands() {
        return thousands;
    }

    long there() {
        return there;
    }

    int different() {
        return values.size();
    }

    /// Digits behind the point, at most.
    int scale() {
        return scale;
    }

    /// The kinds of its values, the first one seen first.
    String kinds() {
        return kinds.isEmpty() ? "null" : String.join(", ", kinds.keySet());
    }

    /// Values that stand for a missing one in many files.
    Set<String> nulls() {
        return nulls;
    }

    List<String> examples() {
        return examples;
    }

    /// Whether all its values are of these kinds.
    boolean isOnly(String... of) {
        return there > 0 && Set.of(of).containsAll(kinds.keySet());
    }
}
