package dev.onefold.embedded.delivery;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Compression;
import dev.onefold.embedded.batches.Batches;
import dev.onefold.embedded.disk.OutOfSpaceException;
import dev.onefold.embedded.guard.Space;
import dev.onefold.embedded.source.SpaceListener;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The copying of a batch that holds up the tape. The copies are made when the test starts them.
class TapeUseTest {
    private static final int BATCHES = 20;
    private static final byte[] LINE = "x".repeat(100).getBytes(StandardCharsets.US_ASCII);
    private static final long UNDELIVERED_BYTES_MAX = 1_000;
    private static final Delivery DONE = new Delivery.Done(Delivery.Tries.NONE, 5, Delivery.How.DELIVERED);
    private static final Delivery ASIDE = new Delivery.Aside(Delivery.Tries.NONE, 5, "no", false);

    @TempDir
    private Path directory;

    private Instant now = Instant.parse("2030-01-01T00:00:00Z");
    private final InstantSource clock = () -> now;
    private final Space space = new Space(() -> {}, clock, SpaceListener.silent());
    private final List<Runnable> copies = new ArrayList<>();
    private Batches batches;
    private Ledger ledger;
    private Contents contents;
    private TapeUse tape;

    /// The first batch is put aside, and all behind it are done.
    @BeforeEach
    void putAside() throws OutOfSpaceException {
        batches = new Batches(batching(), directory, 42);
        for (int i = 0; i < BATCHES; i++) {
            batches.add(LINE, 0, LINE.length, 1, 1);
        }
        Batches.Cut cut = batches.cut();
        batches.write(cut);
        batches.written(cut);
        ledger = new Ledger(directory, 42, space, batches, true);
        contents = new Contents(directory, batches, Compression.NONE, space);
        tape = new TapeUse(batches, ledger, contents, UNDELIVERED_BYTES_MAX, clock);
        for (int number = 1; number <= BATCHES; number++) {
            ledger.begin(1);
            end(number, number == 1 ? ASIDE : DONE);
        }
    }

    @AfterEach
    void close() {
        ledger.close();
    }

    private static Batching batching() {
        Reading read = PipelineText.read("{\"pipeline\":\"q\",\"input\":{\"id\":\"id\"},\"batch\":{\"size\":1,"
                + "\"deliver\":{\"http\":\"http://h/\"},\"receiver\":\"idempotent\"}}");
        return (Batching) ((Reading.Read) read).pipeline().fold();
    }

    private void end(long number, Delivery delivery) {
        ledger.put(new Handled(BatchNumber.of(number), null, delivery, "ab".repeat(32), 7, ""));
        ledger.force();
    }

    private void letGo() {
        tape.letGo(Set.of(), copies::add);
    }

    @Test
    void a_batch_that_holds_up_the_tape_is_copied_and_the_tape_goes() {
        letGo();
        letGo();
        assertThat(copies).hasSize(1);
        assertThat(batches.undeliveredBytes()).isEqualTo(BATCHES * (LINE.length + 1L));
        copies.getFirst().run();
        assertThat(contents.held().has(1)).isTrue();
        letGo();
        assertThat(batches.undeliveredBytes()).as("the copy alone").isEqualTo(LINE.length + 1L);
        assertThat(batches.firstKnown()).isOne();
    }

    @Test
    void a_copy_of_a_batch_that_has_ended_meanwhile_is_given_up_and_the_tape_goes() {
        letGo();
        end(1, DONE);
        letGo();
        assertThat(batches.undeliveredBytes()).as("the copy may read the tape").isPositive();
        copies.getFirst().run();
        assertThat(contents.held().has(1)).isFalse();
        letGo();
        assertThat(batches.undeliveredBytes()).isZero();
        assertThat(copies).hasSize(1);
    }

    @Test
    void a_copy_that_could_not_be_made_is_tried_again_after_two_minutes_and_not_before() {
        space.closing(); // A copy that is made now ends without a file.
        letGo();
        copies.getFirst().run();
        assertThat(contents.held().has(1)).isFalse();
        now = now.plus(Duration.ofSeconds(119));
        letGo();
        assertThat(copies).hasSize(1);
        now = now.plus(Duration.ofSeconds(1));
        letGo();
        assertThat(copies).hasSize(2);
    }
}
