package dev.onefold.local.stack;

import dev.onefold.local.gate.Role;
import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import dev.onefold.mapping.Destination;
import dev.onefold.mapping.Invoker;
import dev.onefold.mapping.MappingFaults;
import dev.onefold.mapping.QueueMapping;
import dev.onefold.mapping.StreamMapping;
import dev.onefold.mapping.Target;
import dev.onefold.mapping.source.Futures;
import dev.onefold.mapping.source.KinesisSource;
import dev.onefold.mapping.source.StreamSource;
import dev.onefold.mapping.source.TableSource;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/// What invokes the functions: mappings, each with the role of its function, and schedules.
final class Mappings implements AutoCloseable {
    private static final String STREAM = ":stream/";
    private static final int POLLERS = 5;

    private final Stack stack;
    private final StackTemplate template;
    private final RealTime time;
    private final Duration minute;
    private final StackFaults faults;
    private final List<Runnable> closing = new ArrayList<>();
    private final Map<String, List<Runnable>> opened = new HashMap<>();
    private final Map<String, Clients> clientsByRole = new HashMap<>();
    private @Nullable StreamMapping input;
    private @Nullable StreamMapping wakes;
    private @Nullable QueueMapping retries;
    private Stack.@Nullable Mapping inputOf;

    private final Map<String, Role> roles;

    /// Time, and how much of it a schedule's minute takes.
    record Pace(RealTime time, Duration minute) {}

    Mappings(Stack stack, StackTemplate template, Pace pace, StackFaults faults, Map<String, Role> roles) {
        this.roles = roles;
        this.stack = stack;
        this.template = template;
        time = pace.time();
        minute = pace.minute();
        this.faults = faults;
    }

    /// How a function is invoked, by its name.
    interface Functions {
        CompletableFuture<byte[]> invoke(String function, byte[] event);

        default Invoker named(String function) {
            return event -> invoke(function, event);
        }
    }

    /// @param client makes those of a role
    void open(Functions functions, Function<Role, Clients> client) {
        roles.forEach((name, role) -> {
            Clients clients = client.apply(role);
            closing.add(clients::close);
            clientsByRole.put(name, clients);
        });
        for (Stack.Mapping mapping : stack.mappings()) {
            open(stack, mapping, functions);
        }
        for (Stack.Schedule schedule : stack.schedules()) {
            tick(schedule, functions.named(schedule.function()));
        }
    }

    Clients clients(String role) {
        return Optional.ofNullable(clientsByRole.get(role)).orElseThrow();
    }

    /// Reads the input that the template names now, from its beginning, in place of the one before.
    void replaceInput(Functions functions) {
        Objects.requireNonNull(input, "The template has no mapping of the input")
                .close();
        stack.mappings().stream().filter(Mappings::isInput).forEach(mapping -> open(stack, mapping, functions));
    }

    /// Opens a mapping of another template, in place of the one of that name, which goes on until this is settled.
    ///
    /// @return ends the one before if told `true`, and this one if told `false`
    Consumer<Boolean> replace(StackTemplate other, String name, Functions functions) {
        Stack next = new Stack(other, Account.LOCAL.region());
        List<Runnable> before = Objects.requireNonNullElse(opened.remove(name), List.of());
        next.mappings().stream()
                .filter(mapping -> mapping.name().equals(name))
                .forEach(mapping -> open(next, mapping, functions));
        return isKept -> {
            List<Runnable> ended = isKept ? before : Objects.requireNonNullElse(opened.put(name, before), List.of());
            ended.forEach(Runnable::run);
        };
    }

    private void ends(String name, Runnable end) {
        closing.add(end);
        opened.computeIfAbsent(name, _ -> new ArrayList<>()).add(end);
    }

    private static boolean isInput(Stack.Mapping mapping) {
        return !mapping.sourceArn().startsWith("arn:aws:sqs:")
                && (mapping.function().equals("State") || mapping.function().equals("Collect"));
    }

    private void open(Stack of, Stack.Mapping mapping, Functions functions) {
        Clients clients = clients(of.roleOf(mapping.function()));
        requireAccess(mapping, clients);
        open(mapping, clients, functions.named(mapping.function()));
    }

    private void open(Stack.Mapping mapping, Clients clients, Invoker function) {
        MappingFaults mappings =
                MappingFaults.of(faults.seed() + mapping.sourceArn().hashCode(), faults.mappings());
        String arn = template.value(mapping.function() + ".Arn");
        if (mapping.sourceArn().startsWith("arn:aws:sqs:")) {
            // Lambda begins with five pollers; each waits for its invocation here.
            for (int poller = 0; poller < (mapping.function().equals("Collect") ? POLLERS : 1); poller++) {
                QueueMapping queue = QueueMapping.open(
                        time,
                        new QueueMapping.Queue(clients.queues, queueUrl(mapping.sourceArn()), mapping.sourceArn()),
                        function,
                        mapping.settings(),
                        MappingFaults.of(mappings.seed() + poller, faults.mappings()));
                ends(mapping.name(), queue::close);
                retries = queue;
            }
            return;
        }
        Destination onFailure =
                mapping.onFailure().isEmpty() ? null : new Destination(clients.queues, queueUrl(mapping.onFailure()));
        StreamMapping reading = StreamMapping.open(
                time, source(mapping, clients), new Target(function, arn, onFailure), mapping.settings(), mappings);
        ends(mapping.name(), reading::close);
        if (isInput(mapping)) {
            input = reading;
            inputOf = mapping;
        } else {
            wakes = reading;
        }
    }

    private static StreamSource source(Stack.Mapping mapping, Clients clients) {
        return mapping.sourceArn().startsWith("arn:aws:kinesis:")
                ? new KinesisSource(clients.streams, mapping.sourceArn())
                : new TableSource(clients.changes, mapping.sourceArn(), mapping.filter());
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

    private void tick(Stack.Schedule schedule, Invoker function) {
        time.after(minute.multipliedBy(schedule.every().toMinutes()), () -> {
            // What fails is tried at the next minute: its failure is counted where it happens.
            var _ = function.invoke(schedule.input().getBytes(StandardCharsets.UTF_8));
            tick(schedule, function);
        });
    }

    /// Whether State has done all that is in the input stream.
    CompletableFuture<Boolean> isInputDone(Clients operator) {
        StreamMapping mapping = Objects.requireNonNull(input, "The template has no mapping of the input");
        StreamSource source = source(Objects.requireNonNull(inputOf), operator);
        return source.shards().thenCompose(shards -> {
            CompletableFuture<Boolean> all = CompletableFuture.completedFuture(true);
            for (StreamSource.Shard shard : shards) {
                all = all.thenCompose(done -> done
                        ? isDone(source, shard.id(), mapping.checkpoint(shard.id()))
                        : CompletableFuture.completedFuture(false));
            }
            return all;
        });
    }

    /// Neither server gives an empty page where there is more.
    private static CompletableFuture<Boolean> isDone(StreamSource source, String shard, Optional<String> done) {
        StreamSource.Position behind = done.<StreamSource.Position>map(StreamSource.Position.After::new)
                .orElseGet(StreamSource.Position.TrimHorizon::new);
        return source.iterator(shard, behind)
                .thenCompose(iterator -> source.records(shard, iterator))
                .thenApply(page -> page.records().isEmpty())
                .exceptionallyCompose(failure -> Futures.cause(failure) instanceof StreamSource.ForgottenIterator
                        ? CompletableFuture.completedFuture(false)
                        : CompletableFuture.failedFuture(failure));
    }

    @Override
    public String toString() {
        return "Input: " + (input == null ? "none" : input.lastProcessingResult()) + "; wakes: "
                + (wakes == null ? "none" : wakes.lastProcessingResult()) + "; queue: "
                + (retries == null ? "none" : retries.lastProcessingResult());
    }

    @Override
    public void close() {
        closing.reversed().forEach(Runnable::run);
        closing.clear();
    }
}
