package dev.onefold.cli.trial;

import dev.onefold.load.Load;
import dev.onefold.load.Pace;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/// The destination of generated messages: a file, or standard output if it is `-`.
record LoadOutput(String output) {
    /// As shells report a command that was ended because nobody reads it any more.
    private static final int READER_GONE = 141;

    /// Writes all messages of a load.
    ///
    /// @param batch the most messages that are written together
    /// @param written called after each batch
    /// @return the exit code: 0, or that of a command whose reader is gone
    int write(Load load, Pace pace, long batch, Runnable written) throws IOException, InterruptedException {
        try (OutputStream out = open()) {
            while (load.remaining() > 0) {
                long some = load.write(out, pace.batch(batch));
                written.run();
                out.flush();
                pace.keep(some);
            }
            return 0;
        } catch (IOException failed) {
            if (output.equals("-") && String.valueOf(failed.getMessage()).contains("Broken pipe")) {
                return READER_GONE;
            }
            throw failed;
        }
    }

    private OutputStream open() throws IOException {
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
}
