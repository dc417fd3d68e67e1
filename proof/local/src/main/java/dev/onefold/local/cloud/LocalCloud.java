package dev.onefold.local.cloud;

import com.sun.net.httpserver.HttpExchange;
import dev.onefold.local.gate.Gate;
import dev.onefold.local.gate.Role;
import dev.onefold.local.gate.Service;
import dev.onefold.local.gate.Usage;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.server.Loopback;
import dev.onefold.local.stack.Clients;
import dev.onefold.local.stack.Connections;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.Servers;
import dev.onefold.local.stack.StackFaults;
import dev.onefold.local.template.Account;
import java.io.IOException;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/// An account on this machine, empty at first: servers that stand in for those of AWS behind one endpoint, and
/// CloudFormation to make a stack on them, whose functions run from the archive that was put into a bucket.
///
///     operator --> gate --> DynamoDB Local, Kinesis server, queues, objects <-- CloudFormation
///                   |  `--> CloudFormation, CloudWatch
///     functions ----'
///
/// Any thread may call.
public final class LocalCloud implements AutoCloseable {
    private final List<AutoCloseable> parts = new ArrayList<>();
    private final Gate gate;

    private LocalCloud(Machine machine, StackFaults faults) throws IOException {
        try {
            Servers servers = kept(Servers.open(machine.node()));
            Connections connections = kept(new Connections());
            Clients direct = kept(new Clients(connections, Role.OPERATOR, servers::place, Account.LOCAL.region()));
            Meters meters = new Meters(InstantSource.system());
            Monitoring monitoring = new Monitoring(meters);
            Loopback metrics = kept(Loopback.open(monitoring::handle));
            Entrance entrance = new Entrance();
            Loopback stacks = kept(Loopback.open(entrance::handle));
            Map<Service, URI> places = new EnumMap<>(servers.places());
            places.put(Service.CLOUDWATCH, metrics.uri());
            places.put(Service.CLOUDFORMATION, stacks.uri());
            gate = kept(Gate.open(
                    Account.LOCAL,
                    new Gate.Behind(places, Optional.of(meters)),
                    List.of(Role.OPERATOR),
                    faults.faults(),
                    faults.seed()));
            entrance.formation.complete(
                    kept(new Formation(new Ground(machine, faults, gate, connections, direct, meters))));
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /// CloudFormation needs the gate, which needs CloudFormation's place.
    private static final class Entrance {
        private final CompletableFuture<Formation> formation = new CompletableFuture<>();

        private void handle(HttpExchange exchange) throws IOException {
            formation.join().handle(exchange);
        }
    }

    /// Opens an account without anything in it.
    ///
    /// @param machine whose class path is not used: functions run from the archive that a template names
    /// @throws IllegalStateException saying what is missing on this machine, and what to do
    public static LocalCloud open(Machine machine, StackFaults faults) throws IOException {
        return new LocalCloud(machine, faults);
    }

    private <T extends AutoCloseable> T kept(T part) {
        parts.add(part);
        return part;
    }

    /// Where all services are; the access key is `OPERATOR`.
    public URI endpoint() {
        return gate.uri();
    }

    /// Who asked for what so far.
    public Usage usage() {
        return gate.usage();
    }

    @Override
    public void close() {
        RuntimeException failure = null;
        for (AutoCloseable part : parts.reversed()) {
            try {
                part.close();
            } catch (Exception e) { // All of them must be closed.
                failure = failure == null ? new IllegalStateException("A part does not end: " + part, e) : failure;
            }
        }
        parts.clear();
        if (failure != null) {
            throw failure;
        }
    }
}
