package dev.onefold.local.server;

import com.typesafe.config.ConfigFactory;
import java.net.URI;
import org.apache.pekko.actor.ActorSystem;
import org.elasticmq.NodeAddress;
import org.elasticmq.rest.sqs.SQSRestServer;
import org.elasticmq.rest.sqs.SQSRestServerBuilder;

/// ElasticMQ, in memory, in this process.
public final class QueueServer implements AutoCloseable {
    private final SQSRestServer server;
    private final ActorSystem actors;
    private final URI uri;

    private QueueServer(SQSRestServer server, ActorSystem actors) {
        this.server = server;
        this.actors = actors;
        uri = URI.create(
                "http://127.0.0.1:" + server.waitUntilStarted().localAddress().getPort());
    }

    /// Opens one without queues.
    public static QueueServer open() {
        ActorSystem actors = ActorSystem.create(
                "queues",
                ConfigFactory.parseString("pekko.loglevel=OFF, pekko.stdout-loglevel=OFF, pekko.daemonic=on,"
                                + " pekko.jvm-shutdown-hooks=off")
                        .withFallback(ConfigFactory.load()));
        return new QueueServer(
                SQSRestServerBuilder.withActorSystem(actors)
                        .withInterface("127.0.0.1")
                        .withPort(0)
                        .withServerAddress(new NodeAddress("http", "127.0.0.1", 9324, ""))
                        .start(),
                actors);
    }

    /// Where it is.
    public URI uri() {
        return uri;
    }

    @Override
    public void close() {
        server.stopAndWait();
        actors.terminate();
    }
}
