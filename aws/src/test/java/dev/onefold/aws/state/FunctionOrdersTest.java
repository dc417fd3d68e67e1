package dev.onefold.aws.state;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.LocalDynamoDb;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Counts;
import dev.onefold.core.Fates;
import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.Base;
import dev.onefold.core.keyed.Change;
import dev.onefold.core.keyed.Head;
import dev.onefold.core.keyed.Kept;
import dev.onefold.core.keyed.KeyFold;
import dev.onefold.core.keyed.RowId;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.Steps;
import dev.onefold.core.keyed.Verdict;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.shape.Value;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Each order on DynamoDB Local, against the rules of `core` with maps for tables.
class FunctionOrdersTest {
    private static final byte[] KEY = "a".getBytes(StandardCharsets.UTF_8);

    /// What is stored of one key.
    private static final class Maps implements dev.onefold.core.keyed.Store {
        private @Nullable Head head;
        private final TreeMap<Long, Kept> kept = new TreeMap<>();
        private @Nullable Base base;
        private final Map<RowId, byte[]> rows = new TreeMap<>();

        @Override
        public List<Kept> kept(long from) {
            return List.copyOf(kept.tailMap(from).values());
        }

        @Override
        public Base base() {
            return Objects.requireNonNull(base);
        }

        @Override
        public Map<RowId, byte[]> rows(Collection<RowId> wanted) {
            Map<RowId, byte[]> found = new HashMap<>(rows);
            found.keySet().retainAll(wanted);
            return found;
        }

        Verdict fold(StepFunction function, int version, Steps.Event event) {
            byte[] fields = Codec.of(Steps.Event.class).encode(event);
            byte[] content = dev.onefold.core.keyed.Arrival.counted(fields, 0, fields.length);
            KeyFold fold = new KeyFold(function, KEY, head, this);
            Verdict verdict = fold.fold(new dev.onefold.core.keyed.Arrival(
                    VersionBytes.of(BigInteger.valueOf(version)),
                    content,
                    content,
                    dev.onefold.core.keyed.Arrival.Way.ARRIVED));
            if (fold.hasChanged()) {
                Change change = fold.change();
                head = change.head();
                change.kept().forEach(each -> kept.put(each.ordinal(), each));
                change.dropped().forEach(kept::remove);
                base = change.base() == null ? base : change.base();
                change.rows().forEach(row -> {
                    byte[] after = row.after();
                    if (after == null) {
                        rows.remove(row.row());
                    } else {
                        rows.put(row.row(), after);
                    }
                });
            }
            return verdict;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"latest", "every", "in-order"})
    void events_come_to_what_the_rules_come_to(String order) {
        LoadedFunction loaded = load(order);
        LocalDynamoDb local = new LocalDynamoDb();
        Store store = local.store("orders-" + order, loaded);
        List<OutputTable> tables = OutputTable.of(loaded.pipeline(), loaded.processing());
        try (AwsEngine engine = AwsEngine.open(store, loaded.pipeline(), 2, 2)) {
            SplittableRandom random = new SplittableRandom(order.length());
            Maps maps = new Maps();
            StepFunction direct = new StepFunction(loaded, StepFunction.Caller.DIRECT, impurity -> {
                throw new AssertionError(impurity.toString());
            });
            List<Arrival> batch = new ArrayList<>();
            List<Verdict> verdicts = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                int version = random.nextInt(i + 4);
                int add = random.nextInt(3);
                String what = List.of("put", "put", "remove", "throw").get(random.nextInt(4)) + ":a";
                verdicts.add(maps.fold(direct, version, new Steps.Event(add, what)));
                batch.add(arrival(i, version, add, what));
                if (random.nextInt(6) == 0 || i == 59) {
                    List<Fate> fates = StateAndMap.process(store, List.copyOf(batch));
                    assertThat(fates.stream().map(FunctionOrdersTest::verdict)).isEqualTo(verdicts);
                    batch.clear();
                    verdicts.clear();
                }
            }
            KeyState state = engine.state(List.of("a")).orElseThrow();
            Head head = Objects.requireNonNull(maps.head);
            assertThat(state).isEqualTo(head.state(loaded.pipeline(), KEY, maps));
            for (int i = 0; i < tables.size(); i++) {
                assertThat(stored(local, store, tables.get(i))).isEqualTo(expected(maps, i));
            }
        }
    }

    @Test
    void a_header_that_comes_again_is_silent_and_holds_up_no_event() {
        LoadedFunction loaded = load("latest", "\"format\":\"csv\",\"columns\":[\"k\",\"v\",\"add\",\"what\"],");
        Store store = new LocalDynamoDb().store("orders-csv", loaded);
        AwsEngine.open(store, loaded.pipeline(), 2, 2).close();
        List<Arrival> batch = Stream.of("k,v,add,what", "a,1,2,put:a")
                .map(line -> new Arrival("s/shard", line, 0, line.getBytes(StandardCharsets.UTF_8)))
                .toList();
        Fates fates = Fate.sum(StateAndMap.process(store, batch));
        assertThat(fates.counts()).isEqualTo(new Counts(1, 0, 0, 0, 0, 1));
        assertThat(fates.causes().counts()).isEqualTo(Map.of("silent: header again", 1L));
    }

    private static LoadedFunction load(String order) {
        return load(order, "");
    }

    private static LoadedFunction load(String order, String format) {
        String keep = order.equals("latest") ? "" : ",\"keep\":4";
        String text = "{\"pipeline\":\"p\",\"input\":{" + format
                + "\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + "\"order\":\"" + order + "\"" + keep
                + ",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var read) -> LoadedFunction.of(read, new Steps());
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
    }

    private static Arrival arrival(int sequence, int version, int add, String what) {
        String record = "{\"k\":\"a\",\"v\":%d,\"add\":%d,\"what\":\"%s\"}".formatted(version, add, what);
        return new Arrival("s/shard", "" + sequence, 0, record.getBytes(StandardCharsets.UTF_8));
    }

    private static Verdict verdict(Fate fate) {
        return switch (fate) {
            case Fate.Accepted _ -> Verdict.ACCEPTED;
            case Fate.Duplicate _ -> Verdict.DUPLICATE;
            case Fate.Stale _ -> Verdict.STALE;
            case Fate.Conflicting _ -> Verdict.CONFLICTING;
            case Fate.Rejected _ -> Verdict.REJECTED;
            case Fate.Silent _ -> throw new AssertionError("A record of a function tells of its key");
            case Fate.HandedBack(var why) -> throw why;
        };
    }

    private static Map<String, String> stored(LocalDynamoDb local, Store store, OutputTable table) {
        Map<String, String> rows = new TreeMap<>();
        local.client
                .scan(scan -> scan.tableName(store.tables().output(table.name())))
                .join()
                .items()
                .forEach(item -> rows.put(
                        table.rowKey(item).toString(),
                        Value.read(OutputTable.content(item)).toJson()));
        return rows;
    }

    private static Map<String, String> expected(Maps maps, int table) {
        Map<String, String> rows = new TreeMap<>();
        maps.rows.forEach((row, content) -> {
            if (row.table() == table) {
                rows.put(row.key().toString(), Value.read(content).toJson());
            }
        });
        return rows;
    }
}
