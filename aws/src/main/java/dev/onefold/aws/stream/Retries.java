package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.event.FailedBatch;
import dev.onefold.aws.event.Invocation.Message;
import dev.onefold.aws.event.Invocation.UnreadableEvent;
import dev.onefold.aws.event.StreamName;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.letter.Letter;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.ShardReader.Extent;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.Fates;
import dev.onefold.core.event.Reason;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Takes messages that name records which the event source mapping has given up: reads these from the stream
/// again and brings them into the rows, or into batches. A record may come this way though it is in already, or
/// though records behind it are in: its mark tells.
///
/// Records that the stream has forgotten cannot be read any more. They are kept as a dead letter which names
/// stream, shard and range, and the message is done: no later try would find more. Thread-safe.
public final class Retries {
    private final Store store;
    private final Streams streams;
    private final Function<List<Arrival>, Batches.Taken> intake;

    /// For records that go into the rows.
    public Retries(Store store, Streams streams) {
        this(store, streams, arrivals -> Batches.intoRows(store, arrivals));
    }

    /// @param intake takes records; what it throws is blamed on them, so that they are taken in halves
    public Retries(Store store, Streams streams, Function<List<Arrival>, Batches.Taken> intake) {
        this.store = store;
        this.streams = streams;
        this.intake = intake;
    }

    /// The result of a batch of messages.
    ///
    /// @param fates of records that are done; what is forgotten counts as rejected, once for each message
    /// @param failures reasons why messages must come again, by id; none for the others, which are done
    public record Taken(Fates fates, Map<String, Throwable> failures) {}

    /// Takes messages one after the other; does not fail because one of them does.
    public Taken take(List<Message> messages) {
        Map<String, Throwable> failures = new LinkedHashMap<>();
        Fates fates = Fates.NONE;
        for (Message message : messages) {
            try {
                Batches.Taken taken = take(message);
                fates = fates.plus(taken.fates());
                if (taken.failure() != null) {
                    failures.put(message.id(), taken.failure());
                }
            } catch (RuntimeException | Error failed) {
                failures.put(message.id(), failed);
            }
        }
        return new Taken(fates, failures);
    }

    /// @throws UnreadableEvent if the message is none of the mapping's
    private Batches.Taken take(Message message) {
        Optional<Definition> definition = new Definitions(store).find();
        FailedBatch batch = FailedBatch.read(message.body());
        List<Batches.Taken> parts = new ArrayList<>();
        Extent extent = ShardReader.read(
                store,
                pages(batch),
                new Position.Sequence(batch.firstSequence()),
                new Position.Sequence(batch.lastSequence()),
                arrivals -> parts.add(Batches.take(intake, arrivals)));
        if (!isWhole(batch, extent)) {
            keep(forgotten(batch, message.body(), extent), definition);
            parts.add(new Batches.Taken(new Fates(new Counts(0, 0, 0, 0, 1), Causes.NONE), null));
        }
        return parts.stream().reduce(new Batches.Taken(Fates.NONE, null), Batches.Taken::plus);
    }

    private Pages pages(FailedBatch batch) {
        return StreamName.isTable(batch.streamArn())
                ? new ChangePages(streams.changes(), batch.streamArn(), batch.shardId())
                : new KinesisPages(streams.kinesis(), batch.streamArn(), batch.shardId());
    }

    private static boolean isWhole(FailedBatch batch, Extent extent) {
        return !extent.isCut()
                && isSame(batch.firstSequence(), extent.first())
                && isSame(batch.lastSequence(), extent.last());
    }

    private static boolean isSame(String expected, @Nullable String read) {
        return read != null && new BigInteger(expected).equals(new BigInteger(read));
    }

    private static Letter forgotten(FailedBatch batch, String body, Extent extent) {
        String range = batch.firstSequence() + " to " + batch.lastSequence();
        String found = extent.first() == null
                ? "none of them is there any more"
                : extent.records() + " of them were still there, from " + extent.first() + " to " + extent.last();
        return new Letter(
                "forgotten/" + batch.shard() + ":" + batch.firstSequence() + "-" + batch.lastSequence(),
                Reason.TOO_OLD,
                "The stream has forgotten records of shard " + batch.shardId() + " of " + batch.streamArn()
                        + ", sequence numbers " + range + ", which no invocation could take: " + found
                        + ". Send them again from where they came from.",
                new Arrival(batch.shard(), batch.firstSequence(), 0, body.getBytes(StandardCharsets.UTF_8)),
                DeadLetter.Content.SUMMARY);
    }

    /// Keeps a letter.
    ///
    /// @param definition from before the message was looked at; batches have none
    /// @throws IllegalStateException if the definition has changed since; then the message comes again
    private void keep(Letter letter, Optional<Definition> definition) {
        LetterTable letters = new LetterTable(store);
        if (definition.isEmpty()) {
            letters.keep(List.of(letter));
            return;
        }
        Definitions definitions = new Definitions(store);
        Definition read = definition.get();
        if (!letters.keep(List.of(letter), read.incarnation().id(), () -> List.of(definitions.check(read)))) {
            definitions.moveGates(definitions.load()); // Whoever has changed it may have been stopped before.
            throw new IllegalStateException("The definition was changed while this message was taken");
        }
    }
}
