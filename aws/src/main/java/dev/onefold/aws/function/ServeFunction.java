package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import dev.onefold.aws.Connection;
import dev.onefold.aws.event.Invocation;
import dev.onefold.aws.serve.Intake;
import dev.onefold.aws.serve.QueueIntake;
import dev.onefold.aws.serve.Serving;
import dev.onefold.aws.serve.StreamIntake;
import dev.onefold.aws.template.ServeEnvironment;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.SecureRandom;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The function behind a function URL: the routes of the service, and the live page. One invocation at a time, as
/// Lambda calls it.
public final class ServeFunction implements RequestStreamHandler {
    /// The time that an invocation reserves for requests to the stream or queue that are under way when no more
    /// are sent: the longest that one may take.
    private static final Duration KEPT = Duration.ofSeconds(27);

    private final Serving serving;

    /// As Lambda makes it.
    ///
    /// @throws IOException if a file of the page is missing
    public ServeFunction() throws IOException {
        this(ServeEnvironment.of(System.getenv()));
    }

    private ServeFunction(ServeEnvironment environment) throws IOException {
        this(new Serving(
                Connection.store(environment.tables(), environment.bucket()),
                environment.pipeline(),
                environment.access(),
                intake(environment)));
    }

    /// For a process that has its own store.
    public ServeFunction(Serving serving) {
        this.serving = serving;
    }

    private static @Nullable Intake intake(ServeEnvironment environment) {
        if (!environment.stream().isEmpty()) {
            return new StreamIntake(Connection.stream(), environment.stream(), Connection.THREADS, new SecureRandom());
        }
        return environment.queue().isEmpty()
                ? null
                : new QueueIntake(Connection.queue(), environment.queue(), Connection.THREADS, new SecureRandom());
    }

    @Override
    public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
        out.write(serving.answer(in.readNBytes(Invocation.EVENT_BYTES_MAX + 1), () -> {
                    Duration left = Duration.ofMillis(context.getRemainingTimeInMillis())
                            .minus(KEPT);
                    return left.isNegative() ? Duration.ZERO : left;
                })
                .json());
    }
}
