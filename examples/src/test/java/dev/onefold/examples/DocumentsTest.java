package dev.onefold.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the documents name is there: files, headings, commands, options, tests.
class DocumentsTest {
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");
    private static final Pattern COMMAND = Pattern.compile("\\./onefold ([^`\n|>]*)");
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])--[a-z][a-z-]*");
    private static final Pattern TEST = Pattern.compile("`(\\w+Test)(?:\\.(\\w+))?`");
    private static final Pattern MACHINE_PATH =
            Pattern.compile("(?<![\\w.*}$~/])/(home|root|work|Users|tmp|opt|mnt|private)/(?=[\\w.])");
    private static final Pattern CODE = Pattern.compile("(?s)```.*?```");

    @TempDir
    private Path data;

    /// Path from the root, and text.
    record Document(String path, String text) {
        Path folder() {
            return Clone.root().resolve(path).resolveSibling("");
        }
    }

    static List<Document> documents() {
        List<Document> documents = new ArrayList<>();
        for (String start : List.of("README.md", "CONTRIBUTING.md", "docs", "examples")) {
            try (Stream<Path> files = Files.walk(Clone.root().resolve(start))) {
                files.map(file -> Clone.root().relativize(file).toString().replace('\\', '/'))
                        .filter(path -> path.endsWith(".md") && !path.contains("target/"))
                        .sorted()
                        .forEach(path -> documents.add(new Document(path, Clone.text(path))));
            } catch (IOException unreadable) {
                throw new UncheckedIOException(unreadable);
            }
        }
        return documents;
    }

    @Test
    void every_relative_link_leads_to_a_file_and_every_anchor_to_a_heading() {
        List<String> broken = new ArrayList<>();
        for (Document document : documents()) {
            Matcher link = LINK.matcher(CODE.matcher(document.text).replaceAll(""));
            while (link.find()) {
                if (!link.group(1).matches("[a-z]+:.*") && !leadsSomewhere(document, link.group(1))) {
                    broken.add(document.path + ": " + link.group(1));
                }
            }
        }
        assertThat(broken).as("links that lead nowhere").isEmpty();
    }

    private static boolean leadsSomewhere(Document document, String link) {
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        Path file = path.isEmpty()
                ? Clone.root().resolve(document.path)
                : document.folder().resolve(path).normalize();
        if (!Files.exists(file)) {
            return false;
        }
        return hash < 0 || anchors(file).contains(link.substring(hash + 1));
    }

    /// The anchors of a document's headings, as GitHub makes them.
    private static List<String> anchors(Path file) {
        List<String> anchors = new ArrayList<>();
        Matcher heading =
                HEADING.matcher(Clone.text(Clone.root().relativize(file).toString()));
        while (heading.find()) {
            anchors.add(heading.group(1)
                    .toLowerCase(Locale.ROOT)
                    .replaceAll("[^\\w -]", "")
                    .replace(' ', '-'));
        }
        return anchors;
    }

    @Test
    void every_command_and_option_that_is_named_is_in_the_help() {
        Shell shell = new Shell(data);
        Map<String, String> help = new HashMap<>();
        List<String> unknown = new ArrayList<>();
        for (Document document : documents()) {
            Matcher command = COMMAND.matcher(document.text.replace("\\\n", " "));
            while (command.find()) {
                String name = subcommand(command.group(1));
                String said = help.computeIfAbsent(name, each -> help(shell, each));
                if (!said.contains("Usage: onefold")) {
                    unknown.add(document.path + ": " + command.group());
                }
                OPTION.matcher(command.group(1))
                        .results()
                        .map(option -> option.group())
                        .filter(option -> !said.matches("(?s).*" + option + "(?![\\w-]).*"))
                        .forEach(option -> unknown.add(document.path + ": " + option + " of " + command.group()));
            }
        }
        assertThat(unknown).as("commands and options that there are not").isEmpty();
    }

    /// The words before the first option or argument that name a command.
    private static String subcommand(String line) {
        String[] words = line.strip().split("\\s+", -1);
        String first = words[0].startsWith("-") ? "" : words[0];
        boolean nested = List.of("generate", "aws", "batches").contains(first)
                && words.length > 1
                && words[1].matches("[a-z-]+");
        boolean isOfPipeline = List.of("dead-letters", "batches").contains(first);
        if (isOfPipeline && words.length > 2 && words[2].matches("[a-z]+") && words[1].contains(".")) {
            return first + " p " + words[2];
        }
        if (first.equals("dead-letters") && words.length > 2 && words[2].matches("[a-z]+")) {
            return "dead-letters p " + words[2];
        }
        return nested ? first + " " + words[1] : first;
    }

    private static String help(Shell shell, String command) {
        if (command.isEmpty() || command.equals("…")) {
            return shell.run("./onefold --help").out() + " --version";
        }
        return shell.run("./onefold " + command + " --help").out();
    }

    @Test
    void every_option_in_the_operator_s_documents_exists_somewhere() {
        Shell shell = new Shell(data);
        StringBuilder help = new StringBuilder(shell.run("./onefold --help").out());
        for (String command : List.of(
                "demo",
                "run",
                "query",
                "get",
                "verify",
                "rebuild",
                "dead-letters",
                "batches verify",
                "check",
                "test",
                "generate trade-risk",
                "generate burst",
                "aws",
                "aws template",
                "aws package",
                "aws trial",
                "completion")) {
            help.append(shell.run("./onefold " + command + " --help").out());
        }
        for (String verb : List.of("list", "show", "release", "export", "seal")) {
            help.append(shell.run("./onefold batches p " + verb + " --help").out());
        }
        for (String verb : List.of("list", "show", "redrive", "purge", "export")) {
            help.append(
                    shell.run("./onefold dead-letters p " + verb + " --help").out());
        }
        TreeSet<String> unknown = new TreeSet<>();
        for (Document document : documents()) {
            boolean ours = document.path.equals("README.md")
                    || document.path.equals("docs/start.md")
                    || document.path.equals("docs/guarantees.md")
                    || document.path.equals("docs/internals/architecture.md")
                    || document.path.startsWith("examples/");
            if (ours) {
                OPTION.matcher(document.text)
                        .results()
                        .map(option -> option.group())
                        .filter(option -> !help.toString().contains(option))
                        .forEach(option -> unknown.add(document.path + ": " + option));
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void every_test_that_is_named_exists() throws IOException {
        Map<String, String> tests = new HashMap<>();
        try (Stream<Path> files = Files.walk(Clone.root())) {
            files.filter(file -> file.toString().contains("src/test/java")
                            && file.getFileName().toString().endsWith("Test.java"))
                    .forEach(file -> tests.put(
                            file.getFileName().toString().replace(".java", ""),
                            Clone.text(Clone.root().relativize(file).toString())));
        }
        List<String> missing = new ArrayList<>();
        for (Document document : documents()) {
            Matcher test = TEST.matcher(document.text);
            while (test.find()) {
                String text = tests.getOrDefault(test.group(1), "");
                boolean there = test.group(2) == null ? !text.isEmpty() : text.contains("void " + test.group(2) + "(");
                if (!there) {
                    missing.add(document.path + ": " + test.group());
                }
            }
        }
        assertThat(missing).as("tests that are named and do not exist").isEmpty();
    }

    @Test
    void no_document_names_a_path_of_one_machine() {
        for (Document document : documents()) {
            assertThat(MACHINE_PATH.matcher(document.text).results().map(match -> match.group()))
                    .as(document.path)
                    .isEmpty();
        }
    }
}
