package dev.onefold.cli.trial;

import dev.onefold.cli.aws.RecordLines;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.run.InputFile;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.load.Load;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Records, one after the other. Not thread-safe.
interface Lines extends AutoCloseable {
    /// The next record without its line end; `null` behind the last one.
    byte @Nullable [] next() throws IOException;

    @Override
    void close() throws IOException;

    /// The records that a program makes, each in a line.
    static Lines of(Load load) {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        return new Lines() {
            @Override
            public byte @Nullable [] next() throws IOException {
                line.reset();
                return load.write(line, 1) == 0 ? null : Arrays.copyOf(line.toByteArray(), line.size() - 1);
            }

            @Override
            public void close() {}
        };
    }

    /// The records of files that are not empty, file after file.
    ///
    /// @throws CommandFailure if there is no record
    static Lines of(Caller caller, Pipeline pipeline, List<String> files) throws IOException {
        List<InputStream> parts = new ArrayList<>();
        for (String file : files) {
            parts.add(InputFile.of(caller, file).open());
            parts.add(new ByteArrayInputStream(new byte[] {'\n'})); // The last line of a file may have no end.
        }
        InputStream in = new SequenceInputStream(Collections.enumeration(parts));
        OfFiles lines = new OfFiles(in, new RecordLines(RecordEnds.ofSource(pipeline), in));
        if (lines.first == null) {
            throw CommandFailure.usage(String.join(", ", files) + (files.size() == 1 ? " has" : " have")
                    + " no record, so there is nothing to compare.");
        }
        return lines;
    }

    /// The records of files.
    final class OfFiles implements Lines {
        private final InputStream in;
        private final RecordLines lines;
        private byte @Nullable [] first;

        private OfFiles(InputStream in, RecordLines lines) throws IOException {
            this.in = in;
            this.lines = lines;
            first = line();
        }

        @Override
        public byte @Nullable [] next() throws IOException {
            byte[] record = first == null ? line() : first;
            first = null;
            return record;
        }

        private byte @Nullable [] line() throws IOException {
            for (RecordLines.Line line = lines.next(); line != null; line = lines.next()) {
                byte[] data = line.data();
                if (data == null) {
                    throw new CommandFailure(
                            ExitCode.DIFFERENT, "A line has " + line.bytes() + " bytes, more than a record may have.");
                }
                if (data.length > 0) {
                    return data;
                }
            }
            return null;
        }

        @Override
        public void close() throws IOException {
            in.close();
        }
    }
}
