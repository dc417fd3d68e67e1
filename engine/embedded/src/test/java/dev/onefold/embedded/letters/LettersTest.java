package dev.onefold.embedded.letters;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.bytes.RecordKind;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.embedded.checkpoint.Checkpoint;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.rows.Memory;
import dev.onefold.fixtures.Seeds;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The letters and their log, without an engine.
class LettersTest {
    private static final Malformed MALFORMED = new Malformed(Reason.REFUSED, "refused");

    @TempDir
    Path folder;

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static Checkpoint.Log checkpoint(Letters letters) {
        try {
            LetterCut cut = letters.cut();
            Checkpoint.Log log = letters.write(cut);
            letters.release(cut);
            letters.written(cut);
            return log;
        } catch (OutOfSpaceException e) {
            throw new AssertionError(e);
        }
    }

    private static void change(Letters letters, SortedMap<Long, String> right, RandomGenerator random) {
        for (int step = random.nextInt(60); step > 0; step--) {
            if (random.nextInt(3) == 0 && !right.isEmpty()) {
                assertThat(letters.remove(right.firstKey())).isTrue();
                right.remove(right.firstKey());
            } else {
                String record = "record " + random.nextInt() + "x".repeat(random.nextInt(3_000));
                right.put(letters.idNext(), record);
                letters.add(
                        MALFORMED,
                        RecordIdentity.NONE,
                        new Rejected(0, new Place("s", 1, right.size()), bytes(record), Instant.EPOCH, RecordKind.SENT),
                        DeadLetter.Content.RECORD);
            }
        }
    }

    @Test
    void letters_are_those_of_a_plain_map_before_and_after_their_log_is_read() {
        Seeds.forAllSeeds(20, random -> {
            TreeMap<Long, String> right = new TreeMap<>();
            Checkpoint.Log log = new Checkpoint.Log(0, 0);
            long idNext = 1;
            Path directory;
            try {
                directory = Files.createTempDirectory(folder, "letters");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            for (int life = 0; life < 4; life++) {
                Letters letters = new Letters(directory, 7, new Memory(1 << 30));
                letters.load(log);
                assertThat(letters.idNext()).isGreaterThanOrEqualTo(idNext);
                for (int i = 0; i < 3; i++) {
                    change(letters, right, random);
                    log = checkpoint(letters);
                    assertThat(letters.size()).isEqualTo(right.size());
                    assertThat(letters.list(0, 1_000))
                            .extracting(DeadLetter::id)
                            .containsExactlyElementsOf(right.keySet());
                    right.forEach((id, record) -> assertThat(letters.record(id)).isEqualTo(bytes(record)));
                }
                idNext = letters.idNext();
                letters.close();
                letters.free();
            }
        });
    }
}
