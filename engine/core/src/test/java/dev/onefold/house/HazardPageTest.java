package dev.onefold.house;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/// `docs/internals/hazards.md` names each hazard, and beside it the tests that have its number in their names.
class HazardPageTest {
    private static final String PAGE = "docs/internals/hazards.md";

    /// A method without a body is a test of a contract that a runtime leaves out.
    private static final Pattern TEST =
            Pattern.compile("void (hazard_(\\d+(?:_and_\\d+)*)_\\w+)\\([^)]*\\)[^{;]*\\{(?!\\})");

    private static final Pattern ROW = Pattern.compile("(?m)^\\| (\\d+)\\. (.+?) \\|.*\\|$");
    private static final Pattern NOT_COVERED = Pattern.compile("(?m)^- (\\d+)(?: to (\\d+))?: ");

    private static final List<Source> FILES = SourceTree.read();
    private static final String TEXT = FILES.stream()
            .filter(file -> file.path().equals(PAGE))
            .findFirst()
            .orElseThrow()
            .text();

    /// The tests of each hazard, as `Class.method`.
    private static Map<Integer, Set<String>> tests() {
        Map<Integer, Set<String>> tests = new TreeMap<>();
        FILES.stream()
                .filter(file -> file.isJava() && file.path().contains("/src/test/java/"))
                .forEach(file -> TEST.matcher(file.text()).results().forEach(test -> {
                    String name = file.fileName().replace(".java", "") + "." + test.group(1);
                    for (String number : test.group(2).split("_and_", -1)) {
                        tests.computeIfAbsent(Integer.valueOf(number), _ -> new TreeSet<>())
                                .add("`" + name + "`");
                    }
                }));
        return tests;
    }

    private static String row(MatchResult row, Map<Integer, Set<String>> tests) {
        Set<String> found = tests.getOrDefault(Integer.valueOf(row.group(1)), Set.of());
        return "| %s. %s | %s |".formatted(row.group(1), row.group(2), String.join(", ", found));
    }

    @Test
    void beside_each_hazard_are_the_tests_with_its_number() throws IOException {
        Map<Integer, Set<String>> tests = tests();
        String due = ROW.matcher(TEXT).replaceAll(row -> row(row, tests).replace("$", "\\$"));
        if (Boolean.getBoolean("onefold.write")) {
            Files.writeString(SourceTree.root().resolve(PAGE), due);
            return;
        }
        Iterator<String> lines = TEXT.lines().iterator();
        String rows = due.lines().filter(line -> !line.equals(lines.next())).collect(joining("\n"));
        assertThat(rows)
                .as("Rows of %s. To write them: ./test core HazardPageTest -Donefold.write=true", PAGE)
                .isEmpty();
    }

    @Test
    void each_hazard_has_a_test_or_the_page_says_why_not() {
        Set<Integer> tested = tests().keySet();
        List<Integer> rows = ROW.matcher(TEXT)
                .results()
                .map(row -> Integer.valueOf(row.group(1)))
                .toList();
        assertThat(rows)
                .as("Rows of %s, against the numbers in tests' names", PAGE)
                .containsExactlyElementsOf(tested);
        List<Integer> notCovered = NOT_COVERED
                .matcher(TEXT)
                .results()
                .flatMap(each -> IntStream.rangeClosed(
                                Integer.parseInt(each.group(1)),
                                Integer.parseInt(Objects.requireNonNullElse(each.group(2), each.group(1))))
                        .boxed())
                .toList();
        assertThat(notCovered).as("Hazards that %s lists without a test", PAGE).doesNotContainAnyElementsOf(tested);
        Set<Integer> all = new TreeSet<>(rows);
        all.addAll(notCovered);
        assertThat(all)
                .as("Hazards of %s: each number once, none left out", PAGE)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(1, all.size()).boxed().toList());
    }
}
