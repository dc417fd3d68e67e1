package dev.onefold.local.stack;

import dev.onefold.local.function.FunctionFaults;
import dev.onefold.local.function.FunctionSettings;
import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.gate.Role;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.template.Account;
import dev.onefold.local.template.StackTemplate;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// What runs of a stack: its functions in sandboxes, and the mappings and schedules that invoke them. Any thread.
public final class Workings implements AutoCloseable {
    private final List<AutoCloseable> parts = new ArrayList<>();
    private final Map<String, FunctionSettings> settings = new TreeMap<>();
    private final Map<String, Sandboxes> functions = new TreeMap<>();
    private final Map<String, Role> roles;
    private final RealTime time = new RealTime();
    private final Mappings mappings;

    /// Where functions run.
    ///
    /// @param services the endpoint of all services, which enforces the roles
    /// @param meters count the invocations
    public record Place(Machine machine, URI services, Connections connections, Optional<Meters> meters) {}

    /// The functions, without anything that invokes them. They start with their first invocations.
    public Workings(StackTemplate template, Place place, StackFaults faults) {
        Stack stack = new Stack(template, Account.LOCAL.region());
        roles = stack.roles();
        settings.putAll(stack.functions(place.services(), place.machine().sandboxesMax()));
        settings.forEach((name, its) -> functions.put(
                name,
                new Sandboxes(
                        its,
                        place.machine().functions(),
                        faults(name, faults),
                        faults.seed() + name.hashCode(),
                        place.meters())));
        functions.values().forEach(parts::add);
        parts.add(time);
        mappings = new Mappings(
                stack, template, new Mappings.Pace(time, place.machine().minute()), faults, roles);
        parts.add(mappings);
    }

    private static FunctionFaults faults(String function, StackFaults faults) {
        return function.equals("State") || function.equals("Collect") ? faults.state() : faults.reduce();
    }

    /// Opens what invokes the functions, each mapping with the role of its function.
    public void invoke(Place place) {
        mappings.open(
                functions, role -> new Clients(place.connections(), role, place.services(), Account.LOCAL.region()));
    }

    Map<String, Sandboxes> functions() {
        return functions;
    }

    Map<String, FunctionSettings> settings() {
        return settings;
    }

    /// The functions' roles.
    public Map<String, Role> roles() {
        return roles;
    }

    Mappings mappings() {
        return mappings;
    }

    RealTime time() {
        return time;
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
