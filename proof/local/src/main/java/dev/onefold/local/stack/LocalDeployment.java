package dev.onefold.local.stack;

import dev.onefold.aws.Connection;
import dev.onefold.aws.resync.RetryQueue;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.stream.PartitionKeys;
import dev.onefold.aws.stream.Producer;
import dev.onefold.aws.stream.StreamRecord;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.local.function.FunctionSettings;
import dev.onefold.local.function.FunctionUrl;
import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.gate.Gate;
import dev.onefold.local.gate.Role;
import dev.onefold.local.gate.Usage;
import dev.onefold.local.server.FunctionServer;
import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import java.io.IOException;
import java.net.URI;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongConsumer;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/// A deployment on this machine: the template's storage on servers that stand in for those of AWS, its
/// functions in sandboxes, its mappings and schedules, and its roles enforced. What runs is what the template
/// says.
///
///     producer --> gate --> Kinesis server <-- gate <-- mappings --> sandboxes --> gate --> DynamoDB Local
///
/// A table's change stream as input is on DynamoDB Local, too, and so is the table.
///
/// Any thread may call.
public final class LocalDeployment implements AutoCloseable {
    private static final Duration POLL = Duration.ofMillis(200);

    private final List<AutoCloseable> parts = new ArrayList<>();
    private final StackTemplate template;
    private final Stack stack;
    private final Gate gate;
    private final Clients operator;
    private volatile Map<String, Role> roles;
    private final Workings workings;
    private final FunctionServer receivers;
    private final String name;

    private LocalDeployment(StackRequest request, Machine machine, StackFaults faults) throws IOException {
        name = request.name();
        String region = Account.LOCAL.region();
        try {
            Servers servers = kept(Servers.open(machine.node()));
            receivers = servers.functions;
            Connections connections = kept(new Connections());
            try (Clients direct = new Clients(connections, Role.OPERATOR, servers::place, region)) {
                template = new StackTemplate(Account.LOCAL, name, request.yaml(), given(request, direct));
                new Storage(template, direct).make();
            }
            stack = new Stack(template, region);
            roles = stack.roles();
            gate = kept(Gate.open(Account.LOCAL, servers.places(), callers(roles), faults.faults(), faults.seed()));
            operator = kept(new Clients(connections, Role.OPERATOR, gate.uri(), region));
            Workings.Place place = new Workings.Place(machine, gate.uri(), connections, Optional.empty());
            workings = kept(new Workings(template, place, faults));
            workings.invoke(place);
            openUrls();
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    private void openUrls() throws IOException {
        for (String url : template.resources("AWS::Lambda::Url")) {
            Map<String, Object> properties = template.properties(url);
            String target = Properties.text(properties, "TargetFunctionArn");
            String function = workings.functions().keySet().stream()
                    .filter(name -> template.value(name).equals(target))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(url + " leads to no function of the template"));
            FunctionUrl opened = kept(FunctionUrl.open(
                    function(function)::invoke,
                    Properties.text(properties, "AuthType").equals("AWS_IAM")));
            template.learn(url + ".FunctionUrl", opened.uri().toString());
        }
    }

    /// Makes the table that is there before, and says to the template where its stream is.
    private static Map<String, String> given(StackRequest request, Clients direct) {
        Map<String, String> given = new TreeMap<>(Map.of("CodeBucket", "code", "CodeKey", "functions.zip"));
        request.table().ifPresent(table -> given.put("InputStreamArn", Account.LOCAL.own(make(table, direct))));
        given.putAll(request.parameters());
        return given;
    }

    /// The ARN of the table's stream.
    private static String make(GivenTable table, Clients direct) {
        direct.tables.createTable(table.request()).join();
        table.rows().accept(direct.tables);
        return direct.tables
                .updateTable(update -> update.tableName(table.request().tableName())
                        .streamSpecification(
                                stream -> stream.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES)))
                .join()
                .tableDescription()
                .latestStreamArn();
    }

    /// Opens a deployment. Its functions start with their first invocations.
    ///
    /// @throws IllegalStateException saying what is missing on this machine, and what to do
    public static LocalDeployment open(StackRequest request, Machine machine, StackFaults faults) throws IOException {
        return new LocalDeployment(request, machine, faults);
    }

    /// The same, with a Kinesis stream as input.
    public static LocalDeployment open(
            String name, String yaml, Map<String, String> parameters, Machine machine, StackFaults faults)
            throws IOException {
        return open(new StackRequest(name, yaml, parameters, Optional.empty()), machine, faults);
    }

    private <T extends AutoCloseable> T kept(T part) {
        parts.add(part);
        return part;
    }

    /// The tables, as whoever runs the stack sees them.
    public Store store() {
        return new Store(
                        operator.tables,
                        Store.Tables.of(name),
                        Connection.THREADS,
                        new SecureRandom(),
                        InstantSource.system())
                .with(new Store.Bucket(() -> operator.objects, Optional.of(template.value("LettersBucket"))));
    }

    /// The stream, as producers see it.
    public KinesisAsyncClient streams() {
        return operator.streams;
    }

    /// Puts records into the stream, as `onefold aws produce` does. Returns when all are in.
    ///
    /// @param put is told how many were handed over so far
    public Producer.Sent put(Pipeline pipeline, Iterator<byte[]> records, LongConsumer put) {
        PartitionKeys keys = new PartitionKeys(pipeline);
        List<String> refused = Collections.synchronizedList(new ArrayList<>());
        Producer producer = new Producer(
                streams(),
                outputs().getOrDefault("InputStreamName", ""),
                Connection.THREADS,
                new SecureRandom(),
                (record, reason) -> refused.add("Record " + record.number() + ": " + reason));
        for (long number = 1; records.hasNext(); number++) {
            byte[] record = records.next();
            producer.add(new StreamRecord(number, keys.of(record), record));
            put.accept(number);
        }
        Producer.Sent sent = producer.finish();
        if (!refused.isEmpty()) {
            throw new IllegalStateException("The stream does not take " + refused);
        }
        return sent;
    }

    /// What the stack tells of itself, such as the name of its stream.
    public Map<String, String> outputs() {
        return template.outputs();
    }

    /// Where all services are; the access key is `OPERATOR`.
    public URI endpoint() {
        return gate.uri();
    }

    /// Functions that are not of this stack: those that batches are delivered to.
    public FunctionServer receivers() {
        return receivers;
    }

    /// Who asked for what so far.
    public Usage usage() {
        return gate.usage();
    }

    /// The services as a role sees them.
    Clients clients(String role) {
        return role.equals(Role.OPERATOR.name())
                ? operator
                : workings.mappings().clients(role);
    }

    /// The name of a resource of the template, or an attribute of it ("resource.attribute").
    public String value(String resource) {
        return template.value(resource);
    }

    /// The functions' roles.
    public Map<String, Role> roles() {
        return Map.copyOf(roles);
    }

    /// The sandboxes of a function, by its name in the template.
    public Sandboxes function(String logicalName) {
        Sandboxes sandboxes = workings.functions().get(logicalName);
        if (sandboxes == null) {
            throw new IllegalArgumentException("The template has no function " + logicalName);
        }
        return sandboxes;
    }

    /// How a function runs, by its name in the template.
    public FunctionSettings settings(String logicalName) {
        return Optional.ofNullable(workings.settings().get(logicalName)).orElseThrow();
    }

    /// Reads another stream from now on, as an update of the stack does that gives the template this parameter.
    /// Not for several threads.
    public void updateInputStream(String arn) {
        template.set("InputStreamArn", Account.LOCAL.own(arn));
        roles = stack.roles();
        gate.setRoles(callers(roles));
        workings.replaceInput();
    }

    private static List<Role> callers(Map<String, Role> roles) {
        List<Role> callers = new ArrayList<>(roles.values());
        callers.add(Role.OPERATOR);
        return callers;
    }

    /// Completes when all that is in the stream is in the totals, or fails after a while.
    public CompletableFuture<Void> drained(Duration most) {
        long deadlineNanos = System.nanoTime() + most.toNanos();
        return CompletableFuture.runAsync(() -> awaitDrained(deadlineNanos), Connection.THREADS);
    }

    private void awaitDrained(long deadlineNanos) {
        while (!isDrained()) {
            workings.time().requireFine();
            if (System.nanoTime() > deadlineNanos) {
                throw new IllegalStateException("Records are still waiting. " + mappingResults() + "; "
                        + functions("State") + "; " + functions("Reduce"));
            }
            Connection.THREADS.pause(POLL);
        }
        workings.time().requireFine();
    }

    private String functions(String function) {
        return function + ": " + function(function).counts();
    }

    private boolean isDrained() {
        Store store = store();
        return Connection.THREADS.await(workings.mappings().isInputDone(operator))
                && new RetryQueue(operator.queues, template.value("Retries")).size() == 0
                && store.isEmpty(store.tables().deltas());
    }

    /// What became of the last invocation of each mapping.
    public String mappingResults() {
        return workings.mappings().toString();
    }

    @Override
    public void close() {
        RuntimeException failure = null;
        for (AutoCloseable part : parts.reversed()) {
            try {
                part.close();
            } catch (Exception e) { // All of them must be closed.
                failure = failure == null ? new IllegalStateException("A part does not end: " + part, e) : failure;
            }
        }
        parts.clear();
        if (failure != null) {
            throw failure;
        }
    }
}
