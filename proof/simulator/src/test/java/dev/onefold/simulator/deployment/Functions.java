package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.state.Fate;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Processor;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// A deployment of a user's function, for tests.
final class Functions {
    static final String TABLES = ",\"tables\":{\"latest\":\"k\",\"buckets\":[\"k\",\"bucket\"]}}";
    static final String TOTALS = ",\"rollups\":{\"all\":{\"of\":\"buckets\",\"levels\":[\"bucket\"],\"measures\":{"
            + "\"trails\":\"sum(trail) decimal(18,0)\",\"rows\":\"count()\",\"most\":\"max(trail) decimal(18,0)\"}}}";

    final Deployment deployment;
    final LoadedFunction loaded;
    private int sequence;

    Functions(Deployment deployment, LoadedFunction loaded) {
        this.deployment = deployment;
        this.loaded = loaded;
        deployment.makeTables(loaded);
        engine();
    }

    /// A function behind a pipeline with this section.
    static LoadedFunction load(String process, String rollups, Processor<?, ?> processor) {
        String text = "{\"pipeline\":\"p\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\"X\","
                + process + TABLES + rollups + "}";
        Pipeline pipeline = switch (PipelineText.read(text)) {
            case Reading.Read(Pipeline read) -> read;
            case Reading.Refused refused -> throw new AssertionError(refused.toString());
        };
        return LoadedFunction.of(pipeline, processor);
    }

    static UserFunction called(LoadedFunction loaded) {
        return new UserFunction(() -> loaded, () -> StepFunction.Caller.DIRECT, impurity -> {
            throw new AssertionError(impurity.toString());
        });
    }

    /// A process that has the function.
    Store function() {
        return deployment.function().with(called(loaded));
    }

    AwsEngine engine() {
        return AwsEngine.open(
                deployment.store(deployment.dynamo.client("person")).with(called(loaded)), loaded.pipeline(), 3, 4);
    }

    Arrival arrival(String key, int version, int add, String what) {
        return arrival("{\"k\":\"%s\",\"v\":%d,\"add\":%d,\"what\":\"%s:%s\"}".formatted(key, version, add, what, key));
    }

    Arrival arrival(String record) {
        return new Arrival("s/shard", Integer.toString(++sequence), 0, record.getBytes(StandardCharsets.UTF_8));
    }

    List<Fate> process(Arrival... batch) {
        return StateAndMap.process(function(), List.of(batch));
    }

    /// The rows of a table by their keys, as JSON.
    Map<String, String> rows(String table) {
        OutputTable output = OutputTable.of(loaded.pipeline(), loaded.processing()).stream()
                .filter(each -> each.name().equals(table))
                .findFirst()
                .orElseThrow();
        Map<String, String> rows = new TreeMap<>();
        items(deployment.tables.output(table))
                .forEach(item -> rows.put(
                        output.rowKey(item).toString(),
                        Value.read(OutputTable.content(item)).toJson()));
        return rows;
    }

    List<Map<String, AttributeValue>> items(String table) {
        return deployment
                .of(deployment
                        .dynamo
                        .client("look")
                        .scan(scan -> scan.tableName(table).consistentRead(true)))
                .items();
    }

    /// How many items of a kind are in the table of rows: 2 heads, 3 kept events, 4 bases.
    long count(int kind) {
        return items(deployment.tables.rows()).stream()
                .filter(item -> Items.bytes(item, "k")[0] == kind)
                .count();
    }
}
