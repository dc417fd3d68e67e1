package dev.onefold.aws.state;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.event.Version;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.reduce.DeltaId;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.Row;
import java.util.Arrays;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/// The row that a record proposes for its key.
///
/// @param served number of the view that decides conflicts
/// @param views contributions of the record, by the number of the view
/// @param refused contributions to keep for the views that cannot take the record, by the number of the view
/// @param isAside whether it only marks that a row was put aside
record Candidate(
        byte[] key,
        byte[] version,
        int served,
        SortedMap<Integer, Contribution> views,
        SortedMap<Integer, Contribution> refused,
        Arrival arrival,
        boolean isAside) {
    Candidate(
            byte[] key,
            byte[] version,
            int served,
            SortedMap<Integer, Contribution> views,
            SortedMap<Integer, Contribution> refused,
            Arrival arrival) {
        this(key, version, served, views, refused, arrival, false);
    }

    Candidate {
        views = new TreeMap<>(views);
        refused = new TreeMap<>(refused);
    }

    /// The same of a redriven record. How long a person took is no delay of the results.
    Candidate redriven() {
        return new Candidate(key, version, served, views, refused, arrival.as(arrival.kind(), Arrival.NOT_KNOWN));
    }

    /// Nothing, in the place of a row.
    static Candidate nothing(RowItem row, int served, boolean isAside) {
        TreeMap<Integer, Contribution> none = new TreeMap<>();
        return new Candidate(row.key(), row.version(), served, none, none, arrival(row, new byte[0]), isAside);
    }

    Contribution contribution() {
        return Objects.requireNonNull(views.get(served));
    }

    /// The row that is compared with the stored one. That decides for all views: a record's contributions to the others
    /// are derived from the one to the served view, so they are equal where that one is.
    Row row(Pipeline pipeline) {
        return new Row(Key.parts(pipeline, key), Version.of(pipeline, version), contribution(), place(), 0);
    }

    /// Where the record of a row came from.
    ///
    /// @param read bytes that are left of the record
    static Arrival arrival(RowItem row, byte[] read) {
        String[] place = row.place().split(":", -1);
        return new Arrival(
                String.join(":", Arrays.copyOf(place, place.length - 2)),
                place[place.length - 2],
                Long.parseLong(place[place.length - 1]),
                read);
    }

    RowItem item(DeltaId delta) {
        return new RowItem(key, version, delta, place(), views, refused, isAside);
    }

    String place() {
        return arrival.place();
    }
}
