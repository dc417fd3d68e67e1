package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.store.Store;
import dev.onefold.core.pipeline.Pipeline;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/// DynamoDB Local and a bucket, where the command line finds them as it finds those of AWS: credentials and the
/// bucket's place are properties of this process. So one test class at a time has them open. The server is started once
/// for all of them and ends with the process; the tables of a test have a name of their own.
public final class LocalServices implements BeforeAllCallback, AfterAllCallback {
    private static final String REGION = "eu-central-1";
    private static final String ID = "aws.accessKeyId";
    private static final String SECRET = "aws.secretAccessKey";
    private static final String OBJECTS = "aws.endpointUrlS3";

    private final URI endpoint = Server.ENDPOINT;
    private HttpBucket bucket;

    private static final class Server {
        private static final URI ENDPOINT = start();

        private static URI start() {
            try {
                int port;
                try (ServerSocket socket = new ServerSocket(0)) {
                    port = socket.getLocalPort();
                }
                DynamoDBProxyServer server = ServerRunner.createServerFromCommandLineArgs(
                        new String[] {"-inMemory", "-disableTelemetry", "-port", Integer.toString(port)});
                server.start();
                return URI.create("http://localhost:" + port);
            } catch (Exception e) { // What the server's own signature says.
                throw new IllegalStateException("DynamoDB Local does not start", e);
            }
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        bucket = new HttpBucket();
        System.setProperty(ID, "local");
        System.setProperty(SECRET, "local");
        System.setProperty(OBJECTS, bucket.endpoint());
    }

    public Connection.Place place() {
        return new Connection.Place(REGION, null, endpoint);
    }

    public String endpoint() {
        return endpoint.toString();
    }

    HttpBucket bucket() {
        return bucket;
    }

    /// The tables of a deployment, which need not be there.
    Store store(String deployment) {
        Store plain = Connection.store(Store.Tables.of(deployment), place());
        return plain.with(new Store.Bucket(plain.bucket().client(), Optional.of("letters-" + deployment)));
    }

    /// Makes the tables of a deployment, empty.
    Store tables(String deployment) {
        Store store = store(deployment);
        LocalTables.create(store, store.tables().rows(), ScalarAttributeType.B, "k");
        LocalTables.create(store, store.tables().deltas(), ScalarAttributeType.S, "l", "i");
        LocalTables.create(store, store.tables().totals(), ScalarAttributeType.B, "p", "g");
        LocalTables.create(store, store.tables().letters(), ScalarAttributeType.B, "p", "i");
        return store;
    }

    /// Makes the tables, with the definition of this pipeline in them.
    Store deploy(String deployment, Pipeline pipeline) {
        Store store = tables(deployment);
        AwsEngine.open(store, pipeline, 2, 4);
        new LetterTable(store).useBucket();
        return store;
    }

    /// A command of `onefold aws` that finds them.
    String[] command(String... arguments) {
        List<String> all = new ArrayList<>(List.of("aws"));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--region", REGION, "--endpoint", endpoint()));
        return all.toArray(String[]::new);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        bucket.close();
        System.clearProperty(OBJECTS);
        System.clearProperty(ID);
        System.clearProperty(SECRET);
    }
}
