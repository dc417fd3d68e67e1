package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A developer's commands: those of CONTRIBUTING.md that are quick do what the page says in a clone of their own, and
/// what the commands of any document name exists: scripts, phases, plugins, profiles, modules, properties and tests.
/// [DocumentsTest] does the same for `./onefold`.
class ContributingTest {
    private static final Pattern COMMAND = Pattern.compile(
            "(?m)(?:`|^)((?:JAVA_HOME=\\S+ )?mvn [^`\\n#]+|(?:\\./test|\\.ci/|dist/[\\w-]+\\.sh)[^`\\n#]*)");

    private static final Set<String> PHASES =
            Set.of("test-compile", "process-test-classes", "test", "package", "verify", "install", "deploy");

    /// Those of Maven and its plugins, which no file of ours names.
    private static final Set<String> PROPERTIES_OF_MAVEN = Set.of("test", "skipTests", "altDeploymentRepository");

    private static final Set<String> FLAGS = Set.of("-am", "-q");

    @TempDir
    private Path folder;

    /// Paths from the root, with their texts: POMs, sources and scripts.
    private static final Map<String, String> FILES = files();

    private static Map<String, String> files() {
        Map<String, String> texts = new TreeMap<>();
        try (Stream<Path> files = Files.walk(Clone.root())) {
            files.map(file -> Clone.root().relativize(file).toString().replace('\\', '/'))
                    .filter(path -> path.matches("([a-z0-9-]+/){0,2}pom\\.xml|test|onefold|\\.ci/run|.*/src/.*\\.java"))
                    .forEach(path -> texts.put(path, Clone.text(path)));
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
        return texts;
    }

    private static boolean someFileHas(String pattern) {
        Pattern wanted = Pattern.compile(pattern);
        return FILES.values().stream().anyMatch(text -> wanted.matcher(text).find());
    }

    private static boolean somePomHas(String pattern) {
        Pattern wanted = Pattern.compile(pattern);
        return FILES.entrySet().stream()
                .anyMatch(file -> file.getKey().endsWith("pom.xml")
                        && wanted.matcher(file.getValue()).find());
    }

    /// Whether a module, or any one if it is empty, has a test of this name, in which `*` may be anything.
    private static boolean hasTest(String module, String pattern) {
        PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + pattern + ".java");
        return FILES.keySet().stream()
                .filter(path ->
                        (module.isEmpty() || path.contains(module + "/src/")) && path.contains("/src/test/java/"))
                .anyMatch(path -> matcher.matches(Path.of(path).getFileName()));
    }

    @Test
    void each_command_names_what_exists() {
        List<String> wrong = new ArrayList<>();
        int commands = 0;
        for (DocumentsTest.Document document : DocumentsTest.documents()) {
            for (String command : commands(document.text())) {
                commands++;
                String without = command.replaceFirst("^JAVA_HOME=\\S+ ", "");
                List<String> words = List.of(without.replace("'", "").split("\\s+"));
                (words.getFirst().equals("mvn") ? unknownToMaven(words) : unknownToScript(words))
                        .forEach(word -> wrong.add("%s: '%s' of %s".formatted(document.path(), word, command)));
            }
        }
        assertThat(commands).isGreaterThan(15);
        assertThat(wrong).as("commands that name what does not exist").isEmpty();
    }

    private static List<String> commands(String text) {
        return COMMAND.matcher(text)
                .results()
                .map(command -> command.group(1).strip())
                .toList();
    }

    private static List<String> unknownToMaven(List<String> words) {
        List<String> modules = words.contains("-pl")
                ? List.of(words.get(words.indexOf("-pl") + 1).split(","))
                : List.of();
        List<String> unknown = new ArrayList<>();
        for (String word : words.subList(1, words.size())) {
            boolean known = switch (word) {
                case String property when property.startsWith("-D") -> isProperty(property.substring(2));
                case String profile
                when profile.startsWith("-P") ->
                    somePomHas("<profile>\\s*(<!--(?s:.*?)-->\\s*)?<id>" + profile.substring(2) + "</id>");
                // A clone has none of its modules in the local repository.
                case "-pl" -> words.contains("-am") || modules.getFirst().startsWith("!");
                case String list
                when list.equals(String.join(",", modules)) ->
                    modules.stream().allMatch(each -> FILES.containsKey(each.replace("!", "") + "/pom.xml"));
                case String goal
                when goal.contains(":") ->
                    somePomHas("<artifactId>[a-z-]*" + goal.replaceFirst(":.*", "") + "[a-z-]*</artifactId>");
                default -> FLAGS.contains(word) || PHASES.contains(word);
            };
            if (!known) {
                unknown.add(word);
            }
        }
        return unknown;
    }

    private static boolean isProperty(String setting) {
        String name = setting.replaceFirst("=.*", "");
        if (name.equals("test")) {
            return Stream.of(setting.replaceFirst("test=", "").split(",")).allMatch(test -> hasTest("", test));
        }
        return PROPERTIES_OF_MAVEN.contains(name)
                || somePomHas("<(name>!?)?" + Pattern.quote(name) + "[/>]|<name>!?" + Pattern.quote(name) + "<")
                || someFileHas("\"" + Pattern.quote(name) + "\"");
    }

    private static List<String> unknownToScript(List<String> words) {
        Path script = Clone.root().resolve(words.getFirst());
        List<String> unknown = new ArrayList<>();
        if (!Files.isExecutable(script)) {
            unknown.add(words.getFirst());
        }
        String module = words.size() > 1 ? words.get(1).replace("+", "") : "";
        for (String word : words.subList(1, words.size())) {
            boolean known = word.startsWith("-D")
                    ? isProperty(word.substring(2))
                    : hasTest(module, word.equals(words.get(1)) ? "*" : word);
            if (!known) {
                unknown.add(word);
            }
        }
        return unknown;
    }

    @Test
    void each_setting_of_the_environment_is_read_somewhere() {
        assertThat(Pattern.compile("ONEFOLD_\\w+")
                        .matcher(Clone.text("CONTRIBUTING.md"))
                        .results()
                        .map(MatchResult::group))
                .isNotEmpty()
                .allSatisfy(name ->
                        assertThat(someFileHas("\\b" + name + "\\b")).as(name).isTrue());
    }

    /// The commands of `core`, as the page has them. In the campaign, because Maven builds it first.
    @Test
    @Tag("campaign")
    void the_quick_commands_do_in_a_clone_what_the_page_says() throws Exception {
        copyTo(folder);
        List<String> quick = commands(Clone.text("CONTRIBUTING.md")).stream()
                .filter(command -> command.startsWith("./test core "))
                .toList();
        assertThat(quick).hasSizeGreaterThanOrEqualTo(2);
        for (String command : quick) {
            Said said = run(List.of("bash", "-c", command), folder);
            assertThat(said.code).as(said.text).isZero();
            assertThat(said.text).as(command).containsPattern("[1-9]\\d* tests successful");
        }
        Said wide = run(List.of("./test", "process+", "StepFunctionTest"), folder);
        assertThat(wide.code).as(wide.text).isZero();
        assertThat(wide.text).contains("core:\n").doesNotContain("process:\n").doesNotContain("Building");
        Said none = run(List.of("./test", "core", "NoTest"), folder);
        assertThat(none.code).as(none.text).isEqualTo(64);
    }

    /// Copies what git has of the working tree, or would have after a commit.
    private void copyTo(Path clone) throws IOException, InterruptedException {
        Said listed = run(List.of("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), Clone.root());
        Assumptions.assumeTrue(listed.code == 0, "This is no clone of git: " + listed.text);
        for (String path : listed.text.split("\0", -1)) {
            Path file = Clone.root().resolve(path);
            if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                Files.createDirectories(clone.resolve(path).getParent());
                Files.copy(file, clone.resolve(path), StandardCopyOption.COPY_ATTRIBUTES);
            }
        }
    }

    private record Said(int code, String text) {}

    private static Said run(List<String> command, Path folder) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), text);
    }
}
