package dev.onefold.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// Where generated messages go: a file, or standard output if it is `-`.
final class LoadOutput {
    /// As shells report a command that was ended because nobody reads it any more.
    static final int READER_GONE = 141;

    private LoadOutput() {}

    static OutputStream open(String output) throws IOException {
        if (output.equals("-")) {
            // Not System.out, which keeps to itself that nobody reads any more.
            return new FileOutputStream(FileDescriptor.out);
        }
        try {
            return Files.newOutputStream(Path.of(output));
        } catch (NoSuchFileException missing) {
            throw new IOException("Cannot write to " + output + ": its folder does not exist. Make it first.", missing);
        }
    }

    /// Whether the reader of standard output has gone away.
    static boolean isReaderGone(String output, IOException failed) {
        return output.equals("-") && String.valueOf(failed.getMessage()).contains("Broken pipe");
    }
}
