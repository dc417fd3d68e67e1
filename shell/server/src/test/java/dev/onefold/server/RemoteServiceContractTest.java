package dev.onefold.server;

import dev.onefold.api.RemoteEngine;
import dev.onefold.api.Scope;
import dev.onefold.core.Engine;
import dev.onefold.core.FunctionContract;
import dev.onefold.core.VerbContract;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.embedded.EmbeddedEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/// The engine of a service keeps the contract, by TCP with TLS and a token.
class RemoteServiceContractTest implements VerbContract, FunctionContract {
    private static final String TOKEN = "secret";

    @TempDir
    private static Path keys;

    private static SSLContext before;
    private static Certificate certificate;

    @TempDir
    Path directory;

    private final Map<String, Running> running = new HashMap<>();

    private record Running(EmbeddedEngine engine, HttpService service) {
        void close() {
            try {
                service.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } finally {
                engine.close();
            }
        }
    }

    @BeforeAll
    static void trust() throws Exception {
        before = SSLContext.getDefault();
        certificate = Certificate.make(keys, "EC");
        SSLContext.setDefault(certificate.trusting());
    }

    @AfterAll
    static void trustAsBefore() {
        SSLContext.setDefault(before);
    }

    @Override
    public Engine open(String data, Pipeline pipeline) {
        Running old = running.remove(data);
        if (old != null) {
            old.close();
        }
        return served(data, EmbeddedEngine.open(directory.resolve(data), pipeline, settings()));
    }

    @Override
    public Engine open(String data, LoadedFunction function) {
        return served(data, EmbeddedEngine.open(directory.resolve(data), function, settings()));
    }

    private static dev.onefold.embedded.Settings settings() {
        return dev.onefold.embedded.Settings.defaults().withShards(3);
    }

    private Engine served(String data, EmbeddedEngine engine) {
        Tokens tokens =
                Tokens.read(List.of(Tokens.line("all", TOKEN, EnumSet.allOf(Scope.class), List.of(Tokens.ALL))));
        try {
            HttpService service = HttpService.open(
                    new Settings(InetAddress.getLoopbackAddress(), 0, certificate.tls(), tokens, Settings.Limits.USUAL),
                    List.of(Served.of(engine, null)));
            running.put(data, new Running(engine, service));
            URI address = URI.create("https://localhost:" + service.uri().getPort());
            return RemoteEngine.connect(address, engine.pipeline().name(), TOKEN);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void feed(Engine engine, String source, List<String> records) {
        engine.append(source, records);
    }

    // Each order of records needs an engine of its own; the test of the owner itself tries them all.

    @Override
    public void hazard_13_the_highest_version_wins_in_any_order_and_its_predecessors_leave_their_groups() {}

    @Override
    public void hazard_12_a_conflict_is_settled_alike_in_any_order_and_each_loser_is_kept_once() {}

    @Override
    public void hazard_14_a_delete_wins_a_conflict_in_any_order() {}

    @Override
    public void hazard_11_a_delete_retracts_and_nothing_late_resurrects_its_key() {}

    @Override
    public void hazard_55_a_filtered_version_contributes_nothing_and_still_replaces_its_predecessor() {}

    @AfterEach
    void close() {
        running.values().forEach(Running::close);
    }
}
