package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// The table of `docs/internals/words.md` and that of `docs/internals/style.md` explain each word once.
class WordsTest {
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| (?!---|word)([^|]+?) \\| [^|]+ \\| ([^|]+?) \\| [^|]+ \\|$");
    private static final Pattern WORD = Pattern.compile("(?m)^\\| (?!---|word)([^|]+?) \\| (?:both|embedded|AWS) \\|");

    private static String text(String path) {
        return SourceTree.read().stream()
                .filter(file -> file.path().equals(path))
                .map(Source::text)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void no_word_has_two_meanings() {
        List<String> words = new ArrayList<>();
        ROW.matcher(text("docs/internals/style.md")).results().forEach(row -> {
            words.addAll(List.of(row.group(1).split(", ", -1)));
            words.addAll(List.of(row.group(2).split(", ", -1)));
        });
        WORD.matcher(text("docs/internals/words.md")).results().forEach(row -> words.add(row.group(1)));
        assertThat(words).hasSizeGreaterThan(50).doesNotHaveDuplicates();
    }
}
