package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// The conditions that the reader refuses: column and message. Column 12 is the first of the condition.
class ConditionRefusalsTest {
    private static final String COMPARISONS =
            "write a comparison: =, !=, <, <=, >, >=, in (…), not in (…), is missing or is not missing";
    private static final String TEXT = "write a text in quotes, like \"EMEA\"";
    private static final String JOIN = "join comparisons with 'and' or 'or', in small letters";
    private static final String NUMBER = "write it with digits, '-' and '.' alone, like -12.50, at most 28 digits";

    @Test
    void a_condition_begins_with_a_field() {
        assertCondition("", 12, "is empty; write the name of a field");
        assertCondition(
                "= 'x'",
                12,
                "'=' is unexpected, expected the name of a field; write a path like Order.Total or \"unit.price\"");
        assertCondition("'a' = 'x'", 12, "''a'' is not a name; names are in double quotes, or in none");
        assertCondition("a = 'x' and", 23, "'a = 'x' and' ends too early; write the name of a field");
        assertCondition("not", 15, "'not' ends too early; write the name of a field");
    }

    @Test
    void a_field_is_followed_by_a_comparison() {
        assertCondition("a", 13, "'a' ends too early; " + COMPARISONS);
        assertCondition("a like 'x%'", 14, "'like' is no comparison; " + COMPARISONS);
        assertCondition("a == 'x'", 14, "'==' is no comparison; " + COMPARISONS);
        assertCondition("a <> 'x'", 14, "'<>' is no comparison; " + COMPARISONS);
        assertCondition("f(a) = 'x'", 13, "'(' is no comparison; " + COMPARISONS);
        assertCondition("a = 'x' or or b = 'x'", 26, "'b' is no comparison; " + COMPARISONS);
        assertCondition(
                "a is null", 17, "'null' is unexpected, expected 'missing'; write 'is missing' or 'is not missing'");
        assertCondition("a not 'x'", 18, "''x'' is unexpected, expected 'in'; write 'not in (…)'");
    }

    @Test
    void a_text_is_in_quotes() {
        assertCondition("a = ", 16, "'a = ' ends too early; " + TEXT);
        assertCondition("a = EMEA", 16, "'EMEA' is no text; " + TEXT);
        assertCondition("a = 'x", 16, "''x' has no closing quote; end it with '");
        assertCondition("a = 'x''", 16, "''x''' has no closing quote; end it with '");
        assertCondition("a in ()", 18, "')' is no text; " + TEXT);
        assertCondition("a in (1, 2)", 18, "'1' is no text; " + TEXT);
        assertCondition(
                "a in 'x'",
                17,
                "''x'' is unexpected, expected '('; write the texts in parentheses: in (\"EMEA\", \"APAC\")");
        assertCondition("a in ('x'", 21, "'a in ('x'' ends too early; close the parenthesis, or go on with a comma");
        assertCondition(
                "a in ('x' 'y')",
                22,
                "''y'' is unexpected, expected ')'; close the parenthesis, or go on with a comma");
    }

    @Test
    void only_numbers_are_less_or_greater() {
        for (String sign : new String[] {"<", ">", "<=", ">="}) {
            assertCondition(
                    "a " + sign + " 'x'",
                    15 + sign.length(),
                    "''x'' is not a number; '" + sign + "' compares numbers: write digits without quotes, like 100.50");
        }
    }

    @Test
    void a_number_is_plain_and_has_at_most_28_digits() {
        for (String wrong : new String[] {"1e5", "+5", ".5", "1.", "5EUR", "-", "1.2.3", "--1"}) {
            assertCondition("a = " + wrong, 16, "'" + wrong + "' is not a plain number; " + NUMBER);
        }
        String digits29 = "1".repeat(29);
        assertCondition("a = " + digits29, 16, "'" + digits29 + "' has too many digits; at most 28 are possible");
        assertCondition("a = 0." + digits29, 16, "'0." + digits29 + "' has too many digits; at most 28 are possible");
        assertCondition("a = " + "1".repeat(1_000), 16, "'" + "1".repeat(60) + "…' is not a plain number; " + NUMBER);
    }

    @Test
    void comparisons_are_joined_by_and_and_or_in_small_letters() {
        assertCondition("a = 'x' AND b = 'y'", 20, "'AND' is unexpected; " + JOIN);
        assertCondition("a = 'x' b = 'y'", 20, "'b' is unexpected; " + JOIN);
        assertCondition("a = 'x')", 19, "')' is unexpected; " + JOIN);
        assertCondition(
                "(a = 'x'", 20, "'(a = 'x'' ends too early; close the parenthesis, or go on with 'and' or 'or'");
    }

    @Test
    void a_condition_is_nested_at_most_64_deep() {
        assertThat(Read.problems(Read.withFilter("not ".repeat(63) + "a = 'x'")))
                .isEmpty();
        assertThat(Read.problems(Read.withFilter("(".repeat(63) + "a = 'x'" + ")".repeat(63))))
                .isEmpty();
        String wrong = "'a' is nested too deep; at most 64 levels are possible";
        assertCondition("not ".repeat(64) + "a = 'x'", 12 + 4 * 64, wrong);
        assertCondition("(".repeat(64) + "a = 'x'" + ")".repeat(64), 12 + 64, wrong);
    }

    @Test
    void the_column_is_the_files_also_behind_escapes_and_other_scripts() {
        assertThat(Read.problems(Read.withInput("\"filter\": \"\\u0061 = \\\"𝄞ß\\\" !\"")))
                .containsExactly("3:28: input.filter: '!' is unexpected; " + JOIN);
    }

    private static void assertCondition(String condition, int column, String problem) {
        assertThat(Read.problems(Read.withFilter(condition)))
                .containsExactly("3:" + column + ": input.filter: " + problem);
    }
}
