package dev.onefold.examples;

import dev.onefold.cli.Onefold;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.Screen;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Runs command lines as a person would in the root of the clone, with data in a folder of their own.
public final class Shell {
    private static final Pattern WORD = Pattern.compile("'([^']*)'|\"([^\"]*)\"|(\\S+)");

    private final Path data;

    public Shell(Path data) {
        this.data = data;
    }

    /// What a command said.
    public record Said(int code, String out, String err) {}

    /// Runs a line that begins with `./onefold`.
    public Said run(String line) {
        List<String> words = words(line);
        if (!words.getFirst().equals("./onefold")) {
            throw new IllegalArgumentException("Not a command of ours: " + line);
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        Caller caller = new Caller(
                new ByteArrayInputStream(new byte[0]),
                new PrintStream(out, false, StandardCharsets.UTF_8),
                new PrintStream(err, false, StandardCharsets.UTF_8),
                Clone.root(),
                Map.of("ONEFOLD_DATA", data.toString()),
                Screen.pipe());
        int code = Onefold.execute(caller, words.subList(1, words.size()));
        return new Said(code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    private static List<String> words(String line) {
        List<String> words = new ArrayList<>();
        Matcher matcher = WORD.matcher(line);
        while (matcher.find()) {
            words.add(
                    matcher.group(1) != null
                            ? matcher.group(1)
                            : matcher.group(2) != null ? matcher.group(2) : matcher.group(3));
        }
        return words;
    }
}
