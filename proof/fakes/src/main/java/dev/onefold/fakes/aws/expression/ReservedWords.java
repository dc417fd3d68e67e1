package dev.onefold.fakes.aws.expression;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Locale;
import java.util.Set;

/// The words that may name an attribute only through a placeholder.
final class ReservedWords {
    private static final Set<String> WORDS = read();

    private ReservedWords() {}

    static boolean contains(String word) {
        return WORDS.contains(word.toLowerCase(Locale.ROOT));
    }

    private static Set<String> read() {
        try (InputStream file = ReservedWords.class.getResourceAsStream("reserved-words.txt")) {
            if (file == null) {
                throw new IllegalStateException("reserved-words.txt is not beside its class.");
            }
            return Set.of(new String(file.readAllBytes(), UTF_8).strip().split("\\s+"));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }
}
