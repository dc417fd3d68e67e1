package dev.onefold.aws.letter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.event.Decoder.RecordIdentity;
import dev.onefold.core.event.Malformed;
import dev.onefold.core.event.Reason;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.query.Query;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class LetterTableTest {
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static int deployments;

    private Store store;
    private LetterTable letters;

    @BeforeEach
    void deploy() {
        store = DYNAMO.store("letters-" + ++deployments);
        letters = new LetterTable(store);
        DYNAMO.bucket.objects.clear();
        DYNAMO.bucket.puts.clear();
    }

    private static Letter letter(String sequence, byte[] record) {
        return Letter.rejected(
                new Arrival("trades/shard-1", sequence, 0, record),
                new Malformed(Reason.MALFORMED, "No event"),
                RecordIdentity.NONE);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private byte[] record(long id) {
        return letters.arrival(id).data();
    }

    private DeadLetters opened(Pipeline pipeline) {
        return AwsEngine.open(store, pipeline, 2, 2).deadLetters();
    }

    @Test
    void hazard_26_letters_of_any_size_are_kept_whole_found_by_id_and_read_as_often_as_anyone_likes() {
        byte[] large = new byte[Limits.RECORD_BYTES_MAX];
        new SplittableRandom(1).nextBytes(large);
        letters.keep(List.of(letter("1", large), letter("2", new byte[0]), letter("3", bytes("poison"))));
        letters.keep(List.of(letter("1", large)));
        List<DeadLetter> listed = letters.list(0, 10);
        assertThat(listed).extracting(DeadLetter::bytes).containsExactly((long) large.length, 0L, 6L);
        for (int reading = 0; reading < 2; reading++) {
            assertThat(record(listed.get(0).id())).isEqualTo(large);
            assertThat(record(listed.get(1).id())).isEmpty();
            assertThat(record(listed.get(2).id())).isEqualTo(bytes("poison"));
        }
        assertThat(DYNAMO.bucket.objects).hasSize(3);
    }

    @Test
    void after_a_crash_between_object_and_letter_the_same_object_is_written_again_and_the_letter_kept_once() {
        Letter letter = letter("1", bytes("poison"));
        LetterBytes.Place place = LetterBytes.at("letters", "", letter);
        new LetterBytes(store).put(place, letter.arrival().data()); // Here the process ends.
        assertThat(letters.list(0, 10)).isEmpty();
        letters.keep(List.of(letter));
        letters.keep(List.of(letter));
        assertThat(letters.list(0, 10)).hasSize(1);
        assertThat(DYNAMO.bucket.puts).containsExactly(place.object(), place.object());
        assertThat(DYNAMO.bucket.objects).hasSize(1);
    }

    @Test
    void answers_of_the_bucket_that_are_lost_are_asked_for_again() {
        DYNAMO.bucket.loseAnswers(3);
        letters.keep(List.of(letter("1", bytes("poison"))));
        DYNAMO.bucket.loseAnswers(2);
        long id = letters.list(0, 10).getFirst().id();
        assertThat(record(id)).isEqualTo(bytes("poison"));
        DYNAMO.bucket.loseAnswers(2);
        assertThat(letters.remove(id)).isTrue();
        assertThat(DYNAMO.bucket.objects).isEmpty();
    }

    @Test
    void a_purged_letter_takes_its_record_with_it_and_is_not_kept_again() {
        letters.keep(List.of(letter("1", bytes("poison")), letter("2", bytes("poison"))));
        List<DeadLetter> listed = letters.list(0, 10);
        assertThat(letters.remove(listed.getFirst().id())).isTrue();
        assertThat(letters.remove(listed.getFirst().id())).isFalse();
        assertThat(letters.arrival(listed.getFirst().id())).isNull();
        letters.keep(List.of(letter("1", bytes("poison"))));
        assertThat(letters.list(0, 10)).containsExactly(listed.getLast());
        assertThat(DYNAMO.bucket.objects).hasSize(1);
        assertThat(record(listed.getLast().id())).isEqualTo(bytes("poison")); // Equal content, another identity.
    }

    @Test
    void of_a_backup_that_holds_a_letter_without_its_mark_and_its_key_the_letter_is_kept_once_and_found() {
        Letter rejected = letter("1", bytes("poison"));
        Letter letter = new Letter(
                rejected.identity(),
                rejected.reason(),
                rejected.message(),
                rejected.arrival(),
                DeadLetter.Content.RECORD,
                7,
                0);
        letters.keep(List.of(letter));
        long id = letters.list(0, 1).getFirst().id();
        delete(LetterTable.mark(letter.identity()));
        delete(LettersOfKey.item(7, id));
        assertThat(letters.matchMarks()).isZero();
        letters.keep(List.of(letter));
        assertThat(letters.list(0, 10)).extracting(DeadLetter::id).containsExactly(id);
        assertThat(letters.ofKeyHash(7)).containsExactly(id);
    }

    private void delete(Map<String, AttributeValue> key) {
        store.client()
                .deleteItem(
                        request -> request.tableName(store.tables().letters()).key(key))
                .join();
    }

    @Test
    void a_letter_that_was_removed_is_not_made_the_one_of_another_record() {
        letters.keep(List.of(letter("1", bytes("poison"))));
        long id = letters.list(0, 10).getFirst().id();
        Letter other = letter("2", bytes("poison"));
        letters.remove(id);
        letters.keepAs(id, other.identity());
        letters.keep(List.of(other));
        assertThat(letters.list(0, 10)).hasSize(1);
    }

    @Test
    void a_record_that_was_removed_or_changed_behind_our_back_is_said_to_be() {
        letters.keep(List.of(letter("1", bytes("poison"))));
        long id = letters.list(0, 10).getFirst().id();
        String object = DYNAMO.bucket.objects.keySet().iterator().next();
        DYNAMO.bucket.objects.put(object, bytes("another"));
        assertThatThrownBy(() -> record(id))
                .hasMessageContaining("has been changed")
                .hasMessageContaining("bucket letters");
        DYNAMO.bucket.objects.clear();
        assertThatThrownBy(() -> record(id)).hasMessageContaining("is not there any more");
        assertThat(letters.remove(id)).isTrue();
    }

    @Test
    void whoever_is_not_told_the_bucket_finds_it_in_the_table() {
        LetterTable untold = new LetterTable(store.with(new Store.Bucket(() -> DYNAMO.bucket, Optional.empty())));
        assertThatThrownBy(() -> untold.keep(List.of(letter("1", bytes("poison")))))
                .hasMessageContaining("The bucket for dead letters is not known");
        letters.useBucket();
        untold.keep(List.of(letter("1", bytes("poison"))));
        assertThat(DYNAMO.bucket.objects.keySet()).singleElement().asString().startsWith("letters/");
        // A letter says itself where its record lies, also when others go elsewhere by now.
        LetterTable moved = new LetterTable(store.with(new Store.Bucket(() -> DYNAMO.bucket, Optional.of("other"))));
        moved.useBucket();
        untold.keep(List.of(letter("2", bytes("more poison"))));
        List<DeadLetter> listed = letters.list(0, 10);
        assertThat(record(listed.getFirst().id())).isEqualTo(bytes("poison"));
        assertThat(record(listed.getLast().id())).isEqualTo(bytes("more poison"));
        assertThat(DYNAMO.bucket.objects.keySet()).anyMatch(object -> object.startsWith("other/"));
    }

    @Test
    void a_redriven_letter_leaves_neither_letter_nor_record() {
        Pipeline trades = PipelineBuilder.named("trades")
                .key("id")
                .version("v")
                .rollup(r -> r.count("trades"))
                .build();
        DeadLetters dead = opened(trades);
        byte[] large = new byte[Limits.RECORD_BYTES_MAX];
        Arrays.fill(large, (byte) 'x');
        StateAndMap.process(store, List.of(new Arrival("trades/shard-1", "7", 0, large)));
        long id = dead.list(0, 10).getFirst().id();
        assertThat(dead.redrive(id, null)).isEqualTo(DeadLetters.Redriven.REJECTED);
        assertThat(dead.record(id)).isEqualTo(large);
        assertThat(dead.redrive(id, bytes("{\"id\":1}"))).isEqualTo(DeadLetters.Redriven.REJECTED);
        assertThat(dead.record(id)).isEqualTo(large);
        assertThat(dead.edited(id)).hasValue(bytes("{\"id\":1}"));
        assertThat(dead.list(0, 10)).singleElement().satisfies(letter -> {
            assertThat(letter.bytes()).isEqualTo(large.length);
            assertThat(letter.reason()).isEqualTo(Reason.REFUSED);
        });
        assertThat(DYNAMO.bucket.objects).hasSize(2);
        assertThat(dead.redrive(id, bytes("{\"id\":1,\"v\":1}"))).isEqualTo(DeadLetters.Redriven.ACCEPTED);
        assertThat(dead.redrive(id, null)).isEqualTo(DeadLetters.Redriven.GONE);
        assertThat(DYNAMO.bucket.objects).isEmpty();
        AwsEngine engine = AwsEngine.deployed(store);
        assertThat(engine.query(Query.all("main")).lines().getFirst().values()).hasToString("[1]");
    }
}
