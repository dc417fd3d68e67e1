package dev.onefold.cli.show;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TableTest {
    @Test
    void numbers_stand_on_the_right_under_their_name() {
        Table table = new Table(List.of("", "value", "n"));
        table.add(List.of("total", "1,000.00", "12"));
        table.add(List.of("  A", "-", "3"));
        assertThat(text(table, 80, true)).isEqualTo("          value   n\ntotal  1,000.00  12\n  A           -   3\n");
    }

    @Test
    void on_a_terminal_a_name_is_cut_and_a_number_never() {
        Table table = new Table(List.of("", "value"));
        table.add(List.of("a very long name of a group that nobody foresaw", "1,234,567.89"));
        assertThat(text(table, 40, true).lines().toList().get(1)).isEqualTo("a very long name of a gro…  1,234,567.89");
        assertThat(text(table, 40, false)).contains("a very long name of a group that nobody foresaw  1,234,567.89");
    }

    @Test
    void wide_characters_take_two_columns() {
        Table table = new Table(List.of("", "n"));
        table.add(List.of("日本", "1"));
        table.add(List.of("abcd", "2"));
        assertThat(text(table, 80, true)).isEqualTo("      n\n日本  1\nabcd  2\n");
    }

    @Test
    void what_does_not_fit_becomes_paragraphs() {
        Table table = new Table(List.of("", "first", "second"));
        table.add(List.of("the group of many digits", "1".repeat(30), "2".repeat(30)));
        assertThat(text(table, 60, true))
                .isEqualTo("the group of many digits\n  first   " + "1".repeat(30) + "\n  second  " + "2".repeat(30)
                        + "\n");
    }

    private static String text(Table table, int width, boolean cut) {
        return table.text(width, cut);
    }
}
