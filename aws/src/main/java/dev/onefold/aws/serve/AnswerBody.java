package dev.onefold.aws.serve;

import dev.onefold.api.Response;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;

/// The content of an answer, which is made whole, compressed where the caller takes that.
final class AnswerBody {
    private static final String GZIP = "gzip";

    private AnswerBody() {}

    /// The answer is larger than Lambda takes.
    static final class TooLarge extends IOException {
        private static final long serialVersionUID = 1;
    }

    /// Whether a caller takes gzip.
    ///
    /// @param accepted the field `Accept-Encoding`
    static boolean takesGzip(String accepted) {
        return Arrays.stream(accepted.toLowerCase(Locale.ROOT).split(",", -1))
                .map(each -> each.replaceAll("\\s", ""))
                .anyMatch(each -> each.matches(GZIP + "(;.*)?") && !each.matches(GZIP + ";q=0(\\.0*)?"));
    }

    /// The content as it is sent.
    ///
    /// @param bytesMax as it is sent
    /// @throws TooLarge if it cannot be sent
    static byte[] of(Response.Body body, boolean gzip, int bytesMax) throws IOException {
        Bounded bounded = new Bounded(bytesMax);
        if (!gzip) {
            body.writeTo(bounded);
            return bounded.toByteArray();
        }
        try (OutputStream out = new GZIPOutputStream(bounded)) {
            body.writeTo(out);
        }
        return bounded.toByteArray();
    }

    private static final class Bounded extends OutputStream {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final int bytesMax;

        Bounded(int bytesMax) {
            this.bytesMax = bytesMax;
        }

        @Override
        public void write(int octet) throws IOException {
            write(new byte[] {(byte) octet}, 0, 1);
        }

        @Override
        public void write(byte[] from, int offset, int length) throws IOException {
            if (bytes.size() + length > bytesMax) {
                throw new TooLarge();
            }
            bytes.write(from, offset, length);
        }

        byte[] toByteArray() {
            return bytes.toByteArray();
        }
    }
}
