package dev.onefold.aws;

import dev.onefold.aws.item.OutputTable;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.Threads;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.fakes.aws.DeploymentTables;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.dynamodb.services.local.embedded.DynamoDBEmbedded;
import software.amazon.dynamodb.services.local.shared.access.AmazonDynamoDBLocal;

/// DynamoDB Local, one for all tests of this process, with a bucket and faults of this object's own.
public final class LocalDynamoDb {
    private static final AmazonDynamoDBLocal LOCAL = DynamoDBEmbedded.create(true);
    private static final Set<String> DEPLOYMENTS = ConcurrentHashMap.newKeySet();

    public final DynamoDbAsyncClient client = LOCAL.dynamoDbAsyncClient();
    public final LocalChanges changes = new LocalChanges(LOCAL.dynamoDbStreamsClient(), new AtomicInteger());

    public final LocalBucket bucket = new LocalBucket();

    /// DynamoDB Local shows all items of a transaction at once, so the wait until they are visible is left out.
    private static final Threads THREADS = new Threads() {
        @Override
        public void execute(Runnable task) {
            Connection.THREADS.execute(task);
        }

        @Override
        public void pause(Duration pause) {
            if (!pause.equals(Store.IN_FLIGHT_MAX)) {
                Connection.THREADS.pause(pause);
            }
        }
    };

    /// The tables of a deployment, which are made if they are not there.
    public Store store(String deployment) {
        Store.Tables tables = Store.Tables.of(deployment);
        if (DEPLOYMENTS.add(deployment)) {
            DeploymentTables.requests(tables.rows(), tables.deltas(), tables.totals(), tables.letters())
                    .forEach(request -> client.createTable(request).join());
        }
        return new Store(client, tables, THREADS, RandomGenerator.getDefault(), InstantSource.system())
                .with(new Store.Bucket(() -> bucket, Optional.of("letters")));
    }

    /// The same for a pipeline with a function, which must be pure, and its tables.
    public Store store(String deployment, LoadedFunction function) {
        Store store = store(deployment)
                .with(new UserFunction(() -> function, () -> StepFunction.Caller.DIRECT, impurity -> {
                    throw new AssertionError(impurity.toString());
                }));
        for (OutputTable table : OutputTable.of(function.pipeline(), function.processing())) {
            List<String> key = table.key().stream().map(OutputTable.Key::name).toList();
            Set<String> numbers = table.key().stream()
                    .filter(OutputTable.Key::isNumber)
                    .map(OutputTable.Key::name)
                    .collect(Collectors.toSet());
            client.createTable(DeploymentTables.output(store.tables().output(table.name()), key, numbers))
                    .join();
        }
        return store;
    }

    /// Makes a table of somebody's own, with the key `id`, and says the ARN of its change stream.
    @SuppressWarnings("unchecked") // The SDK takes generic varargs.
    public String sourceTable(String name) {
        return client.createTable(request -> request.tableName(name)
                        .billingMode(BillingMode.PAY_PER_REQUEST)
                        .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                        .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH))
                        .streamSpecification(
                                view -> view.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)))
                .join()
                .tableDescription()
                .latestStreamArn();
    }

    /// Closes the shards of all change streams; what comes goes into others that follow them.
    public void rollOver() {
        LOCAL.triggerShardRollovers();
    }
}
