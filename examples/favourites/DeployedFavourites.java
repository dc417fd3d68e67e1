import dev.onefold.local.function.FunctionFaults;
import dev.onefold.local.gate.Faults;
import dev.onefold.local.stack.GivenTable;
import dev.onefold.local.stack.LocalDeployment;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import dev.onefold.local.stack.StackRequest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.PutRequest;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamSpecification;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/// A table of favourites in DynamoDB Local with its change stream, and a deployment that reads it, all on this machine:
/// the functions and roles of the template, whose processes are killed now and then. Commands come on standard input,
/// and each makes a file when it is done:
///
///     open      it is there: the file `endpoint` says where
///     off       the table's stream is switched off: what customers do is in no record
///     on        it is switched on, which makes another stream, and the stack is updated to read that
///     drained   all that the stream told is in the totals
///     end       customers stop; how many have saved which restaurant is in right.csv
///
///     java -cp … DeployedFavourites.java ROWS TOGGLES_PER_SECOND FOLDER FUNCTIONS NODE
///
/// FOLDER has `template.yaml`, FUNCTIONS the jars of the functions' archive (a folder, or a class path), and NODE is
/// the folder of what runs on Node.
final class DeployedFavourites implements Customers.Table {
    private static final String TABLE = "Favourites";
    private static final int AT_ONCE = 25; // As many as a request of DynamoDB may have.
    private static final Duration DRAIN_MAX = Duration.ofMinutes(10);
    private static final Duration MINUTE = Duration.ofSeconds(5); // Of the template's schedules.
    /// Thousandths of invocations that fail, whose answer is lost and whose process is killed; then answers for each
    /// further kill.
    private static final FunctionFaults KILLS = new FunctionFaults(5, 5, 5, 200);

    private final Path folder;
    private final Customers customers;
    private final LocalDeployment deployment;
    private final DynamoDbAsyncClient tables;

    private DeployedFavourites(String[] arguments) throws IOException {
        folder = Path.of(arguments[2]);
        customers = new Customers(Integer.parseInt(arguments[0]), this);
        deployment = LocalDeployment.open(
                new StackRequest(
                        "favourites",
                        Files.readString(folder.resolve("template.yaml")),
                        Map.of("BatchSize", "100", "Gates", "64", "TickMinutes", "1"),
                        Optional.of(new GivenTable(table(), this::fill))),
                new Machine(functions(arguments[3]), Path.of(arguments[4]), 2, MINUTE),
                new StackFaults(1, Faults.NONE, KILLS, KILLS, 0));
        tables = deployment.store().client();
    }

    public static void main(String[] arguments) throws IOException, InterruptedException {
        DeployedFavourites favourites = new DeployedFavourites(arguments);
        try (LocalDeployment deployment = favourites.deployment) {
            Thread toggling = favourites.customers.start(Integer.parseInt(arguments[1]));
            Customers.obey(favourites.folder, command -> favourites.obey(command, toggling));
        }
        System.exit(0);
    }

    private static List<Path> functions(String place) throws IOException {
        if (!Files.isDirectory(Path.of(place.split(File.pathSeparator, 2)[0], "lib"))) {
            return Stream.of(place.split(File.pathSeparator, -1)).map(Path::of).toList();
        }
        try (Stream<Path> jars = Files.list(Path.of(place, "lib"))) {
            return jars.sorted().toList();
        }
    }

    private static CreateTableRequest table() {
        return CreateTableRequest.builder()
                .tableName(TABLE)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .attributeDefinitions(attribute("user"), attribute("restaurant"))
                .keySchema(part("user", KeyType.HASH), part("restaurant", KeyType.RANGE))
                .build();
    }

    private static AttributeDefinition attribute(String name) {
        return AttributeDefinition.builder()
                .attributeName(name)
                .attributeType(ScalarAttributeType.S)
                .build();
    }

    private static KeySchemaElement part(String name, KeyType type) {
        return KeySchemaElement.builder().attributeName(name).keyType(type).build();
    }

    /// The rows that were there before the stream.
    private void fill(DynamoDbAsyncClient direct) {
        List<WriteRequest> some = new ArrayList<>();
        for (int i = customers.saved.nextSetBit(0); i >= 0; i = customers.saved.nextSetBit(i + 1)) {
            some.add(WriteRequest.builder()
                    .putRequest(PutRequest.builder().item(item(i)).build())
                    .build());
            if (some.size() == AT_ONCE) {
                put(direct, some);
            }
        }
        if (!some.isEmpty()) {
            put(direct, some);
        }
    }

    private static void put(DynamoDbAsyncClient direct, List<WriteRequest> some) {
        Map<String, List<WriteRequest>> rest = Map.of(TABLE, List.copyOf(some));
        while (!rest.isEmpty()) {
            Map<String, List<WriteRequest>> asked = rest;
            rest = direct.batchWriteItem(request -> request.requestItems(asked))
                    .join()
                    .unprocessedItems();
        }
        some.clear();
    }

    private static Map<String, AttributeValue> key(int favourite) {
        return Map.of(
                "user", AttributeValue.fromS(Customers.user(favourite)),
                "restaurant", AttributeValue.fromS(Customers.restaurant(favourite)));
    }

    private Map<String, AttributeValue> item(int favourite) {
        return Map.of(
                "user", AttributeValue.fromS(Customers.user(favourite)),
                "restaurant", AttributeValue.fromS(Customers.restaurant(favourite)),
                "stars", AttributeValue.fromN(String.valueOf(customers.stars[favourite])));
    }

    private void obey(String command, Thread toggling) throws IOException, InterruptedException {
        switch (command) {
            case "open" ->
                Files.writeString(
                        folder.resolve("endpoint"), deployment.endpoint().toString());
            case "off" -> {
                synchronized (customers) {
                    customers.set(false);
                    stream(table -> table.streamEnabled(false));
                }
            }
            case "on" -> {
                synchronized (customers) {
                    deployment.updateInputStream(
                            stream(table -> table.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES))
                                    .latestStreamArn());
                    customers.set(true);
                }
            }
            case "drained" -> deployment.drained(DRAIN_MAX).join();
            case "end" -> {
                customers.end();
                toggling.join();
                customers.writeTotals(folder);
            }
            default -> throw new IllegalArgumentException(command);
        }
    }

    private TableDescription stream(Consumer<StreamSpecification.Builder> specification) {
        return tables.updateTable(update -> update.tableName(TABLE).streamSpecification(specification))
                .join()
                .tableDescription();
    }

    @Override
    public void change(int favourite, boolean was, boolean is) {
        if (is) {
            tables.putItem(request -> request.tableName(TABLE).item(item(favourite)))
                    .join();
        } else {
            tables.deleteItem(request -> request.tableName(TABLE).key(key(favourite)))
                    .join();
        }
    }

    @Override
    public void flush() {} // Each change is in the table when it is done.
}
