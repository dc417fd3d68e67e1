package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.Collect.Fate;
import dev.onefold.aws.batch.Cutter;
import dev.onefold.aws.batch.Decisions;
import dev.onefold.aws.batch.Deliver;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.store.Store;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.fakes.aws.table.Tables.Backup;
import dev.onefold.simulator.deployment.Deployment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Tables of batches that are restored from backups, of which single items are missing or older.
class BatchRestoresTest {
    private static final Duration RESTORE = Duration.ofMinutes(5);
    private static final Duration BEHIND_FENCE = Duration.ofSeconds(65);
    private static final Duration LONG = Duration.ofMinutes(10);

    private final Deployment deployment = Deployment.calm();
    private final List<Manifest> manifests = new ArrayList<>();
    private final List<String> delivered = new ArrayList<>();
    private Pipeline pipeline = pipeline("idempotent");

    private static Pipeline pipeline(String receiver) {
        String text = "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"id\"},\"batch\":{\"size\":5,"
                + "\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"},\"receiver\":\"" + receiver + "\"}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    private <T> T in(Function<Store, T> task) {
        CompletableFuture<T> done = new CompletableFuture<>();
        Store store = deployment.process(deployment.dynamo.client("sandbox"));
        var _ = deployment.start(() -> {
            try {
                done.complete(task.apply(store));
            } catch (RuntimeException failed) {
                done.completeExceptionally(failed);
            }
        });
        return deployment.time.runUntil(done);
    }

    private void open() {
        in(store -> BatchDefinition.openOrCreate(store, pipeline, 1));
    }

    private List<Fate> collect(int from, int to) {
        return in(store -> collect(store, from, to));
    }

    private List<Fate> collect(Store store, int from, int to) {
        List<Arrival> arrivals = IntStream.range(from, to)
                .mapToObj(i ->
                        new Arrival("queue", "m" + i, 0, ("{\"id\":\"" + i + "\"}").getBytes(StandardCharsets.UTF_8)))
                .toList();
        return new Collect(store, pipeline, 1).collect(arrivals).fates();
    }

    private int cut() {
        return in(store -> new Cutter(store, (Batching) pipeline.fold(), 1).run());
    }

    private long sealed() {
        return in(store -> AwsBatchEngine.deployed(store).batches().summary().sealed());
    }

    private void deliver() {
        DeliveryRules rules = new DeliveryRules((Batching) pipeline.fold(), null);
        Deliver.Limits limits = new Deliver.Limits(Duration.ofMinutes(5), Duration.ofSeconds(30));
        int _ = in(store ->
                new Deliver(store, pipeline, new Deliver.Receiver(rules, this::receive), limits).run(() -> LONG));
    }

    private Outcome receive(Deliver.Handover handover) {
        manifests.add(handover.manifest());
        try (var content = handover.content().get()) {
            new String(content.readAllBytes(), StandardCharsets.UTF_8).lines().forEach(delivered::add);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Outcome.Done();
    }

    private void goOn() {
        for (int minute = 0; minute < 4; minute++) {
            deployment.time.runFor(Duration.ofMinutes(1));
            cut();
            deliver();
        }
    }

    private Backup rows() {
        return deployment.dynamo.backup(deployment.tables.rows());
    }

    private static Predicate<Map<String, AttributeValue>> named(String prefix) {
        return item -> new String(Items.bytes(item, "k"), StandardCharsets.ISO_8859_1).startsWith("\0" + prefix);
    }

    private static Backup without(Backup backup, String prefix) {
        return new Backup(
                backup.table(),
                backup.items().stream().filter(named(prefix).negate()).toList());
    }

    /// The backup with this item as it was in an earlier one.
    private static Backup with(Backup backup, String name, Backup earlier) {
        return new Backup(
                backup.table(),
                Stream.concat(
                                without(backup, name).items().stream(),
                                earlier.items().stream().filter(named(name)))
                        .toList());
    }

    private void restore(Backup backup) {
        deployment.dynamo.restore(backup, RESTORE);
        deployment.time.runFor(RESTORE);
    }

    private BatchesRestored.Report restored() {
        return in(BatchRestoresTest::takeOver);
    }

    private static BatchesRestored.Report takeOver(Store store) {
        return BatchesRestored.takeOver(store, BatchesRestored.look(store).orElseThrow());
    }

    /// Somebody takes over, and a process that was frozen since it found the tables to be known goes on behind the
    /// fence.
    private BatchesRestored.Report restoredBeside(Consumer<Store> frozen) {
        Store late = deployment.process(deployment.dynamo.client("frozen"));
        late.ids().note(List.of(), deployment.time.instant().plusSeconds(90));
        CompletableFuture<BatchesRestored.Report> report = new CompletableFuture<>();
        Store store = deployment.process(deployment.dynamo.client("person"));
        var _ = deployment.start(() -> report.complete(takeOver(store)));
        deployment.time.runFor(BEHIND_FENCE);
        var _ = deployment.start(() -> frozen.accept(late));
        return deployment.time.runUntil(report);
    }

    private static List<String> lines(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "{\"id\":\"" + i + "\"}").toList();
    }

    @Test
    void after_a_restore_nothing_is_acknowledged_sealed_or_delivered_until_restored_has_run() {
        open();
        collect(0, 5);
        restore(rows());
        assertThatThrownBy(() -> collect(0, 3)).hasMessageContaining("'onefold aws restored'");
        assertThatThrownBy(this::cut).hasMessageContaining("'onefold aws restored'");
        assertThatThrownBy(this::deliver).hasMessageContaining("'onefold aws restored'");
        assertThatThrownBy(this::open).hasMessageContaining("'onefold aws restored'");
        restored();
        assertThat(collect(3, 6)).containsOnly(Fate.RECORDED);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 6));
    }

    @Test
    void an_id_whose_chunk_was_lost_before_it_was_sealed_is_accepted_again() {
        open();
        collect(0, 3);
        restore(without(rows(), "chunk/"));
        assertThat(restored().reaccepted()).isEqualTo(3);
        collect(0, 3);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 3));
    }

    @Test
    void an_id_whose_chunk_and_header_were_lost_is_accepted_again() {
        open();
        collect(0, 3);
        restore(without(without(rows(), "chunk/"), "lane/"));
        restored();
        collect(0, 3);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 3));
    }

    @Test
    void an_id_whose_chunk_was_freed_behind_an_ended_batch_is_still_known() {
        open();
        collect(0, 5);
        goOn();
        restore(without(rows(), "chunk/"));
        assertThat(restored().reaccepted()).isZero();
        collect(0, 5);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 5));
    }

    @Test
    void a_batch_that_is_lost_does_not_keep_the_next_one_from_its_receiver_and_is_named() {
        open();
        collect(0, 5);
        cut();
        Backup backup = without(rows(), "batch/");
        restore(backup);
        assertThat(restored().lost()).singleElement().asString().contains("000001");
        collect(5, 10);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 10));
    }

    @Test
    void a_header_or_a_cut_of_an_earlier_moment_stops_nothing() {
        open();
        collect(0, 5);
        cut();
        Backup earlier = rows();
        collect(5, 10);
        cut();
        restore(with(with(rows(), "lane/0", earlier), "cut", earlier));
        restored();
        assertThat(collect(5, 15)).containsOnly(Fate.RECORDED);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 15));
    }

    @Test
    void a_number_that_a_receiver_may_have_seen_is_not_given_again() {
        open();
        collect(0, 5);
        goOn();
        Backup earlier = rows();
        collect(5, 10);
        goOn();
        restore(earlier);
        restored();
        collect(10, 15);
        goOn();
        restore(earlier);
        restored();
        collect(20, 25);
        goOn();
        assertThat(manifests.stream().map(Manifest::id)).doesNotHaveDuplicates().hasSize(4);
        assertThat(manifests.stream().skip(2).map(Manifest::previous)).containsOnly("");
    }

    @Test
    void of_a_receiver_that_is_once_all_that_is_not_known_to_be_done_is_in_doubt() {
        pipeline = pipeline("once");
        open();
        collect(0, 5);
        goOn();
        collect(5, 10);
        cut();
        collect(10, 12);
        restore(rows());
        assertThat(restored().inDoubt()).isEqualTo(2);
        goOn();
        assertThat(manifests).hasSize(1);
        List<Decisions.Held> held = in(store -> new Decisions(store).held());
        assertThat(held).hasSize(2);
        assertThatThrownBy(() ->
                        in(store -> new Decisions(store).release(held.getFirst().number(), 1)))
                .hasMessageContaining("may still be under way");
        deployment.time.runFor(Duration.ofMinutes(20));
        for (Decisions.Held each : held) {
            int generation = each.delivery().tries().generation();
            boolean isReleased = in(store -> new Decisions(store).release(each.number(), generation));
            assertThat(isReleased).isTrue();
        }
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 12));
    }

    @Test
    void a_chunk_that_is_missing_is_an_error_that_names_it() {
        open();
        collect(0, 3);
        deployment.of(deployment
                .dynamo
                .client("hand")
                .deleteItem(
                        request -> request.tableName(deployment.tables.rows()).key(RowItem.other("chunk/0/0"))));
        assertThatThrownBy(this::cut).hasMessageContaining("Chunk 0 of lane 0 is not in table");
        restored();
        collect(0, 3);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 3));
    }

    @Test
    void a_batch_that_is_missing_before_one_that_waits_is_an_error_that_names_it() {
        open();
        collect(0, 5);
        cut();
        deployment.of(deployment
                .dynamo
                .client("hand")
                .deleteItem(request ->
                        request.tableName(deployment.tables.rows()).key(RowItem.other("batch/" + BatchNumber.of(1)))));
        collect(5, 10);
        cut();
        deployment.time.runFor(Duration.ofMinutes(2));
        assertThatThrownBy(this::deliver).hasMessageContaining("Batch 000001 is not in table");
    }

    @Test
    void of_several_people_who_take_over_at_once_one_comes_to_its_end() {
        open();
        collect(0, 7);
        cut();
        restore(rows());
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Store store = deployment.process(deployment.dynamo.client("person"));
            all.add(deployment.start(() -> {
                BatchesRestored.Report _ = takeOver(store);
            }));
        }
        deployment.time.runFor(Duration.ofMinutes(3));
        assertThat(Collections.frequency(
                        all.stream()
                                .map(CompletableFuture::isCompletedExceptionally)
                                .toList(),
                        false))
                .isOne();
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 7));
    }

    @Test
    void what_a_frozen_process_collects_behind_the_fence_is_delivered_once() {
        open();
        collect(0, 3);
        List<Fate> fates = new ArrayList<>();
        restoredBeside(store -> fates.addAll(collect(store, 3, 6)));
        goOn();
        assertThat(fates).hasSize(3).containsOnly(Fate.RECORDED);
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 6));
    }

    @Test
    void a_frozen_process_that_seals_behind_the_fence_does_not_keep_ids_of_lost_chunks_known() {
        open();
        collect(0, 3);
        restore(without(rows(), "chunk/"));
        BatchesRestored.Report report = restoredBeside(store -> {
            collect(store, 3, 6);
            int _ = new Cutter(store, (Batching) pipeline.fold(), 1).sealNow();
        });
        assertThat(report.reaccepted()).isEqualTo(3);
        collect(0, 3);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 6));
    }

    @Test
    void tables_that_somebody_else_has_taken_over_since_they_were_looked_at_are_left_alone() {
        open();
        collect(0, 3);
        restore(rows());
        BatchesRestored.Looked looked = in(BatchesRestored::look).orElseThrow();
        restored();
        assertThatThrownBy(() -> in(store -> BatchesRestored.takeOver(store, looked)))
                .hasMessageContaining("Somebody else");
        assertThat(collect(3, 5)).containsOnly(Fate.RECORDED);
    }

    /// A definition, as an earlier version wrote it.
    private Backup ofEarlierVersion(Backup backup) {
        return new Backup(
                backup.table(),
                backup.items().stream()
                        .map(item -> {
                            Map<String, AttributeValue> older = new HashMap<>(item);
                            if (named("batches").test(item)) {
                                older.keySet().removeAll(List.of("i", "d"));
                            }
                            return older;
                        })
                        .toList());
    }

    @Test
    void a_backup_from_before_definitions_named_tables_is_refused_until_restored_has_run() {
        open();
        collect(0, 3);
        restore(ofEarlierVersion(rows()));
        assertThat(in(BatchesRestored::look).orElseThrow().tables())
                .extracting(BatchesRestored.Found::isOther)
                .containsExactly(true, false, false);
        assertThatThrownBy(this::open).hasMessageContaining("'onefold aws restored'");
        assertThatThrownBy(() -> collect(0, 3)).hasMessageContaining("'onefold aws restored'");
        restored();
        open();
        assertThat(collect(3, 6)).containsOnly(Fate.RECORDED);
    }

    @Test
    void a_message_whose_mark_names_no_chunk_is_accepted_again_when_its_chunk_was_lost() {
        pipeline = pipeline("idempotent\",\"forget\":\"after-delivery\",\"compare\":\"none");
        open();
        collect(0, 3);
        Backup backup = without(rows(), "chunk/");
        restore(new Backup(
                backup.table(),
                backup.items().stream()
                        .map(item -> {
                            Map<String, AttributeValue> older = new HashMap<>(item);
                            if (item.containsKey("ttl")) {
                                older.keySet().removeAll(List.of("l", "c", "in"));
                            }
                            return older;
                        })
                        .toList()));
        restored();
        collect(0, 3);
        goOn();
        assertThat(delivered).containsExactlyInAnyOrderElementsOf(lines(0, 3));
    }

    @Test
    void numbers_that_were_never_given_are_not_counted_and_not_named_as_missing() {
        open();
        restore(rows());
        restored();
        collect(0, 5);
        goOn();
        assertThat(sealed()).isOne();
        restore(rows());
        assertThat(restored().lost()).isEmpty();
        collect(5, 10);
        goOn();
        assertThat(sealed()).isEqualTo(2);
    }
}
