package dev.onefold.fakes.aws.expression;

import static dev.onefold.fakes.aws.item.Refusal.invalid;

import dev.onefold.fakes.aws.expression.DocumentPath.Field;
import dev.onefold.fakes.aws.expression.DocumentPath.Index;
import dev.onefold.fakes.aws.expression.DocumentPath.Step;
import dev.onefold.fakes.aws.item.Numbers;
import dev.onefold.fakes.aws.item.Values;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// An update expression. Every action sees the item as it was before all of them.
public final class Update {
    private final List<Action> actions;

    Update(List<Action> actions) {
        List<Action> ordered = new ArrayList<>(actions);
        // An index means the list as it was: so what is appended goes first, and removal goes from the end.
        ordered.sort(Comparator.comparing((Action action) -> action.operand() == null)
                .thenComparing((a, b) -> (a.operand() == null ? -1 : 1) * Integer.compare(a.index(), b.index())));
        this.actions = ordered;
    }

    /// The verbs of an update.
    enum Verb {
        SET,
        REMOVE,
        ADD,
        DELETE
    }

    /// One change of one path.
    ///
    /// @param operand what with; only to remove needs nothing
    record Action(Verb verb, DocumentPath path, @Nullable Operand operand) {
        private int index() {
            return path.steps().getLast() instanceof Index(int index) ? index : 0;
        }

        /// The value that shall stand there, or null for none.
        private @Nullable AttributeValue after(Map<String, AttributeValue> before) {
            if (operand == null) {
                return null;
            }
            AttributeValue present = path.in(before);
            AttributeValue value = operand.requiredIn(before);
            return switch (verb) {
                case SET, REMOVE -> value;
                case ADD -> present == null ? value : sum(present, value);
                case DELETE -> present == null ? null : difference(present, value);
            };
        }

        private static AttributeValue sum(AttributeValue present, AttributeValue value) {
            if (present.type() != value.type()) {
                throw Operand.mistyped();
            }
            if (value.n() != null) {
                return Numbers.value(new BigDecimal(present.n()).add(new BigDecimal(value.n())));
            }
            List<AttributeValue> union = new ArrayList<>(Operand.setElements(present));
            for (AttributeValue element : Operand.setElements(value)) {
                if (!union.contains(element)) {
                    union.add(element);
                }
            }
            return Values.setOf(present, union);
        }

        private static @Nullable AttributeValue difference(AttributeValue present, AttributeValue value) {
            if (present.type() != value.type()) {
                throw Operand.mistyped();
            }
            List<AttributeValue> left = new ArrayList<>(Operand.setElements(present));
            left.removeAll(Operand.setElements(value));
            return left.isEmpty() ? null : Values.setOf(present, left);
        }
    }

    /// The attributes that it changes.
    public Set<String> attributes() {
        Set<String> attributes = new TreeSet<>();
        actions.forEach(action -> attributes.add(action.path.attribute()));
        return attributes;
    }

    /// Whether it gives anything a value.
    public boolean isCreating() {
        return actions.stream().anyMatch(action -> action.verb == Verb.SET || action.verb == Verb.ADD);
    }

    /// The part of an item that it speaks of.
    public Map<String, AttributeValue> updatedPartOf(Map<String, AttributeValue> item) {
        return new Projection(actions.stream().map(Action::path).toList()).of(item);
    }

    /// The item as it is afterwards.
    public Map<String, AttributeValue> apply(Map<String, AttributeValue> before) {
        Map<String, AttributeValue> after = new TreeMap<>(before);
        for (Action action : actions) {
            DocumentPath path = action.path;
            AttributeValue value = action.after(before);
            if (!path.isNested()) {
                put(after, path.attribute(), value);
                continue;
            }
            AttributeValue root = after.get(path.attribute());
            if (root == null) {
                throw invalidPath();
            }
            after.put(
                    path.attribute(),
                    replaced(root, path.steps().subList(1, path.steps().size()), value));
        }
        return Collections.unmodifiableMap(after);
    }

    private static void put(Map<String, AttributeValue> map, String name, @Nullable AttributeValue value) {
        if (value == null) {
            map.remove(name);
        } else {
            map.put(name, value);
        }
    }

    private static AttributeValue replaced(AttributeValue container, List<Step> steps, @Nullable AttributeValue value) {
        @Nullable AttributeValue inner = value;
        if (steps.size() > 1) {
            AttributeValue next = DocumentPath.into(container, steps.getFirst());
            if (next == null) {
                throw invalidPath();
            }
            inner = replaced(next, steps.subList(1, steps.size()), value);
        }
        return switch (steps.getFirst()) {
            case Field(String name) -> {
                if (!container.hasM()) {
                    throw invalidPath();
                }
                Map<String, AttributeValue> map = new TreeMap<>(container.m());
                put(map, name, inner);
                yield AttributeValue.fromM(map);
            }
            case Index(int index) -> {
                if (!container.hasL()) {
                    throw invalidPath();
                }
                yield AttributeValue.fromL(replaced(container.l(), index, inner));
            }
        };
    }

    private static List<AttributeValue> replaced(
            List<AttributeValue> before, int index, @Nullable AttributeValue value) {
        List<AttributeValue> list = new ArrayList<>(before);
        if (index < list.size()) {
            if (value == null) {
                list.remove(index);
            } else {
                list.set(index, value);
            }
        } else if (value != null) {
            list.add(value);
        }
        return list;
    }

    private static RuntimeException invalidPath() {
        return invalid("The document path provided in the update expression is invalid for update");
    }
}
