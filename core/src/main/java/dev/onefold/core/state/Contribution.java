package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import java.util.Iterator;
import java.util.List;

/// What the pipeline reads of an event: its kind, its group in each roll-up and its amount for each input; the
/// lists are empty unless it is counted. Ordered as conflicts are decided: a delete above all, then by groups, then
/// by amounts.
public record Contribution(Event.Kind kind, List<Tuple> groups, List<Amount> amounts)
        implements Comparable<Contribution> {
    public Contribution {
        groups = List.copyOf(groups);
        amounts = List.copyOf(amounts);
    }

    @Override
    public int compareTo(Contribution other) {
        int order = kind.compareTo(other.kind);
        if (order == 0) {
            order = compare(groups, other.groups);
        }
        return order != 0 ? order : compare(amounts, other.amounts);
    }

    private static <T extends Comparable<? super T>> int compare(List<T> mine, List<T> others) {
        Iterator<T> other = others.iterator();
        for (T one : mine) {
            if (!other.hasNext()) {
                return 1;
            }
            int order = one.compareTo(other.next());
            if (order != 0) {
                return order;
            }
        }
        return other.hasNext() ? -1 : 0;
    }
}
