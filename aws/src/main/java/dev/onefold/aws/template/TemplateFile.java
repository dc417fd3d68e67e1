package dev.onefold.aws.template;

import dev.onefold.aws.template.Template.Input;
import dev.onefold.core.bytes.Sha256;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/// The resource `template.yaml`: the template for every input, with placeholders for a few values.
/// The first lines of the resource explain its notation.
final class TemplateFile {
    private static final String NAME = "template.yaml";
    private static final String IF = "#if ";
    private static final String END = "#end";
    private static final List<String> FUNCTIONS = List.of("State", "Reduce", "Upkeep");
    private static final int DIGEST_CHARACTERS = 12;

    private TemplateFile() {}

    /// The template of one input, with all values filled in.
    static String filled(Input input, String pipelineName, String pipelineCode, FunctionParts parts) {
        String text = textFor(input)
                .replace("<tables of the function>\n", parts.resources())
                .replace("<permissions of the function>\n", parts.permissions())
                .replace("<lanes>", String.valueOf(Layout.DEFAULT.lanes()))
                .replace("<lanes max>", String.valueOf(Layout.LANES_MAX))
                .replace("<gates>", String.valueOf(Layout.DEFAULT.gates()))
                .replace("<gates min>", String.valueOf(Layout.GATES_MIN))
                .replace("<gates max>", String.valueOf(Layout.GATES_MAX))
                .replace("<pipeline code>", pipelineCode);
        for (String function : FUNCTIONS) {
            text = text.replace("<digest of " + function + ">", digest(text, function));
        }
        return text.replace("<pipeline name>", pipelineName);
    }

    private static String textFor(Input input) {
        StringBuilder text = new StringBuilder();
        boolean kept = true;
        for (String line : read().lines().toList()) {
            if (line.startsWith(IF)) {
                kept = inputs(line.substring(IF.length())).contains(input);
            } else if (line.equals(END)) {
                kept = true;
            } else if (kept && !line.stripLeading().startsWith("#")) {
                text.append(line).append('\n');
            }
        }
        return text.toString().replaceAll("\\\\\n *", "");
    }

    /// @param names such as `stream or table`
    private static List<Input> inputs(String names) {
        return Arrays.stream(names.split(" or "))
                .map(name -> Input.valueOf(name.replace('-', '_').toUpperCase(Locale.ROOT)))
                .toList();
    }

    /// The digest of everything in the text that makes a function what it is: from its log group to its version.
    private static String digest(String text, String function) {
        String properties =
                text.substring(text.indexOf("  " + function + "Logs:\n"), text.indexOf("  " + function + "Version:\n"));
        return Sha256.hex(properties.getBytes(StandardCharsets.UTF_8)).substring(0, DIGEST_CHARACTERS);
    }

    private static String read() {
        try (InputStream file = TemplateFile.class.getResourceAsStream(NAME)) {
            return new String(
                    Objects.requireNonNull(file, "The build puts the template beside this class")
                            .readAllBytes(),
                    StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
