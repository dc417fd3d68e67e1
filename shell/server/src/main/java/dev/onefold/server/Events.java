package dev.onefold.server;

import dev.onefold.api.Response;
import dev.onefold.server.flow.Spool;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/// Answers as server-sent events. A failure is not an event: a reader without an event gets it as an answer.
///
/// @param memory for events that are made
record Events(Spool.Memory memory) implements Makers.Form {
    @Override
    public void write(Response answer, @Nullable String tag, OutputStream to) throws IOException {
        if (tag != null) {
            write("totals", tag, answer, to);
        }
    }

    /// Writes an event.
    ///
    /// @param id `null` for an event that is not a state
    static void write(String name, @Nullable String id, Response answer, OutputStream to) throws IOException {
        to.write(("event: " + name + "\n" + (id == null ? "" : "id: " + id + "\n") + "data: ")
                .getBytes(StandardCharsets.US_ASCII));
        answer.body().writeTo(new DataLines(to));
        to.write("\n\n".getBytes(StandardCharsets.US_ASCII));
    }

    /// Begins each line but the first with the name of the field. A last line end is left out.
    private static final class DataLines extends FilterOutputStream {
        private static final byte[] FIELD = "\ndata: ".getBytes(StandardCharsets.US_ASCII);

        private boolean isLineEnded;

        DataLines(OutputStream out) {
            super(out);
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            int from = offset;
            for (int i = offset; i < offset + length; i++) {
                if (isLineEnded) {
                    out.write(FIELD);
                    isLineEnded = false;
                    from = i;
                }
                if (bytes[i] == '\n' || bytes[i] == '\r') { // A reader ends a line at either.
                    out.write(bytes, from, i - from);
                    isLineEnded = true;
                }
            }
            if (!isLineEnded) {
                out.write(bytes, from, offset + length - from);
            }
        }
    }
}
