package dev.onefold.simulator.lanes;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.batch.BatchesRestored;
import dev.onefold.aws.batch.IdRemoval;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What a restored table of batches knows of ids, and what comes of the records that are sent again then.
class ClaimRestoresTest {
    private static final String IDEMPOTENT = "\"receiver\":\"idempotent\"";
    private static final String ONCE = "\"receiver\":\"once\"";

    private static DeliveriesAtWork open(String settings) {
        return open(new DeliveriesAtWork(5, settings));
    }

    private static DeliveriesAtWork open(DeliveriesAtWork work) {
        work.in(store -> BatchDefinition.openOrCreate(store, work.pipeline, DeliveriesAtWork.LANES));
        return work;
    }

    private static BatchesRestored.Report takenOver(DeliveriesAtWork work) {
        return work.in(store ->
                BatchesRestored.takeOver(store, BatchesRestored.look(store).orElseThrow()));
    }

    private static String[] bodies(int from, int to) {
        return IntStream.range(from, to).mapToObj(i -> "{\"id\":" + i + "}").toArray(String[]::new);
    }

    /// A backup has lost the items that pass.
    private static void lose(DeliveriesAtWork work, String table, Predicate<Map<String, AttributeValue>> which) {
        work.in(store -> {
            var items = store.client().scan(request -> request.tableName(table)).join().items().stream()
                    .filter(which)
                    .toList();
            assertThat(items).isNotEmpty();
            items.forEach(item -> store.client()
                    .deleteItem(request -> request.tableName(table)
                            .key(
                                    item.containsKey("k") && !item.containsKey("p")
                                            ? Map.of("k", item.get("k"))
                                            : Map.of("p", item.get("p"), "i", item.get("i"))))
                    .join());
            return items.size();
        });
    }

    private static void loseClaims(DeliveriesAtWork work) {
        lose(work, work.deployment.tables.rows(), RowItem::isRow);
    }

    private static void resend(DeliveriesAtWork work, String... bodies) {
        work.collect(bodies);
        work.passed(Duration.ofHours(1));
        work.cut();
        work.deliver();
    }

    private static void hideChunks(DeliveriesAtWork work) {
        work.keys().stream().filter(key -> key.startsWith("chunk/")).forEach(work::hide);
    }

    @ParameterizedTest
    @ValueSource(strings = {IDEMPOTENT, ONCE, IDEMPOTENT + ",\"compare\":[\"id\"]", IDEMPOTENT + ",\"forget\":\"15d\""})
    void a_record_that_was_delivered_and_whose_claim_was_lost_is_not_delivered_again(String settings) {
        DeliveriesAtWork work = open(settings);
        work.seal(5);
        work.deliver();
        loseClaims(work);
        takenOver(work);
        resend(work, bodies(0, 5));
        assertThat(work.lines).containsExactlyInAnyOrder(bodies(0, 5));
        work.in(store -> {
            assertThat(new LetterTable(store).list(0, 9)).isEmpty();
            return null;
        });
    }

    @Test
    void a_record_in_no_batch_whose_claim_was_lost_is_delivered_once() {
        DeliveriesAtWork work = open(IDEMPOTENT);
        work.collect(bodies(0, 3));
        loseClaims(work);
        takenOver(work);
        resend(work, bodies(0, 3));
        assertThat(work.lines).containsExactlyInAnyOrder(bodies(0, 3));
    }

    @Test
    void another_content_under_an_id_whose_claim_was_lost_is_a_dead_letter() {
        DeliveriesAtWork work = open(IDEMPOTENT);
        work.seal(5);
        work.deliver();
        loseClaims(work);
        takenOver(work);
        resend(work, "{\"id\":0,\"a\":1}");
        assertThat(work.lines).containsExactlyInAnyOrder(bodies(0, 5));
        assertThat(letters(work)).hasSize(1);
    }

    private static List<DeadLetter> letters(DeliveriesAtWork work) {
        return work.in(store -> new LetterTable(store).list(0, 9));
    }

    @Test
    void a_large_record_whose_claim_was_lost_is_not_delivered_again() {
        String large = "{\"id\":1,\"text\":\"" + "x".repeat(400_000) + "\"}";
        DeliveriesAtWork work = open(IDEMPOTENT);
        resend(work, large);
        loseClaims(work);
        takenOver(work);
        resend(work, large);
        assertThat(work.lines).containsExactly(large);
    }

    @Test
    void a_message_that_is_its_own_id_and_whose_claim_was_lost_is_not_delivered_again() {
        DeliveriesAtWork work = open(new DeliveriesAtWork(byMessage()));
        work.seal(5);
        work.deliver();
        loseClaims(work);
        takenOver(work);
        resend(work, bodies(0, 5));
        assertThat(work.lines).containsExactlyInAnyOrder(bodies(0, 5));
    }

    private static Pipeline byMessage() {
        String text =
                "{\"pipeline\":\"orders\",\"input\":{\"format\":\"json\",\"id\":\"message\"},\"batch\":{\"size\":5,"
                        + "\"wait\":\"2m\",\"deliver\":{\"http\":\"http://host/x\"}," + IDEMPOTENT + "}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> read;
            case Reading.Refused(var problems) -> throw new IllegalArgumentException(problems.toString());
        };
    }

    @Test
    void an_id_that_was_forgotten_after_its_delivery_is_not_known_after_a_restore() {
        DeliveriesAtWork work = open(IDEMPOTENT + ",\"forget\":\"after-delivery\",\"compare\":\"none\"");
        work.seal(5);
        work.deliver();
        loseClaims(work);
        takenOver(work);
        resend(work, "{\"id\":0,\"of\":\"another message\"}");
        assertThat(work.lines).hasSize(6).endsWith("{\"id\":0,\"of\":\"another message\"}");
    }

    @Test
    void an_id_that_was_forgotten_is_accepted_again_though_a_backup_has_its_claim_and_not_its_chunk() {
        DeliveriesAtWork work = open(IDEMPOTENT + ",\"forget\":\"after-delivery\",\"compare\":\"none\"");
        work.seal(5);
        work.deliver();
        hideChunks(work);
        takenOver(work);
        resend(work, "{\"id\":0,\"of\":\"another message\"}");
        assertThat(work.lines).hasSize(6).endsWith("{\"id\":0,\"of\":\"another message\"}");
    }

    @Test
    void an_id_that_is_forgotten_after_its_delivery_is_known_before_it() {
        DeliveriesAtWork work = open(IDEMPOTENT + ",\"forget\":\"after-delivery\",\"compare\":\"none\"");
        work.seal(5);
        loseClaims(work);
        takenOver(work);
        resend(work, bodies(0, 5));
        assertThat(work.lines).containsExactlyInAnyOrder(bodies(0, 5));
    }

    private static DeliveriesAtWork undelivered(String settings) {
        DeliveriesAtWork work = open(settings);
        work.receiver = _ -> new Outcome.NotNow("down", null);
        work.seal(5);
        work.deliver();
        work.receiver = _ -> new Outcome.Done();
        work.lines.clear();
        hideChunks(work);
        return work;
    }

    @Test
    void the_ids_of_an_undelivered_batch_whose_chunks_were_lost_are_accepted_again() {
        DeliveriesAtWork work = undelivered(IDEMPOTENT);
        BatchesRestored.Report report = takenOver(work);
        assertThat(report.reaccepted()).isEqualTo(5);
        assertThat(report.lost()).singleElement().asString().contains("accepted again");
        resend(work, bodies(0, 5));
        assertThat(work.lines).containsExactlyInAnyOrder(bodies(0, 5));
    }

    @Test
    void with_once_the_ids_of_a_batch_whose_chunks_were_lost_stay_known_and_the_report_says_so() {
        DeliveriesAtWork work = undelivered(ONCE);
        BatchesRestored.Report report = takenOver(work);
        assertThat(report.reaccepted()).isZero();
        assertThat(report.lost()).singleElement().asString().contains("under other ids");
        resend(work, bodies(0, 5));
        assertThat(work.lines).isEmpty();
    }

    @Test
    void a_claim_of_an_ended_batch_does_not_hide_a_later_record_of_its_id() {
        DeliveriesAtWork work = open(IDEMPOTENT + ",\"forget\":\"after-delivery\",\"compare\":\"none\"");
        resend(work, "{\"id\":0}");
        Map<String, AttributeValue> claim = hideClaim(work);
        work.collect("{\"id\":0,\"of\":\"another message\"}");
        work.show(claim);
        takenOver(work);
        forget(work);
        resend(work, "{\"id\":0,\"of\":\"a third message\"}");
        assertThat(work.lines).containsExactly("{\"id\":0}", "{\"id\":0,\"of\":\"another message\"}");
    }

    private static void forget(DeliveriesAtWork work) {
        work.in(store -> {
            new IdRemoval(store, work.batching(), DeliveriesAtWork.LANES).run(Duration.ofHours(1));
            return true;
        });
    }

    private static Map<String, AttributeValue> hideClaim(DeliveriesAtWork work) {
        Map<Boolean, List<Map<String, AttributeValue>>> items = work.keys().stream()
                .filter(key -> !key.matches("[a-z].*"))
                .map(work::hide)
                .collect(Collectors.partitioningBy(item -> item.containsKey("h")));
        items.get(false).forEach(work::show);
        return items.get(true).getFirst();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ",\"forget\":\"after-delivery\",\"compare\":\"none\"", ",\"forget\":\"15d\""})
    void records_of_a_batch_that_was_freed_are_not_delivered_again_though_a_backup_has_their_chunk(String forget) {
        DeliveriesAtWork work = open(IDEMPOTENT + forget);
        work.seal(5);
        work.deliver();
        work.seal(5);
        work.deliver();
        work.passed(IdRemoval.KEPT.plusDays(1));
        List<Map<String, AttributeValue>> chunks = work.keys().stream()
                .filter(key -> key.startsWith("chunk/"))
                .map(work::hide)
                .toList();
        chunks.forEach(work::show);
        forget(work);
        assertThat(work.keys().stream().filter(key -> key.startsWith("batch/"))).hasSize(1);
        chunks.forEach(work::show);
        assertThat(takenOver(work).inDoubt()).isOne();
        resend(work, "{\"id\":99}");
        assertThat(work.lines).hasSize(11).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @ValueSource(strings = {",\"remembers\":\"1h\"}", "},\"bisect\":true"})
    void a_batch_that_waits_is_in_doubt_where_its_receiver_does_not_bear_another_delivery(String settings) {
        int end = settings.indexOf('}') + 1;
        DeliveriesAtWork work = open(new DeliveriesAtWork(
                "{\"http\":\"http://host/x\"" + settings.substring(0, end), IDEMPOTENT + settings.substring(end)));
        work.seal(5);
        assertThat(takenOver(work).inDoubt()).isOne();
        work.deliver();
        assertThat(work.lines).isEmpty();
        assertThat(work.state(1)).isEqualTo("in doubt");
    }

    @Test
    void a_batch_that_is_missing_before_one_that_is_done_is_named_though_the_cut_is_from_before_it() {
        DeliveriesAtWork work = open(IDEMPOTENT);
        work.seal(5);
        Map<String, AttributeValue> cut = work.hide("cut");
        work.show(cut);
        work.seal(5);
        work.seal(5);
        work.deliver();
        work.hide("batch/000002");
        work.show(cut);
        assertThat(takenOver(work).lost()).singleElement().asString().contains("Batches 000002 to 000002");
    }

    @Test
    void an_open_record_is_in_doubt_where_its_receiver_knows_the_number_of_a_batch_alone() {
        DeliveriesAtWork work = open(new DeliveriesAtWork(
                "{\"jdbc\":\"jdbc:postgresql://h/d\",\"insert\":\"insert into t values (:id)\"}",
                "\"receiver\":\"transactional\""));
        work.collect(bodies(0, 3));
        assertThat(takenOver(work).inDoubt()).isOne();
        work.deliver();
        assertThat(work.lines).isEmpty();
    }

    @Test
    void in_strict_order_a_later_delivery_that_was_begun_does_not_hold_up_an_earlier_one() {
        DeliveriesAtWork work = open(IDEMPOTENT + ",\"order\":\"strict\"");
        work.seal(5);
        work.seal(5);
        Map<String, AttributeValue> first = work.hide("batch/000001");
        work.show(first);
        work.receiver = attempt -> attempt.number() == 2 ? attempt.die() : new Outcome.Done();
        work.wake();
        work.receiver = _ -> new Outcome.Done();
        work.show(first);
        takenOver(work);
        for (int hour = 0; hour < 3; hour++) {
            work.passed(Duration.ofHours(1));
            work.deliver();
        }
        assertThat(work.state(1)).isEqualTo("done");
        assertThat(work.state(2)).isEqualTo("done");
    }

    @Test
    void a_batch_that_is_missing_after_an_earlier_restore_is_named() {
        DeliveriesAtWork work = open(IDEMPOTENT);
        work.seal(5);
        work.deliver();
        takenOver(work);
        work.seal(5);
        work.deliver();
        work.keys().stream().filter(key -> key.matches("batch/[0-9]{7,}")).forEach(work::hide);
        assertThat(takenOver(work).lost()).hasSize(1);
    }

    @Test
    void a_dead_letter_that_a_backup_has_lost_is_kept_when_its_record_comes_again() {
        DeliveriesAtWork work = open(IDEMPOTENT);
        work.collect("{\"id\":7,\"a\":1}");
        work.collect("{\"id\":7,\"a\":2}");
        assertThat(letters(work)).hasSize(1);
        lose(
                work,
                work.deployment.tables.letters(),
                item -> Items.text(item, "p").startsWith("letter/"));
        assertThat(takenOver(work).letters()).isOne();
        resend(work, Stream.of(1, 2).map(i -> "{\"id\":7,\"a\":" + i + "}").toArray(String[]::new));
        assertThat(letters(work)).hasSize(1);
        assertThat(takenOver(work).letters()).isZero();
    }
}
