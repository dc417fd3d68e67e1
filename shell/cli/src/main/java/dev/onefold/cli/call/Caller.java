package dev.onefold.cli.call;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.document.Problem;
import java.io.BufferedOutputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/// The caller of a command: its streams, current directory, environment and screen. The caller is that of this
/// process, or that of another process whose command runs here, beside the engine. Output is UTF-8 in every
/// locale.
///
/// @param out the stream for results; buffered, flushed at the end
/// @param err the stream for all other output
public record Caller(
        InputStream in, PrintStream out, PrintStream err, Path folder, Map<String, String> environment, Screen screen) {
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int SHOWN_LENGTH_MAX = 1_000;
    private static final int ANSWER_BYTES_MAX = 100;

    public Caller {
        environment = Map.copyOf(environment);
    }

    /// The caller of this process.
    public static Caller ofProcess() {
        Map<String, String> environment = System.getenv();
        return new Caller(
                new FileInputStream(FileDescriptor.in),
                stream(new FileOutputStream(FileDescriptor.out)),
                new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8),
                Path.of("").toAbsolutePath(),
                environment,
                Screen.ofProcess(environment));
    }

    /// Writes a part of the result.
    public void print(String text) {
        out.print(text);
    }

    /// Writes a line of the result.
    public void printLine(String line) {
        out.println(line);
    }

    /// Says something that is not part of the result.
    public void note(String line) {
        err.println(line);
    }

    private static PrintStream stream(FileOutputStream file) {
        return new PrintStream(new BufferedOutputStream(file, BUFFER_BYTES), false, StandardCharsets.UTF_8);
    }

    /// Refuses an argument that this process could not read: taken as it is, it would be another key, name or path.
    public void requireReadable(List<String> arguments) {
        for (String argument : arguments) {
            if (argument.indexOf('\uFFFD') >= 0) {
                throw CommandFailure.usage("The argument '" + Problem.visible(argument, SHOWN_LENGTH_MAX)
                        + "' has a character that cannot be read in this locale. Set LC_ALL=C.UTF-8, and try again.");
            }
        }
    }

    /// Asks a person; whether the answer is yes. The answer is read byte by byte, so that what stands
    /// behind its line stays where it is.
    public boolean confirms(String question) throws IOException {
        err.print(question + " [y/N] ");
        err.flush();
        StringBuilder answer = new StringBuilder();
        int c = in.read();
        for (; c >= 0 && c != '\n' && answer.length() < ANSWER_BYTES_MAX; c = in.read()) {
            answer.append((char) c);
        }
        if (c < 0) {
            err.print("\n"); // A person has ended the line of the question with the answer; an end of input does not.
        }
        String said = answer.toString().strip().toLowerCase(Locale.ROOT);
        return said.equals("y") || said.equals("yes");
    }

    /// The path that a text on the command line means.
    public Path path(String text) {
        try {
            return folder.resolve(text).normalize();
        } catch (InvalidPathException e) {
            throw new CommandFailure(
                    ExitCode.USAGE,
                    "'" + Problem.visible(text, SHOWN_LENGTH_MAX) + "' cannot be the path of a file: " + e.getReason()
                            + ".",
                    e);
        }
    }

    /// A source as this caller would write it: most are the paths of files.
    public String shownSource(String source) {
        return source.startsWith("/") ? shown(path(source)) : Problem.visible(source, SHOWN_LENGTH_MAX);
    }

    /// The place of a record as this caller would write it: `trades.ndjson:1234`, or `trades/0, offset 1,234` where no
    /// line is known.
    public String shown(DeadLetter.Place place) {
        return shownSource(place.source())
                + (place.line() > 0 ? ":" + place.line() : String.format(Locale.ROOT, ", offset %,d", place.offset()));
    }

    /// A path as this caller would write it: from its own folder when it lies below.
    public String shown(Path path) {
        Path absolute = folder.resolve(path).normalize();
        Path shown = absolute.startsWith(folder) && !absolute.equals(folder) ? folder.relativize(absolute) : absolute;
        return Problem.visible(shown.toString(), SHOWN_LENGTH_MAX);
    }
}
