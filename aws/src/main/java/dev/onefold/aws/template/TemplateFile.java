package dev.onefold.aws.template;

import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.bytes.Sha256;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Publishing;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// The resources `template.yaml` and, for batch pipelines, `batch.yaml`: the template for every input, with
/// placeholders for a few values. `parts.yaml` has what they have in common. The first lines of `template.yaml`
/// explain the notation.
final class TemplateFile {
    private static final String NAME = "template.yaml";
    private static final String IF = "#if ";
    private static final String END = "#end";
    private static final String USE = "#use ";
    private static final List<String> PARTS =
            read("parts.yaml").lines().filter(line -> !line.isEmpty()).toList();
    private static final String PART = "#part ";
    private static final String NEXT = " \\| ";
    private static final List<String> FUNCTIONS = List.of("State", "Reduce", "Upkeep");
    private static final String PUBLISHED = "published";
    private static final int DIGEST_CHARACTERS = 12;

    private TemplateFile() {}

    /// The template of one input, with all values filled in.
    static String filled(Input input, Pipeline pipeline, String pipelineCode, FunctionParts parts) {
        Set<String> conditions = new HashSet<>(Set.of(condition(input), "totals"));
        List<String> functions = new ArrayList<>(FUNCTIONS);
        String table = "";
        if (pipeline.publishing() instanceof Publishing.Items items) {
            conditions.add(PUBLISHED);
            functions.add("Publish");
            table = items.table();
        }
        if (pipeline.fold() instanceof Processing) {
            conditions.add("function");
        }
        String text = text(NAME, conditions)
                .replace("<tables of the function>\n", parts.resources())
                .replace("<permissions of the function>\n", parts.permissions())
                .replace("<lanes>", String.valueOf(Layout.DEFAULT.lanes()))
                .replace("<lanes max>", String.valueOf(Layout.LANES_MAX))
                .replace("<gates>", String.valueOf(Layout.DEFAULT.gates()))
                .replace("<gates min>", String.valueOf(Layout.GATES_MIN))
                .replace("<gates max>", String.valueOf(Layout.GATES_MAX))
                .replace("<published table>", table)
                .replace("<pipeline code>", pipelineCode);
        text = text.replace("<all others>", leaves(text, "Serving"));
        return withDigests(text, functions).replace("<pipeline name>", pipeline.name());
    }

    /// The resources that no other one needs: whatever is made or changed behind them is the last.
    ///
    /// @param but the one that is to be behind them
    static String leaves(String text, String but) {
        String resources = text.substring(text.indexOf("\nResources:\n"), text.indexOf("\nOutputs:\n"));
        return Pattern.compile("\n  ([A-Za-z0-9]+):\n")
                .matcher(resources)
                .results()
                .map(found -> found.group(1))
                .filter(name -> !name.equals(but))
                .filter(name -> !Pattern.compile("[^A-Za-z]" + name + "[^A-Za-z0-9:]")
                        .matcher(resources)
                        .find())
                .collect(Collectors.joining(", "));
    }

    /// The name of an input as the file has it.
    static String condition(Enum<?> input) {
        return input.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static String withDigests(String text, List<String> functions) {
        String filled = text;
        for (String function : functions) {
            filled = filled.replace("<digest of " + function + ">", digest(filled, function));
        }
        return filled;
    }

    /// The text of a resource, with its placeholders.
    ///
    /// @param conditions those that hold
    static String text(String resource, Set<String> conditions) {
        return text(read(resource).lines().toList(), conditions).replaceAll("\\\\\n *", "");
    }

    private static String text(List<String> lines, Set<String> conditions) {
        StringBuilder text = new StringBuilder();
        boolean kept = true;
        for (String line : lines) {
            if (line.startsWith(IF)) {
                kept = Arrays.stream(line.substring(IF.length()).split(" or ")).anyMatch(conditions::contains);
            } else if (line.equals(END)) {
                kept = true;
            } else if (kept && line.startsWith(USE)) {
                text.append(part(List.of(line.substring(USE.length()).split(NEXT)), conditions));
            } else if (kept && !line.stripLeading().startsWith("#")) {
                text.append(line).append('\n');
            }
        }
        return text.toString();
    }

    /// The text of a part that templates have in common.
    ///
    /// @param use name and values of the part
    /// @param conditions those that hold
    static String part(List<String> use, Set<String> conditions) {
        List<String> part = PARTS.stream()
                .dropWhile(line -> !(line + " | ").startsWith(PART + use.getFirst() + " | "))
                .toList();
        List<String> names = part.isEmpty()
                ? List.of()
                : List.of(part.getFirst().substring(PART.length()).split(NEXT));
        if (names.size() != use.size()) {
            throw new IllegalStateException("There is no such part of templates: " + use);
        }
        List<String> lines =
                part.stream().skip(1).takeWhile(line -> !line.startsWith(PART)).toList();
        return Pattern.compile("<(" + String.join("|", names) + ")>")
                .matcher(text(lines, conditions))
                .replaceAll(value -> Matcher.quoteReplacement(use.get(names.lastIndexOf(value.group(1)))));
    }

    /// The same template, with which everything goes that it makes: deleting the stack leaves nothing.
    static String deletable(String text) {
        return text.replace("DeletionPolicy: RetainExceptOnCreate\n", "DeletionPolicy: Delete\n")
                .replace("UpdateReplacePolicy: Retain\n", "UpdateReplacePolicy: Delete\n")
                .replaceFirst("(\n  DeletionProtection:\n(?:    .*\n)*?    Default: )'true'", "$1'false'");
    }

    /// The same document in fewer bytes, of which CloudFormation takes so many: a level is one space, and what a list
    /// holds is two behind its dash.
    static String compact(String text) {
        StringBuilder compact = new StringBuilder();
        Deque<int[]> levels = new ArrayDeque<>(List.of(new int[] {0, 0}));
        for (String line : text.lines().toList()) {
            String content = line.stripLeading();
            int indent = line.length() - content.length();
            while (levels.size() > 1 && levels.getLast()[0] > indent) {
                levels.removeLast();
            }
            if (levels.getLast()[0] < indent) {
                levels.addLast(new int[] {indent, levels.getLast()[1] + 1});
            }
            int column = levels.getLast()[1];
            if (content.startsWith("- ")) {
                levels.addLast(new int[] {indent + 2, column + 2});
            }
            compact.append(" ".repeat(column)).append(content).append('\n');
        }
        return compact.toString();
    }

    /// The names of the parameters of a template.
    static List<String> parameters(String text) {
        return text.lines()
                .dropWhile(line -> !line.equals("Parameters:"))
                .skip(1)
                .takeWhile(line -> line.isEmpty() || line.startsWith(" "))
                .filter(line -> line.matches("  [A-Za-z0-9]+:"))
                .map(line -> line.substring(2, line.length() - 1))
                .toList();
    }

    /// The digest of everything in the text that makes a function what it is: from its log group to its version.
    private static String digest(String text, String function) {
        String properties =
                text.substring(text.indexOf("  " + function + "Logs:\n"), text.indexOf("  " + function + "Version:\n"));
        return Sha256.hex(properties.getBytes(StandardCharsets.UTF_8)).substring(0, DIGEST_CHARACTERS);
    }

    private static String read(String resource) {
        try (InputStream file = TemplateFile.class.getResourceAsStream(resource)) {
            return new String(
                    Objects.requireNonNull(file, "The build puts the template beside this class")
                            .readAllBytes(),
                    StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
