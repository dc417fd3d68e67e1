package dev.onefold.aws.batch;

import dev.onefold.aws.content.LambdaReceiver;
import dev.onefold.aws.content.StagedContents;
import dev.onefold.aws.content.StoredSecret;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Compression;
import dev.onefold.core.pipeline.Batching.Destination;
import dev.onefold.core.pipeline.Batching.Kind;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.seal.DeliveryRules;
import dev.onefold.jdbc.JdbcReceiver;
import dev.onefold.receivers.Context;
import dev.onefold.receivers.Handover;
import dev.onefold.receivers.Receiver;
import dev.onefold.receivers.Receivers;
import dev.onefold.s3.S3Address;
import dev.onefold.s3.S3Receiver;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/// The receivers that a function can have, and how long they may take.
public final class FunctionReceivers {
    /// Lambda ends an invocation after 15 minutes. What comes before and after a delivery takes some of them.
    public static final Duration TIMEOUT_MAX = Duration.ofMinutes(13);

    /// From the end of an invocation until no request of it can be under way: a client's time-out, and clocks
    /// that differ.
    static final Duration MARGIN = Duration.ofSeconds(45);

    /// For reading a content before it is sent.
    private static final Duration READING = Duration.ofMinutes(1);

    /// For the letters and the answer of an invocation, behind the last thing that it begins.
    public static final Duration ENDING = Duration.ofSeconds(10);

    /// In which attempts begin.
    private static final Duration BEGINNING = Duration.ofMinutes(1);

    private static final String INSTEAD = "Deliver to 'http', 'lambda', 's3', 'jdbc' or 'class'.";

    /// Of these, nothing has a meaning of its own in the resource of a role or in a template.
    private static final String PREFIX = "[a-zA-Z0-9_./=+@:,! -]*";

    private static final String BUCKET = "[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]";

    private static final Duration HTTP_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration CLASS_TIMEOUT = Duration.ofHours(1);
    private static final Duration JDBC_TIMEOUT = Duration.ofMinutes(10);

    private FunctionReceivers() {}

    /// Whether a pipeline's batches can be delivered by a function.
    ///
    /// @throws IllegalArgumentException saying why not, and what to do
    public static void requirePossible(Pipeline pipeline, Batching batching) {
        switch (batching.deliver().kind()) {
            case HTTP, JAVA, JDBC -> {}
            case S3 -> requireObjectsPossible(pipeline, batching.deliver());
            case FILE -> throw refusal(pipeline, "a function has no folder that stays. " + INSTEAD);
            case COMMAND -> throw refusal(pipeline, "a function has no commands of yours. " + INSTEAD);
            case SFTP ->
                throw refusal(pipeline, "a function has neither a private key of yours nor known hosts. " + INSTEAD);
            case KAFKA -> throw refusal(pipeline, "a function keeps no connection to Kafka. " + INSTEAD);
            case LAMBDA -> requireFunctionPossible(pipeline, batching.deliver());
        }
        if (timeout(batching).compareTo(TIMEOUT_MAX) > 0) {
            throw refusal(
                    pipeline,
                    "one delivery may take " + timeout(batching).toMinutes() + " minutes"
                            + (batching.deliver().option("timeout").isPresent() ? "" : ", which is the default,")
                            + " and Lambda ends an invocation after 15. Set the receiver's 'timeout' to "
                            + TIMEOUT_MAX.toMinutes() + "m or less.");
        }
    }

    private static void requireObjectsPossible(Pipeline pipeline, Destination destination) {
        S3Address address = S3Address.of(destination);
        if (destination.option("endpoint").isPresent()) {
            throw refusal(pipeline, "a store that is not AWS does not know the function's role. Leave out 'endpoint'.");
        }
        if (destination.compression() == Compression.ZSTD) {
            throw refusal(pipeline, "the functions have no Zstandard. Let the key end in .gz, or in no such word.");
        }
        if (!address.bucket().matches(BUCKET) || !address.prefix().matches(PREFIX)) {
            throw refusal(
                    pipeline,
                    "its role could not name the objects s3://" + address.bucket() + "/" + address.prefix()
                            + ". Use letters, digits and -_./=+@:,! before {number}.");
        }
    }

    private static void requireFunctionPossible(Pipeline pipeline, Destination destination) {
        String function = destination.target().getFirst();
        if (!LambdaReceiver.FUNCTION.matcher(function).matches()) {
            throw refusal(
                    pipeline,
                    function
                            + " is no name and no ARN of a Lambda function. Write it like load-orders, load-orders:live or"
                            + " arn:aws:lambda:eu-central-1:123456789012:function:load-orders.");
        }
    }

    private static IllegalArgumentException refusal(Pipeline pipeline, String why) {
        return new IllegalArgumentException("Pipeline " + pipeline.name() + " cannot be on AWS: " + why);
    }

    /// How long the receiver may take.
    private static Duration timeout(Batching batching) {
        Destination destination = batching.deliver();
        Duration byDefault = switch (destination.kind()) {
            case JAVA -> CLASS_TIMEOUT;
            case JDBC -> JDBC_TIMEOUT;
            case S3 -> S3Receiver.TIMEOUT;
            case HTTP, FILE, COMMAND, SFTP, LAMBDA, KAFKA -> HTTP_TIMEOUT;
        };
        return Receivers.time(destination, "timeout", byDefault);
    }

    /// The time-out of the function that delivers.
    public static Duration invocationMax(Batching batching) {
        return timeout(batching).plus(READING).plus(BEGINNING);
    }

    /// The objects that a receiver of S3 writes and compares, as the resource of a role names them behind its
    /// partition.
    public static Optional<String> objects(Batching batching) {
        if (batching.deliver().kind() != Kind.S3) {
            return Optional.empty();
        }
        S3Address address = S3Address.of(batching.deliver());
        return Optional.of(address.bucket() + "/" + address.prefix() + "*");
    }

    /// The actions of S3 that Deliver needs for contents in the stack's bucket; empty if there are no such
    /// contents.
    public static List<String> contentActions(Batching batching) {
        if (!StagedContents.isNeeded(batching)) {
            return List.of();
        }
        return batching.deliver().kind() == Kind.LAMBDA
                ? List.of("s3:PutObject")
                : List.of("s3:GetObject", "s3:PutObject");
    }

    /// The function that is invoked with each batch: its name or its ARN.
    public static Optional<String> function(Batching batching) {
        return batching.deliver().kind() == Kind.LAMBDA
                ? Optional.of(batching.deliver().target().getFirst())
                : Optional.empty();
    }

    /// The environment variable that a receiver takes a secret from.
    public static Optional<String> secret(Batching batching) {
        Destination destination = batching.deliver();
        return destination.option("authorization").or(() -> destination.option("password"));
    }

    /// How long deliveries may take.
    public static Deliver.Limits limits(Batching batching) {
        return new Deliver.Limits(MARGIN, timeout(batching).plus(READING));
    }

    /// How long an attempt of a direct record may take: its content is at hand.
    public static Deliver.Limits directLimits(Batching batching) {
        return new Deliver.Limits(ENDING.plus(MARGIN), timeout(batching));
    }

    /// The least time-out of a function that hands records over directly: for one attempt, for the move to a
    /// lane, and for the end of the invocation.
    public static Duration directMin(Batching batching) {
        return timeout(batching).plus(Direct.MOVING).plus(ENDING).plus(Direct.MOVING);
    }

    /// Opens the receiver of a pipeline. A class is in the archive of the functions, whatever its `jar` is
    /// called.
    ///
    /// @param classes finds it there
    /// @param stored the secret of the receiver, if it is not in the environment
    /// @throws IllegalArgumentException saying what is wrong with the destination
    public static Deliver.Receiver open(Pipeline pipeline, ClassLoader classes, Optional<StoredSecret> stored) {
        Batching batching = (Batching) pipeline.fold();
        DeliveryRules rules =
                new DeliveryRules(batching, batching.deliver().span("remembers").orElse(null));
        if (batching.deliver().kind() == Kind.LAMBDA) {
            LambdaReceiver function = LambdaReceiver.open(batching, timeout(batching));
            return new Deliver.Receiver(rules, handover -> deliver(function, handover));
        }
        if (stored.isPresent()) {
            String variable = secret(batching).orElseThrow();
            return new Deliver.Receiver(
                    rules,
                    handover -> deliver(stored.get(), handover, value -> {
                        Context.Environment environment = name -> name.equals(variable) ? value : System.getenv(name);
                        return Receivers.open(deployed(batching), context(pipeline, classes, environment));
                    }));
        }
        Receiver receiver = Receivers.open(deployed(batching), context(pipeline, classes, System::getenv));
        return new Deliver.Receiver(rules, handover -> deliver(receiver, handover), receiver::isLeftRunning);
    }

    private static Context context(Pipeline pipeline, ClassLoader classes, Context.Environment environment) {
        return new Context(
                Path.of("."),
                Path.of("."),
                environment,
                classes,
                Map.of(Kind.JDBC, JdbcReceiver::open, Kind.S3, S3Receiver::open),
                pipeline.input().format());
    }

    private static Batching deployed(Batching batching) {
        Destination destination = batching.deliver();
        Map<String, String> options = new TreeMap<>(destination.options());
        options.remove("jar");
        return new Batching(
                batching.size(),
                batching.bytes(),
                batching.waitMax(),
                new Destination(destination.kind(), destination.target(), new TreeMap<>(options)),
                batching.receiver(),
                batching.bisect(),
                batching.order(),
                batching.concurrency(),
                batching.retry(),
                batching.forget(),
                batching.compare());
    }

    /// Each attempt opens the receiver with the secret of now. After one that was not done the next reads it
    /// again, as it may have been rotated in between.
    private static Outcome deliver(
            StoredSecret stored, Deliver.Handover handover, Function<String, Receiver> receivers) {
        try (Receiver receiver = receivers.apply(stored.value())) {
            Outcome outcome = deliver(receiver, handover);
            if (!(outcome instanceof Outcome.Done)) {
                stored.forget();
            }
            return outcome;
        } catch (StoredSecret.Unreadable e) {
            return new Outcome.NotNow(String.valueOf(e.getMessage()), null);
        } catch (InterruptedException e) {
            return interrupted();
        }
    }

    private static Outcome deliver(Receiver receiver, Deliver.Handover handover) {
        try {
            return receiver.deliver(new Handover(
                    handover.manifest(),
                    handover.attempt(),
                    () -> handover.content().get()));
        } catch (InterruptedException e) {
            return interrupted();
        }
    }

    private static Outcome deliver(LambdaReceiver function, Deliver.Handover handover) {
        try {
            if (handover.object().isEmpty()) {
                return function.deliver(handover.manifest(), handover.attempt(), text(handover));
            }
            Deliver.StoredObject object = handover.object().get();
            return function.deliver(handover.manifest(), handover.attempt(), object.bucket(), object.key());
        } catch (InterruptedException e) {
            return interrupted();
        }
    }

    private static String text(Deliver.Handover handover) {
        try (InputStream content = handover.content().get()) {
            return new String(content.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Outcome interrupted() {
        Thread.currentThread().interrupt();
        return new Outcome.Unknown("The function was interrupted while it delivered");
    }
}
