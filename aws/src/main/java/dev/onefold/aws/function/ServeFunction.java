package dev.onefold.aws.function;

import com.amazonaws.services.lambda.runtime.Context;
import dev.onefold.aws.Connection;
import dev.onefold.aws.serve.Intake;
import dev.onefold.aws.serve.QueueIntake;
import dev.onefold.aws.serve.StreamIntake;
import dev.onefold.aws.serve.UrlHandler;
import dev.onefold.aws.template.Environment;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// The function behind a function URL: the routes of the service, and the live page. One invocation at a time,
/// as Lambda calls it.
public final class ServeFunction implements Shell {
    /// The time that an invocation reserves for requests to the stream or queue that are under way when no more
    /// are sent: the longest that one may take.
    private static final Duration KEPT = Duration.ofSeconds(27);

    private final UrlHandler serving;

    /// As Lambda makes it.
    ///
    /// @throws IOException if a file of the page is missing
    public ServeFunction() throws IOException {
        this(Environment.ofProcess());
    }

    private ServeFunction(Environment environment) throws IOException {
        this(new UrlHandler(environment.store(), environment.pipeline(), environment.access(), intake(environment)));
    }

    /// For a process that has its own store.
    public ServeFunction(UrlHandler serving) {
        this.serving = serving;
    }

    private static @Nullable Intake intake(Environment environment) {
        if (!environment.servedStream().isEmpty()) {
            return new StreamIntake(
                    Connection.stream(), environment.servedStream(), Connection.THREADS, new SecureRandom());
        }
        return environment.servedQueue().isEmpty()
                ? null
                : new QueueIntake(
                        Connection.queue(), environment.servedQueue(), Connection.THREADS, new SecureRandom());
    }

    @Override
    public byte[] invoke(byte[] event, Context context) throws IOException {
        return serving.answer(event, () -> {
                    Duration left = Shell.left(context).minus(KEPT);
                    return left.isNegative() ? Duration.ZERO : left;
                })
                .json();
    }
}
