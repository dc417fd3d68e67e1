package dev.onefold.examples;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The blocks of a document that show a console: commands behind `$ `, each followed by what it said.
///
///     ```console
///     $ ./onefold query examples/trade-risk/pipeline.yaml
///     what it says
///     ```
record ConsoleText(String document) {
    private static final Pattern BLOCK = Pattern.compile("(?s)```console\n(.*?)```");
    private static final Pattern COMMAND = Pattern.compile("(?m)^\\$ ");
    private static final String PROMPT = "$ ";

    /// All its commands.
    List<String> commands() {
        List<String> commands = new ArrayList<>();
        Matcher block = BLOCK.matcher(document);
        while (block.find()) {
            block.group(1)
                    .replace("\\\n", " ")
                    .lines()
                    .filter(line -> line.startsWith(PROMPT))
                    .map(line -> line.substring(PROMPT.length()))
                    .forEach(commands::add);
        }
        return commands;
    }

    /// The document with what the commands say now.
    String rerun(Shell shell) {
        return BLOCK.matcher(document)
                .replaceAll(block -> Matcher.quoteReplacement("```console\n" + rerun(block.group(1), shell) + "```"));
    }

    private static String rerun(String block, Shell shell) {
        StringBuilder text = new StringBuilder();
        for (String command : COMMAND.splitAsStream(block).toList()) {
            if (!command.isBlank()) {
                int end = command.replace("\\\n", "\\ ").indexOf('\n') + 1;
                Shell.Said said = shell.run(command.substring(0, end).replace("\\\n", " "));
                text.append(text.isEmpty() ? "" : "\n").append(PROMPT).append(command, 0, end);
                text.append(said.err()).append(said.out().stripTrailing()).append('\n');
            }
        }
        return text.toString();
    }

    /// Without what differs from run to run: times and rates, and where lines are broken.
    String steady() {
        return document.replaceAll("\\s+", " ")
                .replaceAll("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3} UTC", "SOME TIME")
                .replaceAll("in [0-9.]+ m?s( \\([0-9,.]+/s\\))?", "in SOME TIME");
    }
}
