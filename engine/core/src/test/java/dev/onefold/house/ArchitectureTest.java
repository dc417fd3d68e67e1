package dev.onefold.house;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The tables of `docs/internals/architecture.md` agree with the code.
class ArchitectureTest {
    private static final List<Source> ALL = SourceTree.read();
    private static final String PAGE = text("docs/internals/architecture.md");

    private static String text(String path) {
        return ALL.stream()
                .filter(file -> file.path().equals(path))
                .findFirst()
                .orElseThrow()
                .text();
    }

    private static Set<String> found(String pattern, String text) {
        Set<String> names = new TreeSet<>();
        Pattern.compile(pattern).matcher(text).results().forEach(each -> names.add(each.group(1)));
        return names;
    }

    private static String section(String from, String to) {
        int begin = PAGE.indexOf(from);
        return PAGE.substring(begin, PAGE.indexOf(to, begin + from.length()));
    }

    /// The folder of a module: `engine/core`.
    private static String path(String module) {
        return found("<module>((?:[a-z]+/)?" + module + ")</module>", text("pom.xml"))
                .iterator()
                .next();
    }

    private static Set<String> packages(String module) {
        Set<String> names = new TreeSet<>();
        ALL.stream()
                .filter(file -> file.isMain() && file.fileName().equals("package-info.java"))
                .flatMap(file -> Stream.of(file.folder()))
                .filter(folder -> folder.contains(module + "/src/main/java/dev/onefold/" + module + "/"))
                .forEach(folder -> names.add(folder.substring(folder.lastIndexOf('/') + 1)));
        return names;
    }

    @Test
    void the_table_of_modules_has_those_of_the_build() {
        Set<String> built = found("<module>(?:[a-z]+/)?([a-z0-9-]+)</module>", text("pom.xml"));
        built.remove("dist");
        assertThat(found("(?m)^\\| `([a-z0-9-]+)` \\|", section("## Modules", "### ")))
                .isEqualTo(built);
    }

    @Test
    void a_module_uses_its_own_ring_and_those_before_it() {
        List<Set<String>> rings = Pattern.compile("(?m)^\\| [a-z]+ \\| (`.*`) \\|$")
                .matcher(section("| ring | modules |", "### "))
                .results()
                .map(row -> found("`([a-z0-9-]+)`", row.group(1)))
                .toList();
        Set<String> inner = new TreeSet<>();
        for (Set<String> ring : rings) {
            inner.addAll(ring);
            assertThat(ring).allSatisfy(module -> assertThat(inner).containsAll(used(module)));
        }
        Set<String> built = found("<module>(?:[a-z]+/)?([a-z0-9-]+)</module>", text("pom.xml"));
        built.remove("dist");
        assertThat(inner).isEqualTo(built);
        assertThat(rings.stream().mapToInt(Set::size).sum()).isEqualTo(built.size());
    }

    /// `aws` is its ring alone, and `examples` lie where a user looks for them.
    @Test
    void a_ring_is_a_folder() {
        Pattern.compile("(?m)^\\| ([a-z]+) \\| (`.*`) \\|$")
                .matcher(section("| ring | modules |", "### "))
                .results()
                .forEach(row -> assertThat(found("`([a-z0-9-]+)`", row.group(2)))
                        .allSatisfy(module -> assertThat(path(module))
                                .isEqualTo(
                                        Set.of("aws", "examples").contains(module)
                                                ? module
                                                : row.group(1) + "/" + module)));
    }

    /// The modules that the main code of one uses.
    private static Set<String> used(String module) {
        Set<String> used = new TreeSet<>();
        Pattern.compile("(?s)<dependency>(.*?)</dependency>")
                .matcher(text(path(module) + "/pom.xml"))
                .results()
                .filter(dependency -> !dependency.group(1).contains("<scope>test</scope>"))
                .forEach(dependency ->
                        used.addAll(found("<artifactId>onefold-([a-z0-9-]+)</artifactId>", dependency.group(1))));
        if (used.remove("test")) {
            used.add("test-kit");
        }
        return used;
    }

    @Test
    void the_packages_of_the_engine_and_of_aws_are_named() {
        String engine = section("Inside `embedded`", "`Engine` is what");
        assertThat(packages("embedded"))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(engine).containsPattern("(?m)(^ {4}| {2,})" + name + " {2,}"));
        assertThat(packages("aws"))
                .isNotEmpty()
                .allSatisfy(name -> assertThat(PAGE).contains("\n| `" + name + "` |"));
    }

    @Test
    void the_threads_of_the_engine_are_named() {
        Set<String> threads = new TreeSet<>();
        ALL.stream()
                .filter(file -> file.isMain() && file.module().matches("embedded|api"))
                .forEach(file ->
                        threads.addAll(found("(?:name|OwnThread)\\([^;]{0,60}?\"(onefold-[a-z-]*[a-z])", file.text())));
        threads.remove("onefold-worker"); // The page says workers.
        assertThat(threads)
                .hasSizeGreaterThan(8)
                .allSatisfy(
                        name -> assertThat(section("## Threads", "## Rows")).containsPattern("`" + name + "(-N)?`"));
    }
}
