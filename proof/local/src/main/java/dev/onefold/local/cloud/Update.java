package dev.onefold.local.cloud;

import dev.onefold.local.function.Sandboxes;
import dev.onefold.local.template.StackTemplate;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/// One update of a stack, resource by resource in the order in which they are made: what is new is made, what has
/// changed is changed or replaced, and at last what is left over is removed. If one fails, those that were changed are
/// as before, in the same order; then what was made is removed. One thread at a time.
final class Update {
    private final StackLife life;
    private final Works works;
    private final StackTemplate before;
    private final StackTemplate after;
    private final List<Change> done = new ArrayList<>();
    private final Map<String, Sandboxes> latest = new HashMap<>();
    private final Map<String, Consumer<Boolean>> mappings = new HashMap<>();

    private enum Kind {
        MADE,
        CHANGED,
        REPLACED
    }

    private record Change(String resource, Kind kind, Set<String> properties) {}

    Update(StackLife life, Works works, StackTemplate before, StackTemplate after) {
        this.life = life;
        this.works = works;
        this.before = before;
        this.after = after;
    }

    /// Whether a template makes anything of a stack that it is not yet.
    static boolean isAny(StackTemplate before, StackTemplate after) {
        return !Set.copyOf(before.resources()).equals(Set.copyOf(after.resources()))
                || after.resources().stream()
                        .anyMatch(resource -> !changed(before, after, resource).isEmpty());
    }

    private static Set<String> changed(StackTemplate before, StackTemplate after, String resource) {
        Map<String, Object> one = before.properties(resource);
        Map<String, Object> other;
        try {
            other = after.properties(resource);
        } catch (IllegalArgumentException notYetKnown) {
            return Set.of("of a resource that is new");
        }
        Set<String> names = new TreeSet<>(one.keySet());
        names.addAll(other.keySet());
        names.removeIf(name -> Objects.equals(one.get(name), other.get(name)));
        return names;
    }

    /// Does it.
    ///
    /// @return what has failed; then nothing is taken back yet
    Optional<Works.Failure> run() {
        works.become(after);
        for (String resource : works.order(after)) {
            Optional<Works.Failure> failure = before.resources().contains(resource)
                    ? change(resource)
                    : works.step(resource, "CREATE", () -> {
                        done.add(new Change(resource, Kind.MADE, Set.of()));
                        works.make(resource);
                    });
            if (failure.isPresent()) {
                return failure;
            }
        }
        return Optional.empty();
    }

    private Optional<Works.Failure> change(String resource) {
        Set<String> changed = changed(before, after, resource);
        return changed.isEmpty()
                ? Optional.empty()
                : works.step(resource, "UPDATE", () -> {
                    String type = after.type(resource);
                    boolean isReplaced = Rules.isReplaced(type, changed, after.properties(resource));
                    done.add(new Change(resource, isReplaced ? Kind.REPLACED : Kind.CHANGED, changed));
                    if (isReplaced) {
                        replace(resource, type, changed);
                    } else {
                        keep(resource, type);
                        works.change(resource, changed);
                        if (type.equals(Rules.CUSTOM)) {
                            works.ask(resource, Optional.of(before));
                        }
                    }
                });
    }

    private void keep(String resource, String type) {
        if (type.equals(Rules.FUNCTION)) {
            latest.put(resource, works.workings().latest(resource));
        }
    }

    private void replace(String resource, String type, Set<String> changed) throws IOException {
        if (!type.equals(Rules.MAPPING)) {
            works.make(resource);
            return;
        }
        if (!changed.contains("EventSourceArn")) {
            throw new IllegalArgumentException("An event source mapping with event source arn and function name exists"
                    + " already. Please update or delete the existing mapping");
        }
        mappings.put(resource, works.workings().replaceMapping(after, resource));
    }

    /// Ends it well: what was replaced or left out goes.
    void clean() {
        mappings.values().forEach(settle -> settle.accept(true));
        works.become(before);
        for (Change change : done.reversed()) {
            if (change.kind() == Kind.REPLACED
                    && before.replacePolicy(change.resource()).equals("Delete")
                    && !before.type(change.resource()).equals(Rules.VERSION)) {
                works.removed(change.resource());
            }
        }
        for (String resource : works.order(before).reversed()) {
            if (!after.resources().contains(resource)) {
                if (!works.isRetained(resource, false)) {
                    works.removed(resource);
                }
                life.forget(resource);
            }
        }
        works.become(after);
    }

    /// Takes back what was done.
    ///
    /// @return what has failed at that
    Optional<Works.Failure> undo() {
        works.become(before);
        for (Change change : done) {
            if (change.kind() == Kind.MADE) {
                continue;
            }
            Optional<Works.Failure> failure = works.step(change.resource(), "UPDATE", () -> undo(change));
            if (failure.isPresent()) {
                return failure;
            }
        }
        return Optional.empty();
    }

    private void undo(Change change) throws IOException {
        String resource = change.resource();
        if (mappings.containsKey(resource)) {
            Objects.requireNonNull(mappings.get(resource)).accept(false);
        } else if (latest.containsKey(resource)) {
            works.workings().restore(resource, Objects.requireNonNull(latest.get(resource)));
        } else if (change.kind() == Kind.CHANGED) {
            works.change(resource, change.properties());
            if (before.type(resource).equals(Rules.CUSTOM)) {
                works.ask(resource, Optional.of(after));
            }
        }
    }

    /// Removes what was made, behind [#undo].
    void cleanUndone() {
        works.become(after);
        for (Change change : done.reversed()) {
            boolean isGone = change.kind() == Kind.MADE && !works.isRetained(change.resource(), true);
            boolean isStored = change.kind() == Kind.REPLACED
                    && !after.value(change.resource()).equals(before.value(change.resource()));
            if (isGone || isStored) {
                works.removed(change.resource());
            }
            if (change.kind() == Kind.MADE) {
                life.forget(change.resource());
            }
        }
        works.become(before);
    }
}
