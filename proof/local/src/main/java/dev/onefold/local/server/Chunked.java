package dev.onefold.local.server;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32;

/// A body in AWS's own chunks (`aws-chunked`), with what comes behind them.
///
/// @param trailers by their names in small letters
record Chunked(byte[] content, Map<String, String> trailers) {
    /// @throws IllegalArgumentException if these are no chunks
    static Chunked read(byte[] body) {
        ByteArrayOutputStream content = new ByteArrayOutputStream(body.length);
        int at = 0;
        while (true) {
            String line = line(body, at);
            at += line.length() + 2;
            int bytes = Integer.parseInt(line.split(";", 2)[0].strip(), 16);
            if (bytes == 0) {
                break;
            }
            content.write(body, at, bytes);
            at += bytes + 2;
        }
        Map<String, String> trailers = new TreeMap<>();
        while (at < body.length) {
            String line = line(body, at);
            at += line.length() + 2;
            int colon = line.indexOf(':');
            if (colon > 0) {
                trailers.put(
                        line.substring(0, colon).strip().toLowerCase(Locale.ROOT),
                        line.substring(colon + 1).strip());
            }
        }
        return new Chunked(content.toByteArray(), trailers);
    }

    private static String line(byte[] body, int from) {
        int end = from;
        while (end < body.length && body[end] != '\r') {
            end++;
        }
        return new String(body, from, Math.max(0, end - from), StandardCharsets.UTF_8);
    }

    /// Whether the content is what its sender says.
    static boolean isWhole(byte[] content, Optional<String> crc32) {
        CRC32 crc = new CRC32();
        crc.update(content);
        byte[] bytes =
                ByteBuffer.allocate(Integer.BYTES).putInt((int) crc.getValue()).array();
        return crc32.map(said -> said.equals(Base64.getEncoder().encodeToString(bytes)))
                .orElse(true);
    }
}
