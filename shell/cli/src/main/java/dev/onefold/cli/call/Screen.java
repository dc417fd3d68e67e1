package dev.onefold.cli.call;

import java.io.Console;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Scanner;

/// The screen on which a caller sees the output of a command.
///
/// @param width columns of the terminal, or of a pipe the columns that its reader is assumed to have
/// @param height lines of the terminal
/// @param colour whether output may hold colours
/// @param outIsTerminal whether standard output is a terminal; a table cuts names to its width only there
/// @param errIsTerminal whether standard error is one; a progress bar is drawn only there
public record Screen(int width, int height, boolean colour, boolean outIsTerminal, boolean errIsTerminal) {
    public static final int WIDTH_DEFAULT = 80;
    public static final int HEIGHT_DEFAULT = 24;

    private static final int WIDTH_MIN = 40;
    private static final int WIDTH_MAX = 500;
    private static final int HEIGHT_MIN = 10;
    private static final int HEIGHT_MAX = 1_000;

    public Screen {
        width = Math.clamp(width, WIDTH_MIN, WIDTH_MAX);
        height = Math.clamp(height, HEIGHT_MIN, HEIGHT_MAX);
    }

    /// Columns for a text on standard output: a pipe has no end of a line, because programs search in lines.
    public int outWidth() {
        return outIsTerminal ? width : Integer.MAX_VALUE / 2;
    }

    /// Columns for a text on standard error.
    public int errWidth() {
        return errIsTerminal ? width : Integer.MAX_VALUE / 2;
    }

    /// No terminal at all.
    public static Screen pipe() {
        return new Screen(WIDTH_DEFAULT, HEIGHT_DEFAULT, false, false, false);
    }

    /// The screen of this process.
    static Screen ofProcess(Map<String, String> environment) {
        boolean out = isTerminal(1);
        boolean err = isTerminal(2);
        boolean plain = !environment.getOrDefault("NO_COLOR", "").isEmpty()
                || environment.getOrDefault("TERM", "").equals("dumb");
        Size size = out || err ? terminalSize() : new Size(WIDTH_DEFAULT, HEIGHT_DEFAULT);
        return new Screen(
                said(environment, "COLUMNS", size.columns),
                said(environment, "LINES", size.rows),
                out && !plain,
                out,
                err);
    }

    private record Size(int columns, int rows) {}

    private static int said(Map<String, String> environment, String variable, int otherwise) {
        String said = environment.getOrDefault(variable, "");
        return said.matches("[1-9][0-9]{0,4}") ? Integer.parseInt(said) : otherwise;
    }

    /// On Linux the file descriptor says it itself, and for standard error too; elsewhere the JDK is asked.
    private static boolean isTerminal(int descriptor) {
        try {
            String target = Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor))
                    .toString();
            return target.matches("/dev/(pts/|tty|console).*");
        } catch (IOException | UnsupportedOperationException noProc) {
            return Optional.ofNullable(System.console())
                    .map(Console::isTerminal)
                    .orElse(false);
        }
    }

    /// Java cannot ask for the size; a process that can takes a few milliseconds.
    private static Size terminalSize() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(new File("/dev/tty"))
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            try (Scanner size = new Scanner(stty.inputReader())) {
                int rows = size.hasNextInt() ? size.nextInt() : 0;
                int columns = size.hasNextInt() ? size.nextInt() : 0;
                return new Size(columns > 0 ? columns : WIDTH_DEFAULT, rows > 0 ? rows : HEIGHT_DEFAULT);
            }
        } catch (IOException noSuchProgram) {
            return new Size(WIDTH_DEFAULT, HEIGHT_DEFAULT);
        }
    }
}
