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
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/// What runs of a stack: its functions in sandboxes, and the mappings and schedules that invoke them. Any thread.
public final class Workings implements AutoCloseable {
    private final List<AutoCloseable> parts = new ArrayList<>();
    private final Map<String, FunctionSettings> settings = new TreeMap<>();
    /// What is invoked: where the alias of each function leads.
    private final Map<String, Sandboxes> functions = new ConcurrentHashMap<>();

    /// `$LATEST` of each function.
    private final Map<String, Sandboxes> latest = new ConcurrentHashMap<>();

    private final Map<String, Role> roles;
    private final RealTime time = new RealTime();
    private final Mappings mappings;
    private final StackFaults faults;

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
        this.faults = faults;
        settings.keySet().forEach(name -> load(template, name, place));
        functions.putAll(latest);
        parts.add(time);
        mappings = new Mappings(
                stack, template, new Mappings.Pace(time, place.machine().minute()), faults, roles);
        parts.add(mappings);
    }

    /// Gives `$LATEST` of a function the code and the configuration that a template says. What is invoked stays.
    public void load(StackTemplate template, String function, Place place) {
        FunctionSettings its = Objects.requireNonNull(new Stack(template, Account.LOCAL.region())
                .functions(place.services(), place.machine().sandboxesMax())
                .get(function));
        Sandboxes loaded = new Sandboxes(
                its,
                place.machine().functions(),
                faults(function, faults),
                faults.seed() + function.hashCode(),
                place.meters());
        parts.add(loaded);
        latest.put(function, loaded);
    }

    /// `$LATEST` of a function.
    public Sandboxes latest(String function) {
        return Objects.requireNonNull(latest.get(function), () -> "There is no function " + function);
    }

    /// Makes an older one `$LATEST` again.
    public void restore(String function, Sandboxes older) {
        latest.put(function, older);
    }

    /// Lets an alias lead to a version of its function.
    public void point(String function, Sandboxes version) {
        functions.put(function, version);
    }

    /// Opens a mapping of another template, in place of the one of that name, which goes on until this is settled.
    ///
    /// @return ends the one before if told `true`, and this one if told `false`
    public Consumer<Boolean> replaceMapping(StackTemplate template, String mapping) {
        return mappings.replace(template, mapping, this::invoke);
    }

    private CompletableFuture<byte[]> invoke(String function, byte[] event) {
        return Objects.requireNonNull(functions.get(function), () -> "There is no function " + function)
                .invoke(event);
    }

    private static FunctionFaults faults(String function, StackFaults faults) {
        return function.equals("State") || function.equals("Collect") ? faults.state() : faults.reduce();
    }

    /// Opens what invokes the functions, each mapping with the role of its function.
    public void invoke(Place place) {
        mappings.open(
                this::invoke, role -> new Clients(place.connections(), role, place.services(), Account.LOCAL.region()));
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

    /// Reads the input that the template names now, from its beginning, in place of the one before.
    void replaceInput() {
        mappings.replaceInput(this::invoke);
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
