package dev.onefold.local.stack;

import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.gate.Role;
import dev.onefold.local.mapping.Destination;
import dev.onefold.local.mapping.Nastiness;
import dev.onefold.local.mapping.QueueMapping;
import dev.onefold.local.mapping.StreamMapping;
import dev.onefold.local.mapping.Target;
import dev.onefold.local.mapping.source.KinesisSource;
import dev.onefold.local.mapping.source.StreamSource;
import dev.onefold.local.mapping.source.TableSource;
import dev.onefold.local.template.StackTemplate;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;
import software.amazon.awssdk.services.kinesis.model.GetShardIteratorRequest;
import software.amazon.awssdk.services.kinesis.model.Shard;
import software.amazon.awssdk.services.kinesis.model.ShardIteratorType;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// What invokes the functions: mappings, each with the role of its function, and schedules.
final class Mappings implements AutoCloseable {
    private static final String STREAM = ":stream/";

    private final Stack stack;
    private final StackTemplate template;
    private final RealTime time;
    private final Duration minute;
    private final Chaos chaos;
    private final List<Runnable> closing = new ArrayList<>();
    private final Map<String, Clients> clientsByRole = new HashMap<>();
    private @Nullable StreamMapping input;
    private @Nullable StreamMapping wakes;
    private @Nullable QueueMapping retries;
    private String inputStream = "";

    private final Map<String, Role> roles;

    /// Time, and how much of it a schedule's minute takes.
    record Pace(RealTime time, Duration minute) {}

    Mappings(Stack stack, StackTemplate template, Pace pace, Chaos chaos, Map<String, Role> roles) {
        this.roles = roles;
        this.stack = stack;
        this.template = template;
        time = pace.time();
        minute = pace.minute();
        this.chaos = chaos;
    }

    /// @param client makes those of a role
    void open(Map<String, Sandboxes> functions, Function<Role, Clients> client) {
        roles.forEach((name, role) -> {
            Clients clients = client.apply(role);
            closing.add(clients::close);
            clientsByRole.put(name, clients);
        });
        for (Stack.Mapping mapping : stack.mappings()) {
            Clients clients = clients(stack.roleOf(mapping.function()));
            Sandboxes function =
                    Optional.ofNullable(functions.get(mapping.function())).orElseThrow();
            requireAccess(mapping, clients);
            open(mapping, clients, function);
        }
        for (Stack.Schedule schedule : stack.schedules()) {
            Sandboxes function =
                    Optional.ofNullable(functions.get(schedule.function())).orElseThrow();
            tick(schedule, function);
        }
    }

    Clients clients(String role) {
        return Optional.ofNullable(clientsByRole.get(role)).orElseThrow();
    }

    private void open(Stack.Mapping mapping, Clients clients, Sandboxes function) {
        Nastiness nastiness = Nastiness.of(chaos.seed() + mapping.sourceArn().hashCode(), chaos.nastiness());
        String arn = template.value(mapping.function() + ".Arn");
        if (mapping.sourceArn().startsWith("arn:aws:sqs:")) {
            QueueMapping queue = QueueMapping.open(
                    time,
                    new QueueMapping.Queue(clients.queues, queueUrl(mapping.sourceArn()), mapping.sourceArn()),
                    function,
                    mapping.settings(),
                    nastiness);
            closing.add(queue::close);
            retries = queue;
            return;
        }
        boolean kinesis = mapping.sourceArn().startsWith("arn:aws:kinesis:");
        StreamSource source = kinesis
                ? new KinesisSource(clients.streams, mapping.sourceArn())
                : new TableSource(clients.changes, mapping.sourceArn(), mapping.kinds());
        Destination onFailure =
                mapping.onFailure().isEmpty() ? null : new Destination(clients.queues, queueUrl(mapping.onFailure()));
        StreamMapping opened =
                StreamMapping.open(time, source, new Target(function, arn, onFailure), mapping.settings(), nastiness);
        closing.add(opened::close);
        if (kinesis) {
            input = opened;
            inputStream = mapping.sourceArn().substring(mapping.sourceArn().indexOf(STREAM) + STREAM.length());
        } else {
            wakes = opened;
        }
    }

    private String queueUrl(String arn) {
        return template.resources("AWS::SQS::Queue").stream()
                .filter(queue -> template.value(queue + ".Arn").equals(arn))
                .findFirst()
                .map(template::value)
                .orElseThrow(() -> new IllegalArgumentException("The template makes no queue " + arn));
    }

    /// As Lambda does before it makes a mapping: whether the role may read the source.
    private void requireAccess(Stack.Mapping mapping, Clients clients) {
        String arn = mapping.sourceArn();
        CompletableFuture<?> access;
        if (arn.startsWith("arn:aws:kinesis:")) {
            String name = arn.substring(arn.indexOf(STREAM) + STREAM.length());
            access = CompletableFuture.allOf(
                    clients.streams.describeStream(request -> request.streamName(name)),
                    clients.streams.describeStreamSummary(request -> request.streamName(name)));
        } else if (arn.startsWith("arn:aws:dynamodb:")) {
            String table = arn.substring(arn.indexOf(":table/") + ":table/".length(), arn.indexOf("/stream/"));
            access = CompletableFuture.allOf(
                    clients.changes.describeStream(request -> request.streamArn(arn)),
                    clients.changes.listStreams(request -> request.tableName(table)));
        } else {
            String url = queueUrl(arn);
            access = clients.queues.getQueueAttributes(
                    request -> request.queueUrl(url).attributeNames(QueueAttributeName.ALL));
        }
        access.join();
    }

    private void tick(Stack.Schedule schedule, Sandboxes function) {
        time.after(minute.multipliedBy(schedule.every().toMinutes()), () -> {
            // What fails is tried at the next minute: its failure is counted where it happens.
            var _ = function.invoke(schedule.input().getBytes(StandardCharsets.UTF_8));
            tick(schedule, function);
        });
    }

    /// Whether State has done all that is in the input stream.
    CompletableFuture<Boolean> isInputDone(KinesisAsyncClient client) {
        return client.listShards(request -> request.streamName(inputStream)).thenCompose(response -> {
            CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
            for (Shard shard : response.shards()) {
                all = all.thenCompose(
                        done -> done ? isDone(client, shard.shardId()) : CompletableFuture.completedFuture(false));
            }
            return all;
        });
    }

    private CompletableFuture<Boolean> isDone(KinesisAsyncClient client, String shard) {
        GetShardIteratorRequest.Builder request =
                GetShardIteratorRequest.builder().streamName(inputStream).shardId(shard);
        Optional<String> done = input == null ? Optional.empty() : input.checkpoint(shard);
        done.ifPresentOrElse(
                sequence -> request.shardIteratorType(ShardIteratorType.AFTER_SEQUENCE_NUMBER)
                        .startingSequenceNumber(sequence),
                () -> request.shardIteratorType(ShardIteratorType.TRIM_HORIZON));
        return client.getShardIterator(request.build())
                .thenCompose(iterator -> client.getRecords(records ->
                        records.shardIterator(iterator.shardIterator()).limit(1)))
                .thenApply(response -> response.records().isEmpty());
    }

    @Override
    public String toString() {
        return "Input: " + (input == null ? "none" : input.lastProcessingResult()) + "; wakes: "
                + (wakes == null ? "none" : wakes.lastProcessingResult()) + "; retries: "
                + (retries == null ? "none" : retries.lastProcessingResult());
    }

    @Override
    public void close() {
        closing.reversed().forEach(Runnable::run);
        closing.clear();
    }
}
