package dev.onefold.core.form;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.DefinitionChange;
import dev.onefold.core.Engine.Appended;
import dev.onefold.core.SealedBatches.Decided;
import dev.onefold.core.SealedBatches.Line;
import dev.onefold.core.SealedBatches.Summary;
import dev.onefold.core.Status;
import dev.onefold.core.Verification;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.document.Node;
import dev.onefold.core.document.Problems;
import dev.onefold.core.event.Reason;
import dev.onefold.core.json.Json;
import dev.onefold.core.json.JsonRecord;
import dev.onefold.core.json.JsonText;
import dev.onefold.core.process.Impurity;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.query.Answer;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The JSON of an engine's records to the letter, and the same records read from it.
class EngineJsonTest {
    private static final Instant AT = Instant.parse("2026-11-28T10:00:00Z");
    private static final Counts COUNTS = new Counts(5, 4, 3, 2, 1, 6);
    private static final String COUNTS_JSON =
            "\"records\":21,\"accepted\":5,\"duplicate\":4,\"stale\":3,\"conflicting\":2,\"rejected\":1,\"silent\":6";
    private static final Summary BATCHES = new Summary(
            7,
            AT,
            40,
            30,
            10,
            2,
            3,
            1,
            AT.plusSeconds(1),
            BatchNumber.of(31).part(2),
            900,
            new Decided(8, 9, 11),
            AT.plusSeconds(2));
    private static final String BATCHES_JSON =
            "{\"open_records\":7,\"open_since\":\"2026-11-28T10:00:00Z\",\"sealed\":40,"
                    + "\"done\":30,\"undelivered\":10,\"waiting\":4,\"delivering\":2,\"in_doubt\":3,\"put_aside\":1,"
                    + "\"undelivered_since\":\"2026-11-28T10:00:01Z\",\"held_up_by\":\"000031.2\",\"bytes\":900,"
                    + "\"said_delivered\":8,\"discarded\":9,\"discarded_records\":11,"
                    + "\"intake_waits_since\":\"2026-11-28T10:00:02Z\"}";
    private static final Status STATUS = new Status(
            AT,
            COUNTS,
            Map.of(Causes.BEHIND_DELETE, 2L),
            12,
            reasons(),
            13,
            14,
            15,
            16,
            AT.minusSeconds(2),
            Map.of("b.csv", 4L, "a.csv", 3L),
            Optional.of(AT.minusSeconds(9)),
            true,
            Optional.of(new Status.OfFunction(
                    1, Optional.of(new Impurity(List.of("k", "2"), "{}", "{\"a\":1}")), 2, Optional.of("other"))),
            Optional.of(BATCHES),
            Optional.of(new Status.OfWrites(21, 22, 23, 24)),
            Optional.of(new Status.OfPublication(3, Optional.of(AT), Optional.of(AT.plusSeconds(3)), "no route")),
            List.of(new Answer.Progress("a.csv", 25, 26)),
            List.of(new Status.OfDelay("logs", 27, 28, 29, 30, 31)),
            List.of(new Status.OfPartition(
                    "t/0", 32, 33, 36, 37, "slow", "gone", List.of(new Status.Lost(34, 35, AT)))));
    private static final String STATUS_JSON = "{\"pipeline\":\"p\",\"at\":\"2026-11-28T10:00:00Z\"," + COUNTS_JSON
            + ",\"causes\":{\"stale: behind a delete\":2},\"deadLetters\":12,\"deadLettersCounted\":3,\"deadLettersByReason\":{\"too large\":1,\"conflict\":2},"
            + "\"rows\":13,\"memoryBytes\":14,\"diskBytes\":15,\"checkpoint\":16,"
            + "\"checkpointAt\":\"2026-11-28T09:59:58Z\",\"checkpointAgeMs\":2000,\"lagBytes\":7,"
            + "\"lags\":{\"a.csv\":3,\"b.csv\":4},\"waitingForSpaceSince\":\"2026-11-28T09:59:51Z\","
            + "\"definitionPending\":true,\"function\":{\"impureCalls\":1,\"lastImpureCall\":{\"key\":[\"k\",\"2\"],"
            + "\"first\":\"{}\",\"second\":\"{\\\"a\\\":1}\"},\"stuckThreads\":2,\"otherJar\":\"other\"},\"batches\":"
            + BATCHES_JSON + ",\"writes\":{\"forces\":21,\"forcesNanos\":22,\"checkpoints\":23,"
            + "\"checkpointsNanos\":24},\"publication\":{\"cut\":3,\"cutAt\":\"2026-11-28T10:00:00Z\","
            + "\"failingSince\":\"2026-11-28T10:00:03Z\",\"failure\":\"no route\"},"
            + "\"sources\":[{\"source\":\"a.csv\",\"records\":25,\"bytes\":26}],\"delays\":[{\"from\":\"logs\",\"records\":27,\"meanMicros\":28,\"p50Micros\":29,"
            + "\"p99Micros\":30,\"longestMicros\":31}],\"logs\":[{\"source\":\"t/0\",\"next\":32,\"behind\":33,"
            + "\"behindMs\":36,\"retentionLeftMs\":37,\"waits\":\"slow\",\"stopped\":\"gone\",\"lost\":[{\"from\":34,\"to\":35,\"accepted\":\"2026-11-28T10:00:00Z\"}]}]}";
    private static final Status PLAIN_STATUS = new Status(
            AT,
            new Counts(0, 0, 0, 0, 0),
            Map.of(),
            0,
            Map.of(),
            0,
            0,
            0,
            0,
            AT,
            Map.of(),
            Optional.empty(),
            false,
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of(),
            List.of(),
            List.of());

    private static Map<Reason, Long> reasons() {
        Map<Reason, Long> reasons = new LinkedHashMap<>();
        reasons.put(Reason.CONFLICT, 2L);
        reasons.put(Reason.TOO_LARGE, 1L);
        return reasons;
    }

    private static Node node(String json) {
        return JsonText.read(json, new Problems());
    }

    private static <T extends Record> void assertBothWays(JsonRecord<T> form, T some, String json) {
        assertThat(Json.of(form.write(some))).isEqualTo(json);
        assertThat(form.read(node(json))).isEqualTo(some);
        assertThat(form.read(node("{\"newer\":[{}]," + json.substring(1)))).isEqualTo(some);
    }

    @Test
    void a_status_is_written_with_all_that_it_may_have_and_read_again() {
        assertThat(Json.of(EngineJson.status("p", STATUS))).isEqualTo(STATUS_JSON);
        assertThat(EngineJson.status(node(STATUS_JSON))).isEqualTo(STATUS);
        assertThat(EngineJson.status(node("{\"newer\":[{}]," + STATUS_JSON.substring(1))))
                .isEqualTo(STATUS);
    }

    @Test
    void a_status_leaves_out_what_its_engine_does_not_have() {
        String json = Json.of(EngineJson.status("p", PLAIN_STATUS));
        assertThat(json)
                .endsWith(
                        "\"lagBytes\":0,\"lags\":{},\"definitionPending\":false,\"sources\":[],\"delays\":[],\"logs\":[]}")
                .contains("\"deadLettersByReason\":{},");
        assertThat(EngineJson.status(node(json))).isEqualTo(PLAIN_STATUS);
    }

    @Test
    void a_status_of_an_earlier_version_has_the_sum_of_the_lags_alone() {
        String json = STATUS_JSON.replace("\"lags\":{\"a.csv\":3,\"b.csv\":4},", "");
        assertThat(EngineJson.status(node(json)).lags()).isEqualTo(Map.of("files", 7L));
    }

    @Test
    void a_member_that_must_be_there_is_missed() {
        assertThatThrownBy(() -> EngineJson.COUNTS.read(node("{\"accepted\":1}")))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("The object at 1:1 does not have 'duplicate'");
    }

    @Test
    void appended_records_are_written_with_their_counts_beside() {
        assertBothWays(
                EngineJson.APPENDED,
                new Appended(21, COUNTS, List.of(4L, 7L)),
                "{\"acknowledged\":21," + COUNTS_JSON + ",\"letters\":[4,7]}");
    }

    @Test
    void a_letter_is_written_with_its_place_beside() {
        assertBothWays(
                EngineJson.LETTER,
                new DeadLetter(
                        3,
                        Reason.TOO_LARGE,
                        "Too \"large\"",
                        new DeadLetter.Place("a.csv", 4, 90),
                        17,
                        DeadLetter.Content.NOTHING,
                        true,
                        "ab12",
                        AT),
                "{\"id\":3,\"reason\":\"too large\",\"message\":\"Too \\\"large\\\"\",\"source\":\"a.csv\",\"line\":4,"
                        + "\"offset\":90,\"bytes\":17,\"kept\":false,\"content\":\"nothing\",\"edited\":true,"
                        + "\"sha256\":\"ab12\",\"at\":\"2026-11-28T10:00:00Z\"}");
    }

    @Test
    void a_verification_is_written_with_values_that_are_not_there() {
        List<BigDecimal> served = Arrays.asList(new BigDecimal("1.50"), null);
        assertBothWays(
                EngineJson.VERIFICATION,
                new Verification(
                        "7 rows",
                        2,
                        List.of(new Verification.Difference(
                                "main", List.of("A", "B"), served, Arrays.asList(null, new BigDecimal("1000")))),
                        5,
                        List.of(new KeyDifference(List.of("k"), "context", "{}", ""))),
                "{\"equal\":false,\"truth\":\"7 rows\",\"groups\":2,\"differences\":[{\"rollup\":\"main\","
                        + "\"group\":[\"A\",\"B\"],\"served\":[1.50,null],\"recomputed\":[null,1000]}],\"keys\":5,"
                        + "\"keyDifferences\":[{\"key\":[\"k\"],\"what\":\"context\",\"stored\":\"{}\","
                        + "\"recomputed\":\"\"}]}");
    }

    @Test
    void batches_are_written_without_what_there_is_none_of() {
        assertBothWays(EngineJson.BATCHES, BATCHES, BATCHES_JSON);
        assertBothWays(
                EngineJson.BATCHES,
                new Summary(0, null, 0, 0, 0, 0, 0, 0, null, null, 0, new Decided(0, 0, 0), null),
                "{\"open_records\":0,\"sealed\":0,\"done\":0,\"undelivered\":0,\"waiting\":0,\"delivering\":0,"
                        + "\"in_doubt\":0,\"put_aside\":0,\"bytes\":0,\"said_delivered\":0,\"discarded\":0,"
                        + "\"discarded_records\":0}");
        String line = "{\"number\":\"000001\",\"batch\":\"p-000001\",\"records\":2,\"bytes\":3,"
                + "\"sealed\":\"2026-11-28T10:00:00Z\",\"state\":\"waiting\",\"attempts\":4";
        assertBothWays(
                EngineJson.BATCH,
                new Line(BatchNumber.of(1), "p-000001", 2, 3, AT, "waiting", 4, "", null),
                line + "}");
        assertBothWays(
                EngineJson.BATCH,
                new Line(BatchNumber.of(1), "p-000001", 2, 3, AT, "waiting", 4, "refused", AT),
                line + ",\"reason\":\"refused\",\"next\":\"2026-11-28T10:00:00Z\"}");
    }

    @Test
    void a_change_of_the_definition_is_written_with_its_way() {
        assertChange(new DefinitionChange.None(), "{\"way\":\"none\"}");
        assertChange(
                new DefinitionChange.FromRows(List.of("a", "b"), "doubt"),
                "{\"way\":\"rows\",\"lost\":[\"a\",\"b\"],\"doubt\":\"doubt\"}");
        assertChange(
                new DefinitionChange.FromSources("why", List.of("a.csv"), List.of("trades"), true),
                "{\"way\":\"sources\",\"reason\":\"why\",\"files\":[\"a.csv\"],\"logs\":[\"trades\"],\"journal\":true}");
        assertChange(
                new DefinitionChange.Impossible("why", "gone"),
                "{\"way\":\"impossible\",\"reason\":\"why\",\"missing\":\"gone\"}");
    }

    private static void assertChange(DefinitionChange change, String json) {
        assertThat(Json.of(EngineJson.change(change))).isEqualTo(json);
        assertThat(EngineJson.change(node(json))).isEqualTo(change);
    }

    @Test
    void a_description_that_does_not_fit_its_record_is_refused() {
        for (String description : List.of("records", "accepted*!", "accepted accepted duplicate", "fate")) {
            assertThatThrownBy(() -> JsonRecord.of(Counts.class, description))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("class dev.onefold.core.Counts");
        }
    }
}
