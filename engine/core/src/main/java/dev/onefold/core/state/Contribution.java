package dev.onefold.core.state;

import dev.onefold.core.event.Event;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Rollups;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/// The part of an event that a pipeline reads: its kind, its group in each roll-up and its amount for each input;
/// the lists are empty unless it is counted. Ordered as conflicts are decided: a delete above all, then by
/// groups, then by amounts.
public record Contribution(Event.Kind kind, List<Tuple> groups, List<Amount> amounts)
        implements Comparable<Contribution> {
    public Contribution {
        groups = List.copyOf(groups);
        amounts = List.copyOf(amounts);
    }

    /// The contribution of an event.
    public static Contribution of(Pipeline pipeline, Event event) {
        if (event.kind != Event.Kind.COUNTED) {
            return new Contribution(event.kind, List.of(), List.of());
        }
        List<Tuple> groups = new ArrayList<>();
        for (int rollup = 0; rollup < event.groupFrom.length; rollup++) {
            groups.add(new Tuple(Arrays.copyOfRange(event.data, event.groupFrom[rollup], event.groupTo[rollup])));
        }
        List<Amount> amounts = new ArrayList<>();
        List<Measure.Input> inputs = Rollups.of(pipeline).inputs();
        for (int input = 0; input < inputs.size(); input++) {
            amounts.add(Amount.of(inputs.get(input), event, input));
        }
        return new Contribution(event.kind, groups, amounts);
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
