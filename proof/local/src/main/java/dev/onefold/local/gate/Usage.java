package dev.onefold.local.gate;

import java.util.Collection;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.LongAdder;

/// Who asked for what, how often, and by which permission. Any thread.
public final class Usage {
    private final Map<String, LongAdder> requests = new ConcurrentHashMap<>();
    private final Map<String, LongAdder> faults = new ConcurrentHashMap<>();
    private final Set<Permission> used = new ConcurrentSkipListSet<>();
    private final ConcurrentLinkedQueue<String> refused = new ConcurrentLinkedQueue<>();

    /// An action that a statement of a role allows.
    public record Permission(String role, String statement, String action) implements Comparable<Permission> {
        @Override
        public int compareTo(Permission other) {
            return toString().compareTo(other.toString());
        }

        @Override
        public String toString() {
            return role + " " + statement + " " + action;
        }
    }

    /// Notes a request. Empty if the role allows all that it needs, else what was not allowed.
    Optional<Role.Need> note(Role role, ServiceRequest asked) {
        requests.computeIfAbsent(role.name() + " " + asked.operation(), _ -> new LongAdder())
                .increment();
        if (role.allowsAll()) {
            return Optional.empty();
        }
        for (Role.Need need : asked.needs()) {
            Optional<Role.Statement> statement = role.allowing(need);
            if (statement.isEmpty()) {
                refused.add(role.name() + " may not " + need.action() + " on " + need.resource());
                return Optional.of(need);
            }
            used.add(new Permission(role.name(), statement.get().id(), need.action()));
        }
        return Optional.empty();
    }

    void noteFault(Faults.Fault fault) {
        faults.computeIfAbsent(fault.name(), _ -> new LongAdder()).increment();
    }

    /// Requests by role and operation.
    public NavigableMap<String, Long> requests() {
        return sums(requests);
    }

    /// Faults by kind.
    public NavigableMap<String, Long> faults() {
        return sums(faults);
    }

    private static NavigableMap<String, Long> sums(Map<String, LongAdder> adders) {
        NavigableMap<String, Long> sums = new TreeMap<>();
        adders.forEach((name, adder) -> sums.put(name, adder.sum()));
        return sums;
    }

    /// What was asked for and not allowed.
    public Collection<String> refused() {
        return new TreeSet<>(refused);
    }

    /// What roles allow and nobody has used.
    public Set<Permission> unused(Collection<Role> roles) {
        Set<Permission> unused = new TreeSet<>();
        for (Role role : roles) {
            if (role.statements() != null) {
                for (Role.Statement statement : role.statements()) {
                    statement
                            .actions()
                            .forEach(action -> unused.add(new Permission(role.name(), statement.id(), action)));
                }
            }
        }
        unused.removeAll(used);
        return unused;
    }
}
