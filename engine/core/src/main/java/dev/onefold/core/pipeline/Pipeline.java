package dev.onefold.core.pipeline;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// A pipeline, as its file defines it: the input, and the fold of its events. Equal pipelines give equal
/// answers on equal input.
///
/// @param origin the log that it reads by itself; it has no effect on stored data. `null`: none
/// @param publishing the target to which totals are copied for other readers; it has no effect on stored data.
///     `null`: none
/// @param zones hash of the rules of each time zone that it names, by the id of the zone: of the Java that
///     reads its
///     records. A zone without one has that of the running Java
public record Pipeline(
        String name,
        Input input,
        Fold fold,
        @Nullable Origin origin,
        @Nullable Publishing publishing,
        SortedMap<String, String> zones) {
    public Pipeline {
        fold = input.comparesTruths() ? fold : fold.inTexts();
        zones = Collections.unmodifiableSortedMap(Zones.of(input, fold, zones));
    }

    /// A pipeline whose records the running Java reads.
    public Pipeline(String name, Input input, Fold fold, @Nullable Origin origin, @Nullable Publishing publishing) {
        this(name, input, fold, origin, publishing, Collections.emptySortedMap());
    }

    /// A pipeline that reads no log by itself.
    public Pipeline(String name, Input input, Fold fold, @Nullable Publishing publishing) {
        this(name, input, fold, null, publishing);
    }

    /// A pipeline whose totals are not published.
    public Pipeline(String name, Input input, Fold fold) {
        this(name, input, fold, null);
    }

    /// The same with another fold.
    public Pipeline with(Fold other) {
        return new Pipeline(name, input, other, origin, publishing, zones);
    }

    /// The same, published nowhere.
    public Pipeline unpublished() {
        return publishing == null ? this : new Pipeline(name, input, fold, origin, null, zones);
    }

    /// The same, read by a Java whose rules of time zones have these hashes.
    public Pipeline withZones(SortedMap<String, String> hashes) {
        return new Pipeline(name, input, fold, origin, publishing, hashes);
    }

    /// The same, read by the running Java.
    public Pipeline inThisJava() {
        return withZones(Collections.emptySortedMap());
    }

    /// Why the running Java reads records of this definition otherwise than the Java that has read them until
    /// now; empty if it does not.
    public Optional<String> otherRules() {
        return otherRules(inThisJava());
    }

    /// The same for a definition that takes the place of this one.
    public Optional<String> otherRules(Pipeline next) {
        return zones.entrySet().stream()
                .filter(zone -> !zone.getValue().equals(next.zones.getOrDefault(zone.getKey(), zone.getValue())))
                .findFirst()
                .map(zone -> "this Java has other rules for zone " + zone.getKey()
                        + " than the Java that read the records until now");
    }

    /// The same for data that was folded with another definition: in the edition of that one, if this file
    /// names none.
    public Pipeline ofDataOf(Pipeline stored) {
        return inEdition(Edition.matters(stored.input) ? stored.input.edition() : Edition.NEWEST);
    }

    /// The same, in this edition if its file names none.
    public Pipeline inEdition(int edition) {
        return input.edition() == Edition.UNSTATED
                ? new Pipeline(
                        name,
                        new Input(
                                input.format(),
                                input.identity(),
                                input.time(),
                                input.delete(),
                                input.filter(),
                                edition,
                                input.spellings(),
                                input.lets()),
                        fold,
                        origin,
                        publishing,
                        zones)
                : this;
    }

    /// The fields of a record that it reads, each once; key or id first. Derived fields are among them, as well
    /// as the fields that they are made of.
    public List<FieldPath> fields() {
        return steps().stream().flatMap(List::stream).distinct().toList();
    }

    /// The fields that each step of reading a record needs: identity, delete, time and filter, all the rest.
    public List<List<FieldPath>> steps() {
        List<List<FieldPath>> steps =
                List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
        List<FieldPath> first = steps.getFirst();
        switch (input.identity()) {
            case Identity.Versioned versioned -> {
                first.addAll(versioned.key());
                if (versioned.version() != null) {
                    first.add(versioned.version());
                }
                versioned.composite().forEach(part -> first.add(part.field()));
            }
            case Identity.ById byId -> first.addAll(byId.id());
            case Identity.ByMessage _, Identity.ByPlace _ -> {}
        }
        add(input.delete(), steps.get(1)::add);
        if (input.time() != null) {
            steps.get(2).add(input.time().field());
        }
        add(input.filter(), steps.get(2)::add);
        List<FieldPath> last = steps.getLast();
        switch (fold) {
            case Rollups rollups -> add(rollups, last::add);
            case Processing processing -> {
                if (processing.code() != null) {
                    processing.code().event().components().forEach(component -> last.add(component.path()));
                }
            }
            case Batching batching -> {
                last.addAll(batching.compared());
                batching.key().forEach(part -> last.add(part.field()));
            }
        }
        for (Let let : input.lets().reversed()) { // Each is made of those before it.
            steps.stream()
                    .filter(step -> step.contains(let.field()))
                    .forEach(step -> let.term().fields(step::add));
        }
        return steps;
    }

    /// The time after its arrival for which a record is recognized by its own identity, from whichever source
    /// it comes again; empty if for ever. Zero if a copy that comes from another place may count at once.
    ///
    /// With a [horizon][Identity.ById#horizon] ids are forgotten, too, but a record whose id may be forgotten
    /// is refused as too old.
    public Optional<Duration> recordsKnownFor() {
        if (input.identity() instanceof Identity.ByPlace) {
            return Optional.of(Duration.ZERO);
        }
        return switch (fold) {
            case Rollups _, Processing _ -> Optional.empty();
            case Batching batching ->
                switch (batching.forget()) {
                    case Batching.Forget.Never _ -> Optional.empty();
                    case Batching.Forget.AfterDelivery _ -> Optional.of(Duration.ZERO);
                    case Batching.Forget.After(var time) -> Optional.of(time);
                };
        };
    }

    private static void add(Rollups rollups, Consumer<FieldPath> to) {
        rollups.all()
                .forEach(rollup -> rollup.levels()
                        .forEach(level -> to.accept(level.source().field())));
        rollups.inputs().forEach(each -> {
            add(each.where(), to);
            each.fields().forEach(to);
        });
    }

    static void add(@Nullable Condition condition, Consumer<FieldPath> to) {
        switch (condition) {
            case null -> {}
            case Condition.And and -> and.all().forEach(part -> add(part, to));
            case Condition.Or or -> or.any().forEach(part -> add(part, to));
            case Condition.Not not -> add(not.condition(), to);
            case Condition.Missing missing -> to.accept(missing.field());
            case Condition.TextIn in -> to.accept(in.field());
            case Condition.Truth truth -> to.accept(truth.field());
            case Condition.Number number -> to.accept(number.field());
        }
    }
}
