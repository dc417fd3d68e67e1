package dev.onefold.aws.function;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.keyed.StepFunction.OverrunException;
import dev.onefold.process.Step;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;

/// A process of State that answers one invocation while so many calls of the user's function do not return.
final class StuckChild {
    private StuckChild() {}

    public static void main(String[] arguments) throws IOException {
        BoundedCalls calls = new BoundedCalls(Duration.ofMillis(1), 2);
        for (int left = Integer.parseInt(arguments[0]); left > 0; left--) {
            assertThatThrownBy(() -> calls.call(StuckChild::never)).isInstanceOf(OverrunException.class);
        }
        Store store = new Store(
                new DynamoDbAsyncClient() {
                    @Override
                    public String serviceName() {
                        return SERVICE_NAME;
                    }

                    @Override
                    public void close() {}
                },
                Store.Tables.of("none"),
                Connection.THREADS,
                new Random(),
                InstantSource.system());
        StateFunction state = new StateFunction(
                store,
                PipelineBuilder.named("p")
                        .key("k")
                        .version("v")
                        .rollup(r -> r.levels("g").count("n"))
                        .build(),
                new Metrics(System.out, "stack"));
        state.handleRequest(new ByteArrayInputStream("{}".getBytes(StandardCharsets.UTF_8)), System.out, null);
    }

    private static Step<?> never() {
        while (true) {
            LockSupport.park();
            Thread.interrupted();
        }
    }
}
