package dev.onefold.embedded.delivery;

import dev.onefold.core.EngineException;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/// Reads the keys of a batch's records from the records themselves, by the pipeline of today. So no key is
/// stored, and the key may be another one between two runs: records that have none by it share one. Not
/// thread-safe.
final class MemberKeys {
    private final Decoder decoder;
    private final byte[] buffer = new byte[1 << 16];
    private byte[] line = new byte[1 << 12];

    MemberKeys(Pipeline pipeline) {
        decoder = new Decoder(pipeline);
    }

    /// The hashes of the keys of records, in their order.
    ///
    /// @param records each with its line end
    /// @param count how many there are
    long[] of(InputStream records, int count) {
        long[] keys = new long[count];
        int found = 0;
        int length = 0;
        try (records) {
            for (int read = records.read(buffer); read >= 0; read = records.read(buffer)) {
                for (int i = 0; i < read; i++) {
                    if (buffer[i] == '\n') {
                        keys[found++] = key(length);
                        length = 0;
                        continue;
                    }
                    if (length + Decoder.PADDING == line.length) {
                        line = Arrays.copyOf(line, 2 * line.length);
                    }
                    line[length++] = buffer[i];
                }
            }
        } catch (IOException e) {
            throw new EngineException(
                    EngineException.Kind.STORAGE_FAILED, "A batch cannot be read: " + e.getMessage(), e);
        }
        return keys;
    }

    /// Also of a record that would be refused today, as one above the limits of today: it is in a batch already.
    private long key(int length) {
        decoder.decode(line, 0, length);
        return decoder.event().orderHash;
    }

    /// Keys, each once.
    static long[] distinct(long[] keys) {
        return keys.length < 2 ? keys : Arrays.stream(keys).distinct().toArray();
    }
}
