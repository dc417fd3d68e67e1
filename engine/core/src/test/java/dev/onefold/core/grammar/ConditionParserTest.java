package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.pipeline.Condition;
import dev.onefold.core.pipeline.Condition.Comparison;
import dev.onefold.core.pipeline.FieldPath;
import java.math.BigDecimal;
import java.util.List;
import org.junit.jupiter.api.Test;

class ConditionParserTest {
    private static final FieldPath A = FieldPath.of("a");
    private static final Condition A_MISSING = new Condition.Missing(A);
    private static final Condition B_MISSING = new Condition.Missing(FieldPath.of("b"));
    private static final Condition C_MISSING = new Condition.Missing(FieldPath.of("c"));

    @Test
    void a_field_is_compared_with_texts() {
        assertThat(condition("a = \"delete\"")).isEqualTo(textIn(false, "delete"));
        assertThat(condition("a!='it''s \"x\"'")).isEqualTo(textIn(true, "it's \"x\""));
        assertThat(condition("a in ('x', \"y\")")).isEqualTo(textIn(false, "x", "y"));
        assertThat(condition("a not in('x','y')")).isEqualTo(textIn(true, "x", "y"));
    }

    @Test
    void the_words_true_and_false_are_no_texts_but_in_a_list() {
        assertThat(condition("a = true")).isEqualTo(new Condition.Truth(A, true, false));
        assertThat(condition("a = 'true'")).isEqualTo(textIn(false, "true"));
        assertThat(condition("a != false")).isEqualTo(new Condition.Truth(A, false, true));
        assertThat(condition("a not in (false)")).isEqualTo(new Condition.Truth(A, false, true));
        assertThat(condition("a in (true, 'yes')")).isEqualTo(textIn(false, "true", "yes"));
    }

    @Test
    void a_field_is_compared_with_numbers() {
        for (Comparison comparison : Comparison.values()) {
            assertThat(condition("a" + comparison.sign() + "-100.50"))
                    .isEqualTo(new Condition.Number(A, comparison, new BigDecimal("-100.5")));
        }
        assertThat(condition("a = 0.0")).isEqualTo(new Condition.Number(A, Comparison.EQUAL, BigDecimal.ZERO));
    }

    @Test
    void a_field_is_missing_or_not() {
        assertThat(condition("a is missing")).isEqualTo(A_MISSING);
        assertThat(condition("a is not missing")).isEqualTo(new Condition.Not(A_MISSING));
    }

    @Test
    void not_binds_before_and_before_or() {
        assertThat(condition("not a is missing and b is missing or c is missing"))
                .isEqualTo(new Condition.Or(
                        List.of(new Condition.And(List.of(new Condition.Not(A_MISSING), B_MISSING)), C_MISSING)));
        assertThat(condition("a is missing or b is missing and c is missing"))
                .isEqualTo(new Condition.Or(List.of(A_MISSING, new Condition.And(List.of(B_MISSING, C_MISSING)))));
    }

    @Test
    void parentheses_bind_first() {
        assertThat(condition("not (a is missing or b is missing) and (c is missing)"))
                .isEqualTo(new Condition.And(
                        List.of(new Condition.Not(new Condition.Or(List.of(A_MISSING, B_MISSING))), C_MISSING)));
    }

    @Test
    void the_words_of_the_language_may_be_fields() {
        assertThat(condition("and = 'x' and or = 'x'"))
                .isEqualTo(new Condition.And(List.of(
                        new Condition.TextIn(FieldPath.of("and"), List.of("x"), false),
                        new Condition.TextIn(FieldPath.of("or"), List.of("x"), false))));
        assertThat(condition("\"not\" is missing")).isEqualTo(new Condition.Missing(FieldPath.of("not")));
        assertThat(condition("not.x is missing")).isEqualTo(new Condition.Missing(FieldPath.of("not", "x")));
        assertThat(condition("not is is missing"))
                .isEqualTo(new Condition.Not(new Condition.Missing(FieldPath.of("is"))));
    }

    private static Condition textIn(boolean negated, String... texts) {
        return new Condition.TextIn(A, List.of(texts), negated);
    }

    private static Condition condition(String text) {
        return Read.pipeline(Read.withFilter(text)).input().filter();
    }
}
