package dev.onefold.house;

import static java.util.stream.Collectors.counting;
import static java.util.stream.Collectors.groupingBy;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.house.SourceTree.Source;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// The house style, as far as a machine can judge it, over the sources of every module.
/// `docs/internals/style.md` says why.
class TidyTest {
    private static final int FILE_LINES_MAX = 500;
    private static final int METHOD_LINES_MAX = 60;

    /// A file or a package above the limit says so, and why.
    private static final String ONE_IDEA = "It is one idea:";
    private static final int PACKAGE_FILES_MAX = 20;
    private static final int PARAMETERS_MAX = 5;
    private static final int DOCUMENT_COLUMNS_MAX = 120;

    private static final Set<String> PACKAGE_WORDS_REFUSED = Set.of("impl", "internal", "util", "utils");
    private static final Pattern TYPE_WORDS_REFUSED =
            Pattern.compile("(Abstract|Helper|Impl|Manager|Util|Utils)(?![a-z])");

    // The patterns are written in pieces so that this file does not match them itself.
    private static final Pattern UNFINISHED = Pattern.compile("\\b(TO" + "DO|FIX" + "ME|XX" + "X)\\b");
    private static final Pattern MACHINE_PATH =
            Pattern.compile("(?<![\\w.*}$~/])/(home|root|work|Users|tmp|usr|opt|mnt|private)/(?=[\\w.])");
    private static final Pattern REGISTRY = Pattern.compile("repo1?\\.maven" + "|registry\\.npm" + "|repo\\.spring"
            + "|sona" + "type\\.(org|com)" + "|jfrog\\." + "|artifact" + "ory\\b|\\bnexus[.:/-]"
            + "|<(plugin)?reposit" + "or(y|ies)>|<distribution" + "Management>");

    private static List<Source> sources = List.of();
    private static List<Source> java = List.of();
    private static JavaShapes shapes = new JavaShapes(List.of(), List.of());

    @BeforeAll
    static void read() {
        sources = SourceTree.read();
        java = sources.stream().filter(Source::isJava).toList();
        shapes = JavaShapes.of(java);
    }

    @Test
    void the_sources_of_several_modules_are_found() {
        assertThat(shapes.types())
                .extracting(type -> type.place().replaceAll("/.*", ""))
                .contains("engine", "shell");
    }

    /// Tables, code and names that cannot be broken may be longer.
    @Test
    void documents_wrap_at_120_columns() {
        verify(sources.stream()
                .filter(file -> file.path().endsWith(".md"))
                .flatMap(file -> Pattern.compile("(?ms)^```.*?^```$")
                        .matcher(file.text())
                        .replaceAll("")
                        .lines()
                        .filter(line -> line.length() > DOCUMENT_COLUMNS_MAX
                                && line.strip().contains(" ")
                                && !line.startsWith("|")
                                && !line.startsWith("    "))
                        .map(line -> "%s has a line of %d columns, %d are allowed: %s"
                                .formatted(file.path(), line.length(), DOCUMENT_COLUMNS_MAX, line))));
    }

    @Test
    void a_file_of_more_than_500_lines_says_why_it_is_one() {
        verify(java.stream()
                .filter(file -> file.text().lines().count() > FILE_LINES_MAX)
                .filter(file -> !file.text().contains(ONE_IDEA))
                .map(file ->
                        ("%s has %d lines, %d are allowed: give a part of it a name and a file of its own, or say in"
                                        + " its head why it is one idea.")
                                .formatted(file.path(), file.text().lines().count(), FILE_LINES_MAX)));
    }

    @Test
    void a_method_has_at_most_60_lines() {
        verify(shapes.methods().stream()
                .filter(method -> method.lines() > METHOD_LINES_MAX)
                .map(method -> "%s: method %s has %d lines, %d are allowed: give its steps names."
                        .formatted(method.place(), method.name(), method.lines(), METHOD_LINES_MAX)));
    }

    @Test
    void a_method_or_class_constructor_has_at_most_5_parameters() {
        verify(shapes.methods().stream()
                .filter(method -> method.parameters() > PARAMETERS_MAX)
                .filter(method -> !(method.isConstructor() && method.inRecord()))
                .map(method -> "%s: %s has %d parameters, %d are allowed: make a record of those that belong together."
                        .formatted(method.place(), method.name(), method.parameters(), PARAMETERS_MAX)));
    }

    @Test
    void a_package_of_more_than_20_files_says_why_it_is_one() {
        Map<String, Long> filesPerFolder = java.stream()
                .filter(file -> file.isMain() && !file.fileName().equals("package-info.java"))
                .collect(groupingBy(Source::folder, TreeMap::new, counting()));
        verify(filesPerFolder.entrySet().stream()
                .filter(folder -> folder.getValue() > PACKAGE_FILES_MAX)
                .filter(folder -> java.stream()
                        .noneMatch(file -> file.path().equals(folder.getKey() + "/package-info.java")
                                && file.text().contains(ONE_IDEA)))
                .map(folder -> ("%s holds %d files, %d are allowed: two subjects live there, part them, or say in"
                                + " its package-info why it is one idea.")
                        .formatted(folder.getKey(), folder.getValue(), PACKAGE_FILES_MAX)));
    }

    @Test
    void no_package_is_named_internal_or_impl_or_util() {
        verify(shapes.types().stream()
                .filter(type -> Stream.of(type.packageName().split("\\.")).anyMatch(PACKAGE_WORDS_REFUSED::contains))
                .map(type -> "%s: package %s says nothing about its content: name it after its subject."
                        .formatted(type.place(), type.packageName())));
    }

    @Test
    void no_type_is_named_manager_or_helper_or_util_or_impl_or_abstract() {
        verify(shapes.types().stream()
                .filter(type -> TYPE_WORDS_REFUSED.matcher(type.name()).find())
                .map(type -> "%s: the name %s says nothing about the thing: name it after what it is."
                        .formatted(type.place(), type.name())));
    }

    @Test
    void every_package_of_main_code_says_what_it_is_and_is_null_marked() {
        Map<String, List<Source>> folders = java.stream()
                .filter(file -> file.isMain() && !file.isModuleInfo())
                .collect(groupingBy(Source::folder));
        verify(folders.entrySet().stream()
                .filter(folder -> folder.getValue().stream()
                        .noneMatch(file -> file.fileName().equals("package-info.java")
                                && file.text().contains("@NullMarked")
                                && file.text().contains("///")))
                .map(folder -> "%s has no package-info.java with a comment (///) and @NullMarked: add it."
                        .formatted(folder.getKey())));
    }

    @Test
    void main_code_is_finished() {
        verify(linesThatMatch(UNFINISHED, sources.stream().filter(Source::isMain))
                .map(line -> line + " is a note to come back: do it now, or make it an issue."));
    }

    @Test
    void nothing_names_a_path_of_one_machine() {
        verify(linesThatMatch(MACHINE_PATH, sources.stream().filter(file -> file.isJava() || isPom(file)))
                .map(line -> line + " is a path of one machine: take it as an argument, or look it up."));
    }

    @Test
    void nothing_names_the_host_of_a_package_registry() {
        verify(linesThatMatch(REGISTRY, sources.stream())
                .map(line -> line + " names a package registry: where packages come from is the builder's setting."));
    }

    private static boolean isPom(Source file) {
        return file.fileName().equals("pom.xml");
    }

    private static Stream<String> linesThatMatch(Pattern pattern, Stream<Source> files) {
        return files.flatMap(file -> {
            List<String> lines = file.text().lines().toList();
            return Stream.iterate(0, index -> index < lines.size(), index -> index + 1)
                    .filter(index -> pattern.matcher(lines.get(index)).find())
                    .map(index -> "%s:%d: '%s'"
                            .formatted(file.path(), index + 1, lines.get(index).strip()));
        });
    }

    private static void verify(Stream<String> violations) {
        String found = violations.distinct().sorted().collect(Collectors.joining("\n"));
        assertThat(found).as("The house style is broken.").isEmpty();
    }
}
