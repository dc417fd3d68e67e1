package dev.onefold.core.codec;

import dev.onefold.core.pipeline.Type;
import dev.onefold.core.pipeline.Type.Scalar;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;

/// How the record that is wanted differs from the one that was stored. If nothing is refused, every record that was
/// stored can be read.
///
/// @param all in the order of the wanted components, those that are gone last; empty if only the order differs
public record Changes(List<Change> all) {
    public Changes {
        all = List.copyOf(all);
    }

    /// The changes of a record that is read with defaults, such as a context.
    public static Changes of(Type.Fields from, Type.Fields to) {
        return between(from, to, true);
    }

    /// The changes of a record that is read without defaults, such as an event that is kept.
    public static Changes withoutDefaults(Type.Fields from, Type.Fields to) {
        return between(from, to, false);
    }

    private static Changes between(Type.Fields from, Type.Fields to, boolean defaults) {
        List<Change> all = new ArrayList<>();
        fields(from, to, defaults, "", all);
        return new Changes(all);
    }

    /// The changes because of which stored records cannot be read.
    public List<Change> refused() {
        return all.stream()
                .filter(change -> change instanceof Change.Refused || change instanceof Change.Undefined)
                .toList();
    }

    private static void fields(
            Type.Fields from, Type.Fields to, boolean defaults, String prefix, List<Change> changes) {
        for (Type.Component wanted : to.components()) {
            String path = prefix + wanted.name();
            from.named(wanted.name())
                    .map(Type.Component::type)
                    .ifPresentOrElse(
                            stored -> value(stored, wanted.type(), defaults, path, changes),
                            () -> changes.add(
                                    defaults || wanted.type() instanceof Type.Maybe
                                            ? new Change.Added(path, wanted.type())
                                            : new Change.Undefined(path, wanted.type())));
        }
        for (Type.Component stored : from.components()) {
            if (to.named(stored.name()).isEmpty()) {
                changes.add(new Change.Removed(prefix + stored.name(), stored.type()));
            }
        }
    }

    private static void value(Type from, Type to, boolean defaults, String path, List<Change> changes) {
        if (from.equals(to)) {
            return;
        }
        if (to instanceof Type.Maybe(Type wanted)) {
            // The default may be an empty Optional, and then the value of a new component in it is not known.
            if (from instanceof Type.Maybe(Type stored)) {
                value(stored, wanted, false, path, changes);
                return;
            }
            int before = changes.size();
            value(from, wanted, false, path, changes);
            if (changes.size() == before) {
                changes.add(new Change.Widened(path, from, to));
            }
        } else if (from instanceof Type.Fields stored && to instanceof Type.Fields wanted) {
            fields(stored, wanted, defaults, path + ".", changes);
        } else if (from instanceof Type.Items(Type stored) && to instanceof Type.Items(Type wanted)) {
            value(stored, wanted, false, path + "[]", changes);
        } else if (from instanceof Type.Enumeration stored && to instanceof Type.Enumeration wanted) {
            boolean kept = new HashSet<>(wanted.names()).containsAll(stored.names());
            if (!kept) {
                changes.add(new Change.Refused(path, from, to));
            } else if (stored.names().size() < wanted.names().size()) {
                changes.add(new Change.Widened(path, from, to));
            }
        } else {
            changes.add(isWidened(from, to) ? new Change.Widened(path, from, to) : new Change.Refused(path, from, to));
        }
    }

    private static boolean isWidened(Type from, Type to) {
        return from == Scalar.INT && (to == Scalar.LONG || to == Scalar.DECIMAL)
                || from == Scalar.LONG && to == Scalar.DECIMAL;
    }
}
