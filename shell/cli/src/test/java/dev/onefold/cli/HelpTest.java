package dev.onefold.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.cli.call.Caller;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.OptionSpec;

class HelpTest {
    private static final Pattern CODE = Pattern.compile("```[a-z]*\n(.*?)```|`([^`\n]+)`", Pattern.DOTALL);
    private static final Pattern ONEFOLD = Pattern.compile("(?:\\./)?onefold ([a-z][^|#\n]*)");
    private static final Pattern OPTION = Pattern.compile("(?<![\\w-])(--[a-z][a-z-]*)");

    private final Map<String, CommandLine> commands = commands();

    private static Map<String, CommandLine> commands() {
        Map<String, CommandLine> commands = new TreeMap<>();
        collect(Onefold.commandLine(caller(), List.of()), commands);
        return commands;
    }

    private static Caller caller() {
        return Cli.in(Path.of("").toAbsolutePath())
                .caller(InputStream.nullInputStream(), new ByteArrayOutputStream(), new ByteArrayOutputStream());
    }

    private static void collect(CommandLine command, Map<String, CommandLine> commands) {
        commands.put(command.getCommandSpec().qualifiedName(), command);
        command.getSubcommands().values().forEach(each -> collect(each, commands));
    }

    @Test
    void every_command_of_the_reference_is_there() {
        assertThat(commands)
                .containsKeys(
                        "onefold run",
                        "onefold seed",
                        "onefold query",
                        "onefold get",
                        "onefold verify",
                        "onefold rebuild",
                        "onefold dead-letters list",
                        "onefold dead-letters show",
                        "onefold dead-letters redrive",
                        "onefold dead-letters purge",
                        "onefold dead-letters export",
                        "onefold batches verify",
                        "onefold check",
                        "onefold status",
                        "onefold reset",
                        "onefold aws reset",
                        "onefold test",
                        "onefold generate trade-risk",
                        "onefold aws produce",
                        "onefold aws replay",
                        "onefold demo",
                        "onefold completion");
    }

    @Test
    void a_command_that_is_named_first_is_set_up_alone_and_is_the_same_as_among_all() {
        CommandLine all = Onefold.commandLine(caller(), List.of("--debug"));
        assertThat(all.getSubcommands()).hasSizeGreaterThan(15);
        all.getSubcommands().forEach((name, command) -> {
            CommandLine named = Onefold.commandLine(caller(), List.of(name, "--help"));
            if (name.equals("completion")) {
                assertThat(named.getSubcommands().keySet())
                        .isEqualTo(all.getSubcommands().keySet());
            } else {
                assertThat(named.getSubcommands()).containsOnlyKeys(name);
            }
            assertThat(named.getSubcommands().get(name).getUsageMessage()).isEqualTo(command.getUsageMessage());
        });
    }

    @Test
    void only_onefold_itself_says_its_version() {
        for (String command : List.of("generate --version", "generate trade-risk --version", "query p --version")) {
            Cli.Result result = Cli.in(Path.of("").toAbsolutePath()).run(command.split(" "));
            assertThat(result.exitCode()).isEqualTo(2);
            assertThat(result.err()).contains("--version");
        }
    }

    @Test
    void the_version_is_said_alone() {
        Cli.Result result = Cli.in(Path.of("").toAbsolutePath()).run("--version");
        assertThat(result.exitCode()).isZero();
        assertThat(result.out()).matches("onefold \\S+\n");
        assertThat(result.out().strip()).isEqualTo(Onefold.Version.text());
    }

    @Test
    void every_help_fits_80_columns() {
        commands.forEach(
                (name, command) -> assertThat(command.getUsageMessage(Ansi.OFF).lines())
                        .as(name)
                        .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80)));
    }

    @Test
    void every_help_is_shown_on_a_terminal_of_40_columns_and_only_examples_are_wider() {
        Cli narrow = Cli.in(Path.of("").toAbsolutePath()).onTerminal(40);
        for (String name : commands.keySet()) {
            List<String> words = new ArrayList<>(List.of(name.split(" ")));
            words.removeFirst();
            words.add("--help");
            Cli.Result result = narrow.run(words.toArray(new String[0]));
            assertThat(result.exitCode()).as(name + result.err()).isZero();
            assertThat(result.out()).as(name).contains("Usage: " + name);
            String help = result.out().replaceFirst("(?s)\nExamples?:\n.*", "");
            assertThat(help.lines())
                    .as(name)
                    .hasSizeGreaterThan(3)
                    .filteredOn(line -> line.strip().contains(" "))
                    .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(40));
        }
    }

    @Test
    void no_help_breaks_a_line_that_is_copied() {
        commands.forEach((name, command) -> assertThat(command.getUsageMessage(Ansi.OFF))
                .as(name)
                .doesNotContain("http: //", "http:\n")
                .contains(String.join(
                        "\n", command.getCommandSpec().usageMessage().footer())));
    }

    @Test
    void a_mistyped_command_or_option_is_told_with_what_was_meant() {
        Cli cli = Cli.in(Path.of("").toAbsolutePath());
        assertThat(cli.run("rnu").err()).contains("There is no command 'rnu'.\nDid you mean run?\n");
        assertThat(cli.run("qurey").err()).contains("Did you mean query?\n");
        assertThat(cli.run("xyzzy").err()).contains("no command 'xyzzy'").doesNotContain("Did you mean");
        assertThat(cli.run("run", "p.yaml", "--inptu", "x").err())
                .contains("There is no option --inptu here.\nDid you mean --input?\n");
        assertThat(cli.run("generate", "trade-risk", "--events", "2m").err()).contains("'2m' is not a whole number");
        assertThat(cli.run("check", ".").err()).contains("is a folder");
    }

    @Test
    void every_help_has_an_example_that_begins_with_onefold() {
        commands.forEach((name, command) -> {
            if (!name.equals("onefold generate")) {
                assertThat(command.getUsageMessage(Ansi.OFF)).as(name).containsPattern("Examples?:\n(.*\n)*.*onefold ");
            }
        });
    }

    @Test
    void every_option_has_a_description_and_every_command_knows_help_and_debug() {
        commands.forEach((name, command) -> {
            for (OptionSpec option : command.getCommandSpec().options()) {
                assertThat(String.join("", option.description()))
                        .as(name + " " + option.longestName())
                        .isNotBlank();
            }
            assertThat(command.getCommandSpec().findOption("--help")).as(name).isNotNull();
            assertThat(command.getCommandSpec().findOption("--debug")).as(name).isNotNull();
        });
    }

    @Test
    void the_examples_in_the_help_parse() {
        commands.forEach((name, command) -> {
            String footer =
                    String.join("\n", command.getCommandSpec().usageMessage().footer());
            for (String example : examples("```\n" + footer + "\n```")) {
                assertThat(unknownOptions(example)).as(name + ": " + example).isEmpty();
            }
        });
    }

    @Test
    void every_option_that_the_documents_name_exists() throws IOException {
        Path root = Path.of("").toAbsolutePath().getParent().getParent();
        List<String> unknown = new ArrayList<>();
        for (String folder : List.of("docs", "examples", "README.md")) {
            try (Stream<Path> files = Files.walk(root.resolve(folder))) {
                for (Path file :
                        files.filter(path -> path.toString().endsWith(".md")).toList()) {
                    for (String example : examples(Files.readString(file))) {
                        unknownOptions(example)
                                .forEach(option ->
                                        unknown.add(root.relativize(file) + ": " + option + " in " + example));
                    }
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void every_option_stands_in_the_page_of_its_command() throws IOException {
        Path docs = Path.of("").toAbsolutePath().getParent().resolveSibling("docs");
        String operations = Files.readString(docs.resolve("operations.md"));
        String tables = Files.readString(docs.resolve("tables.md")) + operations;
        String deployed =
                tables + Files.readString(docs.resolve("aws.md")) + Files.readString(docs.resolve("batches.md"));
        String served = Files.readString(docs.resolve("serve.md")) + operations;
        String batches = operations + Files.readString(docs.resolve("batches.md"));
        for (Map.Entry<String, CommandLine> command : commands.entrySet()) {
            String verb = command.getKey().replaceFirst("^onefold ?", "").replaceFirst(" .*", "");
            String page = switch (verb) {
                case "aws" -> deployed;
                case "batches" -> batches;
                case "serve", "token" -> served;
                case "seed", "verify" -> tables;
                default -> operations;
            };
            for (OptionSpec option : command.getValue().getCommandSpec().options()) {
                if (!command.getKey().startsWith("onefold generate")) {
                    assertThat(page).as(command.getKey()).contains(option.longestName());
                }
            }
        }
    }

    /// Command lines in the code of a page.
    private static List<String> examples(String page) {
        List<String> examples = new ArrayList<>();
        Matcher code = CODE.matcher(page);
        while (code.find()) {
            Matcher line = ONEFOLD.matcher(
                    code.group(1) == null ? code.group(2) : code.group(1).replace("\\\n", " "));
            while (line.find()) {
                examples.add(line.group(1).strip());
            }
        }
        return examples;
    }

    private Set<String> unknownOptions(String example) {
        CommandLine command = commands.get("onefold");
        Set<String> known = new TreeSet<>();
        for (String word : example.split("\\s+", -1)) {
            CommandLine next = command.getSubcommands().get(word);
            command = next == null ? command : next;
        }
        command.getCommandSpec().options().forEach(option -> known.addAll(List.of(option.names())));
        Set<String> unknown = new TreeSet<>();
        Matcher option = OPTION.matcher(example);
        while (option.find()) {
            if (!known.contains(option.group(1))) {
                unknown.add(option.group(1));
            }
        }
        return unknown;
    }
}
