package dev.onefold.aws.batch;

import dev.onefold.aws.batch.CutItem.Gaps;
import dev.onefold.aws.batch.Deliveries.Listed;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.store.BatchReads;
import dev.onefold.aws.store.Store;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Order;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// The batches of a deployment, as a person sees them. What is read is as it was at some moment of the reading:
/// the functions go on meanwhile.
public final class AwsBatches implements SealedBatches {
    private static final int LISTED_MAX = 20_000;
    private static final int EXPORT_BYTES = 1 << 16;

    private final Store store;
    private final Pipeline pipeline;
    private final int lanes;
    private final Deliveries deliveries;
    private final Chunks chunks;

    /// The batches of what is deployed.
    public AwsBatches(Store store, BatchDefinition definition) {
        this.store = store;
        pipeline = definition.pipeline();
        lanes = definition.lanes();
        deliveries = new Deliveries(store);
        chunks = new Chunks(store);
    }

    private Cutter cutter() {
        return new Cutter(store, (Batching) pipeline.fold(), lanes);
    }

    @Override
    public Summary summary() {
        Cutter.Progress progress = cutter().progress();
        List<Listed> open = deliveries.listed(Deliveries.OPEN, LISTED_MAX);
        List<Listed> person = deliveries.listed(Deliveries.PERSON, LISTED_MAX);
        int inDoubt = (int) person.stream().filter(Listed::isInDoubt).count();
        long sealed = progress.sealed() - Gaps.load(store).count(progress.sealed());
        boolean isStrict = ((Batching) pipeline.fold()).order() == Order.STRICT;
        List<BatchNumber> undelivered = Stream.concat(open.stream(), person.stream())
                .map(Listed::number)
                .sorted()
                .toList();
        return new Summary(
                progress.openRecords(),
                progress.openMs().isEmpty()
                        ? null
                        : Instant.ofEpochMilli(progress.openMs().getAsLong()),
                sealed,
                sealed
                        - undelivered.stream()
                                .mapToLong(BatchNumber::number)
                                .filter(number -> number <= progress.sealed()) // Others were sealed since it was read.
                                .distinct()
                                .count(),
                undelivered.size(),
                (int) open.stream().filter(Listed::isStarted).count(),
                inDoubt,
                person.size() - inDoubt,
                undelivered.isEmpty()
                        ? null
                        : Instant.ofEpochMilli(sealed(undelivered.getFirst()).sealedMs()),
                isStrict && !person.isEmpty() ? person.getFirst().number() : null,
                bytes(undelivered),
                decided(),
                null);
    }

    private Decided decided() {
        List<Listed> decided = deliveries.listed(Deliveries.DECIDED, LISTED_MAX);
        List<Listed> discarded = decided.stream().filter(Listed::isDiscarded).toList();
        return new Decided(
                decided.size() - discarded.size(),
                discarded.size(),
                discarded.stream().mapToLong(Listed::records).sum());
    }

    private long bytes(List<BatchNumber> undelivered) {
        List<BatchNumber> whole = undelivered.stream()
                .map(number -> BatchNumber.of(number.number()))
                .distinct()
                .toList();
        return BatchReads.of(
                        store,
                        store.tables().rows(),
                        whole.stream().map(DeliveryItem::key).toList(),
                        null)
                .stream()
                .mapToLong(item -> Items.number(item, "b"))
                .sum();
    }

    private SealedBatch sealed(BatchNumber number) {
        return SealedBatch.of(deliveries.load(BatchNumber.of(number.number())).attributes());
    }

    @Override
    public List<Line> list(BatchNumber from, int max, boolean isOpenOnly) {
        List<Line> lines = new ArrayList<>();
        if (isOpenOnly) {
            Stream.of(Deliveries.OPEN, Deliveries.PERSON)
                    .flatMap(list -> deliveries.listed(list, LISTED_MAX).stream())
                    .map(Listed::number)
                    .filter(number -> number.compareTo(from) >= 0)
                    .sorted()
                    .limit(max)
                    .forEach(number -> find(number).ifPresent(lines::add));
            return lines;
        }
        long sealed = cutter().progress().sealed();
        for (long number : IdRemoval.kept(store, sealed)
                .filter(each -> each >= from.number())
                .toArray()) {
            if (lines.size() >= max) {
                break;
            }
            addWithParts(BatchNumber.of(number), from, lines);
        }
        return lines.subList(0, Math.min(max, lines.size()));
    }

    private void addWithParts(BatchNumber number, BatchNumber from, List<Line> lines) {
        Optional<DeliveryItem> found = deliveries.find(number);
        if (found.isEmpty()) {
            return; // Sealed, and not seen yet.
        }
        if (number.compareTo(from) >= 0) {
            lines.add(line(found.get()));
        }
        for (int part = 1; part <= found.get().parts(); part++) {
            addWithParts(number.part(part), from, lines);
        }
    }

    @Override
    public Optional<Line> find(BatchNumber number) {
        return deliveries.find(number).map(this::line);
    }

    private Line line(DeliveryItem item) {
        SealedBatch batch = sealed(item.number());
        Delivery delivery = item.delivery();
        int records = item.members().count();
        return new Line(
                item.number(),
                Manifest.id(pipeline.name(), idNumber(item, batch)),
                records,
                bytes(item, batch, records),
                Instant.ofEpochMilli(batch.sealedMs()),
                delivery.word(),
                delivery.tries().count(),
                delivery.reason(),
                next(delivery));
    }

    private BatchNumber idNumber(DeliveryItem item, SealedBatch batch) {
        return item.isRemoved() // Its chunk is perhaps removed, too.
                ? item.number()
                : chunks.numberFor((Batching) pipeline.fold(), item.number(), batch);
    }

    /// Of a part, only a proof tells.
    private long bytes(DeliveryItem item, SealedBatch batch, int records) {
        if (records == batch.cut().records()) {
            return batch.cut().bytes();
        }
        return item.proof().isPresent() ? item.proof().get().bytes() : length(item, batch);
    }

    private long length(DeliveryItem item, SealedBatch batch) {
        long[] length = new long[1];
        read(new Content(chunks, batch, item.members()), bytes -> length[0] += bytes.length);
        return length[0];
    }

    private static @Nullable Instant next(Delivery delivery) {
        return delivery instanceof Delivery.Waiting waiting && waiting.tries().count() > 0
                ? Instant.ofEpochMilli(waiting.notBeforeMs())
                : null;
    }

    @Override
    public Line release(BatchNumber number) {
        DeliveryItem item = there(number);
        boolean isPossible =
                DeliveryRules.canRelease(item.delivery(), store.clock().millis());
        return decided(item, isPossible, generation -> new Decisions(store).release(number, generation));
    }

    @Override
    public Line settle(BatchNumber number, Delivery.How how) {
        DeliveryItem item = there(number);
        boolean isPossible = item.delivery().awaitsPerson();
        return decided(item, isPossible, generation -> new Decisions(store).settle(number, generation, how));
    }

    private interface Decision {
        boolean on(int generation);
    }

    private Line decided(DeliveryItem item, boolean isPossible, Decision decision) {
        BatchNumber number = item.number();
        if (!isPossible) {
            throw new IllegalArgumentException("Batch " + number + " does not wait for a person: it is "
                    + item.delivery().word());
        }
        if (!decision.on(item.delivery().tries().generation())) {
            throw new IllegalArgumentException("Somebody else has decided about batch " + number + " meanwhile");
        }
        return line(deliveries.load(number));
    }

    private DeliveryItem there(BatchNumber number) {
        return deliveries.find(number).orElseThrow(() -> {
            if (Gaps.load(store).contains(number.number())) {
                return new IllegalArgumentException("Batch " + number
                        + " is not there since tables were restored; or it" + " was done, and its content was removed");
            }
            boolean wasSealed = number.number() >= 1
                    && number.number() <= cutter().progress().sealed();
            return new IllegalArgumentException(
                    wasSealed
                            ? "Batch " + number + " is done, and its content was removed " + IdRemoval.KEPT.toDays()
                                    + " days after it was sealed"
                            : "There is no batch " + number);
        });
    }

    @Override
    public void export(BatchNumber number, Consumer<byte[]> sink) {
        DeliveryItem item = there(number);
        read(new Content(chunks, sealed(number), item.members()), sink);
    }

    private static void read(Content content, Consumer<byte[]> sink) {
        byte[] buffer = new byte[EXPORT_BYTES];
        try (InputStream in = content) {
            for (int count = in.read(buffer); count >= 0; count = in.read(buffer)) {
                sink.accept(Arrays.copyOf(buffer, count));
            }
        } catch (IOException e) {
            throw new IllegalStateException("The content of a batch throws no such exception", e);
        }
    }

    @Override
    public boolean seal() {
        return cutter().sealNow() > 0;
    }
}
