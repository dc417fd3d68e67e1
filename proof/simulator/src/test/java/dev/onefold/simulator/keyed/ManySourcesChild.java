package dev.onefold.simulator.keyed;

import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.embedded.Settings;
import dev.onefold.oracle.KeyedOracle.Order;
import dev.onefold.simulator.embedded.KilledChild;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutionException;

/// A process of its own, to be killed: hands over what is not in from several sources at once, tells what is durable of
/// which, and compares with the oracle.
public final class ManySourcesChild {
    private static final int VERSIONS = 120;

    private ManySourcesChild() {}

    /// The data directory, the order, and what was durable of each source before.
    public static void main(String[] arguments) throws InterruptedException, ExecutionException {
        ManySources sources = new ManySources(Order.valueOf(arguments[1]), VERSIONS, 7);
        Settings settings = Settings.defaults()
                .withThreads(2)
                .withShards(2)
                .withStateBytesMax(1L << 30)
                .withCheckpointInterval(Duration.ofMillis(20));
        try (EmbeddedEngine engine = EmbeddedEngine.open(Path.of(arguments[0]), sources.function(1), settings)) {
            for (Feed feed : sources.feeds) {
                int number = sources.feeds.indexOf(feed);
                if (feed.in(engine) < Long.parseLong(arguments[2 + number])) {
                    throw new IllegalStateException("Of " + feed + " " + feed.in(engine) + " are in, and "
                            + arguments[2 + number] + " were told");
                }
            }
            sources.send(engine, feed -> System.out.println(sources.feeds.indexOf(feed) + " " + feed.durable()));
            sources.check(engine);
        }
    }

    static Process start(Path log, List<String> arguments) throws IOException {
        return KilledChild.start(log, "256m", ManySourcesChild.class, arguments.toArray(String[]::new));
    }
}
