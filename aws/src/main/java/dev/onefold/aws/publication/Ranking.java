package dev.onefold.aws.publication;

import dev.onefold.core.bytes.BytesIn;
import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.event.Tuple;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The first groups of a roll-up by a figure: those of the top list, and a reserve behind them. Every leaf
/// group that is not among them is behind the last of them. So changes of a few groups need no look at the
/// others, until so many have left that the list is longer than the rest: then all groups are read again.
///
/// @param entries the first ones, in their order
/// @param isAll whether there are no others
record Ranking(List<Entry> entries, boolean isAll) {
    /// Groups behind the list.
    private static final int RESERVE = 100;

    /// An item has 400 KB.
    private static final int BYTES_MAX = 300_000;

    private static final int FORMAT = 1;
    private static final Comparator<Entry> ORDER = Comparator.comparing(
                    Entry::value, Comparator.nullsLast(Comparator.<BigDecimal>reverseOrder()))
            .thenComparing(Entry::group);

    /// @param value `null` if it has none; then it is behind all others
    record Entry(Tuple group, @Nullable BigDecimal value) {
        private int bytes() {
            return group.bytes().length
                    + (value == null ? 0 : value.toPlainString().length())
                    + 8;
        }
    }

    Ranking {
        entries = List.copyOf(entries);
    }

    /// Of all leaf groups.
    ///
    /// @param count how many the top list has
    static Ranking of(Iterable<Entry> all, int count) {
        TreeSet<Entry> first = new TreeSet<>(ORDER);
        boolean isAll = true;
        for (Entry entry : all) {
            first.add(entry);
            if (first.size() > count + RESERVE) {
                first.pollLast();
                isAll = false;
            }
        }
        return bounded(first, isAll);
    }

    private static Ranking bounded(Collection<Entry> sorted, boolean isAll) {
        List<Entry> entries = new ArrayList<>();
        long bytes = 0;
        for (Entry entry : sorted) {
            bytes += entry.bytes();
            if (bytes > BYTES_MAX) {
                return new Ranking(entries, false);
            }
            entries.add(entry);
        }
        return new Ranking(entries, isAll);
    }

    /// The same after changes; empty if the list would have to have groups that nobody knows.
    ///
    /// @param changed leaf groups that may have changed
    /// @param now those of them that there are, as they are now
    /// @param count how many the top list has
    Optional<Ranking> with(Set<Tuple> changed, Collection<Entry> now, int count) {
        TreeSet<Entry> next = new TreeSet<>(ORDER);
        entries.stream().filter(entry -> !changed.contains(entry.group)).forEach(next::add);
        for (Entry entry : now) {
            if (isAll || !entries.isEmpty() && ORDER.compare(entry, entries.getLast()) <= 0) {
                next.add(entry);
            }
        }
        boolean hasAll = isAll;
        while (next.size() > count + RESERVE) {
            next.pollLast();
            hasAll = false;
        }
        Ranking ranking = bounded(next, hasAll);
        return ranking.isAll || ranking.entries.size() >= count ? Optional.of(ranking) : Optional.empty();
    }

    /// The top list.
    List<Entry> first(int count) {
        return entries.subList(0, Math.min(count, entries.size()));
    }

    byte[] bytes() {
        BytesOut out = new BytesOut().octet(FORMAT).octet(isAll ? 1 : 0).number(entries.size());
        entries.forEach(
                entry -> out.bytes(entry.group.bytes()).text(entry.value == null ? "" : entry.value.toPlainString()));
        return out.toBytes();
    }

    static Ranking of(byte[] bytes) {
        BytesIn in = new BytesIn(bytes);
        in.requireFormat(FORMAT);
        boolean isAll = in.octet() == 1;
        List<Entry> entries = new ArrayList<>();
        for (long count = in.number(); count > 0; count--) {
            Tuple group = new Tuple(in.bytes());
            String value = in.text();
            entries.add(new Entry(group, value.isEmpty() ? null : new BigDecimal(value)));
        }
        in.requireEnd();
        return new Ranking(entries, isAll);
    }
}
