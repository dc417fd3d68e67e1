package dev.onefold.simulator.keyed;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.function.DeployedFunction;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter;
import dev.onefold.core.event.Reason;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import dev.onefold.simulator.deployment.Deployment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Functions on AWS that are not pure, or write as much as they may.
class AwsUnrulyFunctionTest {
    private final Deployment deployment = Deployment.calm();
    private final ByteArrayOutputStream log = new ByteArrayOutputStream();

    /// A context: how many events there were.
    public record Seen(long events) {}

    /// An event that writes rows.
    public record Writing(String k, long first, long count, int length) {}

    /// A row.
    public record Wide(String k, long n, long events, String text) {}

    /// Each row says how many events were before it, so a late event changes the rows of those behind it.
    private static class Writer implements Processor<Seen, Writing> {
        @Override
        public Seen start() {
            return new Seen(0);
        }

        @Override
        public Step<Seen> step(Seen seen, Writing event) {
            Step<Seen> step = Step.to(new Seen(seen.events() + 1));
            for (long n = event.first(); n < event.first() + event.count(); n++) {
                step = step.put("wide", new Wide(event.k(), n, seen.events(), "x".repeat(event.length())));
            }
            return step;
        }

        @Override
        public Map<String, Class<? extends Record>> tables() {
            return Map.of("wide", Wide.class);
        }
    }

    /// Each call comes to another result.
    private static final class Impure extends Writer {
        private long calls;

        @Override
        public Step<Seen> step(Seen seen, Writing event) {
            return Step.to(new Seen(++calls));
        }
    }

    private Store deployed(Writer function) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"in-order\",\"tables\":{\"wide\":[\"k\",\"n\"]}}}";
        LoadedFunction loaded = switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> LoadedFunction.of(pipeline, function);
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
        deployment.makeTables(loaded);
        Store store = DeployedFunction.with(
                deployment.process(deployment.dynamo.client("function")),
                () -> loaded,
                new PrintStream(log, true, StandardCharsets.UTF_8));
        AwsEngine.open(store, loaded.pipeline(), 2, 2);
        return store;
    }

    private static Fate take(Store store, int version, int first, int count, int length) {
        String record = "{\"k\":\"a\",\"v\":%d,\"first\":%d,\"count\":%d,\"length\":%d}"
                .formatted(version, first, count, length);
        return StateAndMap.process(
                        store,
                        List.of(new Arrival(
                                "s/shard", Integer.toString(version), 0, record.getBytes(StandardCharsets.UTF_8))))
                .getFirst();
    }

    private List<Map<String, AttributeValue>> rows() {
        return deployment.dynamo.backup(deployment.tables.output("wide")).items();
    }

    @Test
    void hazard_68_a_function_that_is_not_pure_is_reported_with_both_results() {
        Store store = deployed(new Impure());
        take(store, 1, 0, 0, 0);
        assertThat(log.toString(StandardCharsets.UTF_8))
                .contains("WARN The function is not pure. Of key a two equal calls came to different results:")
                .contains("{\"events\":1}", "{\"events\":2}");
    }

    @Test
    void hazard_93_a_refold_that_is_too_wide_is_a_letter_and_the_widest_that_is_allowed_is_one_transaction() {
        Store store = deployed(new Writer());
        for (int version = 10; version < 20; version++) {
            take(store, version, version, 1, 10);
        }
        List<Map<String, AttributeValue>> before = rows();
        assertThat(take(store, 9, 100, 81, 10)).isInstanceOf(Fate.Rejected.class);
        assertThat(rows()).isEqualTo(before);
        List<DeadLetter> letters = AwsEngine.deployed(store).deadLetters().list(0, 9);
        assertThat(letters).extracting(DeadLetter::reason).containsExactly(Reason.TOO_LATE);
        assertThat(letters.getFirst().message()).contains("would change 91 rows", "90");
        assertThat(take(store, 8, 100, 80, 10)).isEqualTo(new Fate.Accepted());
        assertThat(rows()).hasSize(90);
        assertThat(AwsEngine.deployed(store).verify().isEqual()).isTrue();
    }

    @Test
    void hazard_93_an_event_that_writes_two_megabytes_is_one_transaction_of_which_rows_have_no_attributes() {
        Store store = deployed(new Writer());
        assertThat(take(store, 1, 0, 25, 85_000)).isInstanceOf(Fate.Rejected.class);
        assertThat(take(store, 2, 0, 23, 85_000)).isEqualTo(new Fate.Accepted());
        assertThat(rows()).hasSize(23).allMatch(item -> item.size() == 3);
        assertThat(AwsEngine.deployed(store).verify().isEqual()).isTrue();
    }
}
