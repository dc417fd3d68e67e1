package dev.onefold.aws;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.DeadLetter.Place;
import dev.onefold.core.Engine;
import dev.onefold.core.FunctionContract;
import dev.onefold.core.VerbContract;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Edition;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.query.Query;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The engine on AWS keeps the contract, on DynamoDB Local.
class AwsEngineContractTest implements VerbContract, FunctionContract {
    private static final LocalDynamoDb DYNAMO = new LocalDynamoDb();
    private static int tests;

    private final Map<Engine, Store> stores = new HashMap<>();
    private final Map<String, Long> fed = new HashMap<>();

    @BeforeEach
    void begin() {
        tests++;
    }

    @Override
    public Engine open(String data, Pipeline pipeline) {
        Store store = DYNAMO.store("test" + tests + "-" + data);
        Engine engine = AwsEngine.open(store, pipeline, 3, 4);
        stores.put(engine, store);
        return engine;
    }

    @Override
    public Engine open(String data, LoadedFunction function) {
        Store store = DYNAMO.store("test" + tests + "-" + data, function);
        Engine engine = AwsEngine.open(store, function.pipeline(), 3, 4);
        stores.put(engine, store);
        return engine;
    }

    @Override
    public void feed(Engine engine, String source, List<String> records) {
        Store store = stores.get(engine);
        List<Arrival> arrivals = new ArrayList<>();
        for (String record : records) {
            long sequence = fed.merge(store.tables().rows() + source, 1L, Long::sum);
            byte[] data = record.getBytes(StandardCharsets.UTF_8);
            arrivals.add(new Arrival(
                    source, Long.toString(sequence), 0, data, Instant.now().toEpochMilli()));
        }
        List<Fate> fates = StateAndMap.process(store, arrivals);
        new LetterTable(store).count(Fate.sum(fates));
        ((AwsEngine) engine).reduce();
    }

    @Override
    public long line(Place place) {
        return Long.parseLong(place.source().substring(place.source().lastIndexOf(':') + 1));
    }

    /// A producer that tries again gives its record another place.
    @Test
    @Override
    public void without_ids_each_place_counts_once() {
        Pipeline byPlace = PipelineBuilder.named("by-place")
                .rollup(r -> r.sum("s", "n", 9, 0))
                .build();
        assertThatThrownBy(() -> open("by-place", byPlace))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("neither key nor id");
    }

    @Test
    void a_pipeline_whose_record_touches_more_than_a_transaction_holds_is_refused_when_it_is_opened() {
        PipelineBuilder pipeline = PipelineBuilder.named("wide").key("id").version("v");
        for (int rollup = 0; rollup < 5; rollup++) {
            pipeline.rollup(
                    "r" + rollup,
                    r -> r.min("a", "n", 9, 0)
                            .max("b", "n", 9, 0)
                            .distinct("c", "t")
                            .distinct("d", "u"));
        }
        assertThatThrownBy(() -> open("wide", pipeline.build()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("touches 25 items");
    }

    /// 24 parts of a record, old and new ones, in two views: an item has at most 400 KB.
    @Test
    void the_largest_correction_that_is_taken_fits_into_a_delta_also_while_another_view_is_filled() {
        Pipeline distinct = PipelineBuilder.named("distinct")
                .key("id")
                .version("v")
                .rollup(r -> {
                    r.levels("name").sum("value", "v", 38, 0);
                    IntStream.range(0, 23).forEach(i -> r.distinct("d" + i, "t" + i));
                })
                .build();
        Engine engine = open("distinct", distinct);
        feed(engine, "one", List.of(largest(1, 'a')));
        Definitions definitions = new Definitions(stores.get(engine));
        Definition before = definitions.load();
        definitions.replace(before.withView(distinct.inEdition(Edition.NEWEST), 1, "somebody"));
        RowFill.fill(stores.get(engine), definitions.load(), 2, () -> true);
        feed(engine, "one", List.of(largest(2, 'b'), largest(3, 'c')));
        assertThat(engine.query(Query.all("main")).lines().getFirst().values().getFirst())
                .isEqualByComparingTo("3");
        assertThat(engine.deadLetters().size()).isZero();
        assertThat(engine.verify().isEqual()).isTrue();
    }

    private static String largest(int version, char letter) {
        String texts = IntStream.range(0, 23)
                .mapToObj(i -> ",\"t%d\":\"%s\""
                        .formatted(i, String.valueOf((char) (letter + i)).repeat(2_000)))
                .collect(Collectors.joining());
        return "{\"id\":1,\"v\":%d,\"name\":\"%s\"%s}"
                .formatted(version, String.valueOf(letter).repeat(1_998), texts);
    }

    @Override
    @Test
    @Tag("campaign")
    @SuppressWarnings("JUnitMethodInvoked") // The same test, which here is a long one.
    public void every_answer_is_one_cut_while_intake_goes_on() {
        VerbContract.super.every_answer_is_one_cut_while_intake_goes_on();
    }

    @Override
    @Test
    @Tag("campaign")
    @SuppressWarnings("JUnitMethodInvoked") // The same test, which here is a long one.
    public void an_event_that_was_too_late_or_failed_has_no_letter_once_it_is_folded_wherever_it_came_again() {
        FunctionContract.super
                .an_event_that_was_too_late_or_failed_has_no_letter_once_it_is_folded_wherever_it_came_again();
    }
}
