package dev.onefold.aws.upkeep;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Incarnation;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Filling;
import dev.onefold.aws.state.TableFilling;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Processing;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// What to do when tables were restored from backups, or replaced by empty ones: a new [Incarnation] begins. Then
/// [AwsEngine#rebuild()] makes the totals of the rows that there are, while events come in again. The totals of a
/// function's tables are made of their rows before events come in again: until then the definition names no tables, so
/// every other process refuses those that there are.
///
/// The order is what makes it safe to be stopped anywhere, and to be done twice. First the headers take the new
/// incarnation: what is added to totals from before is refused, and nothing is answered any more. Then the definition,
/// and then the gates: what is written to rows from before is refused. Until the definition has the ids of the tables,
/// processes refuse them.
///
/// The numbers of views and the ids of letters go on far above all that the tables know: a process from the time that
/// was lost may be about to fill or delete a view that came there, and a person may have a list of the letters of then.
/// How far depends on the time alone. So numbers are not given again when tables are restored to one moment twice.
public final class Restored {
    /// Before the first deployment.
    private static final Instant BEGINNING = Instant.parse("2025-01-01T00:00:00Z");

    /// To fill a view takes six seconds, so views are numbered more slowly.
    private static final Duration PER_VIEW = Duration.ofSeconds(2);

    /// How far views are numbered above the known ones where the clock says that there cannot be so many.
    private static final int UNKNOWN_VIEWS_MAX = 10_000;

    private final Store store;
    private final Definitions definitions;

    /// A table, as it was found.
    ///
    /// @param isOther whether it is another one than the deployment knows
    public record Found(TableIds.Found table, boolean isOther) {}

    private Restored(Store store) {
        this.store = store;
        definitions = new Definitions(store);
    }

    /// What the tables are.
    ///
    /// @throws IllegalStateException if there is no definition in the table of rows
    public static List<Found> look(Store store) {
        List<String> known = new Restored(store).definition().incarnation().tables();
        List<TableIds.Found> found = TableIds.ask(store);
        return IntStream.range(0, found.size())
                .mapToObj(table -> new Found(
                        found.get(table), !List.of(found.get(table).id(), "").contains(known.get(table))))
                .toList();
    }

    /// Whether the totals are of the rows that there are, as far as the tables say.
    public static boolean isWhole(Store store) {
        Definition definition = new Restored(store).definition();
        try {
            new Claims(store).require(definition);
            return true;
        } catch (IllegalStateException refused) {
            return false;
        }
    }

    private Definition definition() {
        return definitions
                .findAnyhow()
                .orElseThrow(() -> new IllegalStateException("Table "
                        + store.tables().rows()
                        + " holds no definition. It is the one table that the others can be made of: restore it from"
                        + " a backup first."));
    }

    /// Begins a new incarnation, and makes the totals of the rows that there are.
    ///
    /// @return how these totals differ from those that were served
    /// @throws IllegalStateException if somebody else does it at the same time, or has changed the definition
    public static Verification takeOver(Store store) {
        Restored restored = new Restored(store);
        if (restored.definition().servedView().pipeline().fold() instanceof Processing) {
            return restored.fill(restored.begin(_ -> ""));
        }
        begin(store);
        return AwsEngine.deployed(store).rebuild();
    }

    /// Begins a new incarnation. From then on nothing from before can be written.
    public static void begin(Store store) {
        new Restored(store).begin(TableIds.Found::id);
    }

    private Definition begin(Function<TableIds.Found, String> id) {
        return begin(id, this::requireNoReset, definitions::put);
    }

    /// The rows that there are may be a part of those that there were.
    private void requireNoReset(Definition before) {
        if (Reset.isUnderWay(store, before)) {
            throw new IllegalStateException(
                    "a reset of this deployment is under way, or was stopped: run 'onefold aws reset' again, to its end");
        }
    }

    /// Begins a new incarnation that names no tables, so that every other process refuses them.
    ///
    /// @param found whose incarnation is closed, and no other
    /// @param put puts the closed definition in the place of the one before, if it is still there
    /// @throws Reset.Overtaken if another one has begun meanwhile
    static Definition close(Store store, Definition found, BiConsumer<Definition, String> put) {
        return new Restored(store)
                .begin(
                        _ -> "",
                        before -> {
                            if (!before.incarnation()
                                    .id()
                                    .equals(found.incarnation().id())) {
                                throw new Reset.Overtaken();
                            }
                        },
                        put);
    }

    /// Makes the totals of a function's tables.
    private Verification fill(Definition closed) {
        Definition both = new Claims(store).withView(closed, closed.servedView().pipeline(), 1, "");
        Definition.View fresh = both.view(both.last());
        long rows = TableFilling.fill(store, closed, fresh.number());
        List<String> tables =
                TableIds.ask(store).stream().map(TableIds.Found::id).toList();
        store.ids().note(tables, store.clock().instant()); // This process alone goes on before it says so to others.
        store.threads().each(closed.lanes(), lane -> Reduce.lane(store, lane));
        Verification verification = TotalsReads.differences(store, both, fresh, rows + " rows of tables");
        definitions.keepServed(closed);
        Definition next = new Definition(
                closed.epoch() + 1,
                new Incarnation(closed.incarnation().id(), tables),
                closed.lanes(),
                closed.gates(),
                fresh.number(),
                fresh.number(),
                List.of(fresh));
        if (!definitions.replace(next).equals(next)) {
            throw new Filling.Overtaken(fresh.number());
        }
        new Claims(store).join(next);
        return verification;
    }

    /// Somebody else may begin one at the same time; then both are behind, and begin again.
    ///
    /// @param id of a table, as the definition is to have it
    /// @param required fails if this definition is not to be replaced
    /// @param put the next definition in the place of the one of this incarnation
    private Definition begin(
            Function<TableIds.Found, String> id, Consumer<Definition> required, BiConsumer<Definition, String> put) {
        for (int attempt = 1; ; attempt++) {
            Definition before = definition();
            required.accept(before);
            List<String> tables = TableIds.ask(store).stream().map(id).toList();
            List<Optional<Header>> headers = store.threads().all(before.lanes(), lane -> Headers.find(store, lane));
            Incarnation incarnation = next(before, headers, tables);
            int numbered = numbered(new Claims(store).last(before));
            if (!definition().equals(before)) {
                store.backOff(attempt); // Headers of an incarnation that nobody goes on with would not be answered.
                continue;
            }
            move(headers, incarnation, before);
            clean(before, numbered);
            // A thousand letters a second, which is more than there were.
            new LetterTable(store).ids().skip(sinceBeginning().toMillis());
            Definition next = before.in(incarnation, numbered);
            put.accept(next, before.incarnation().id());
            Definition now = definition();
            if (now.equals(next)) {
                definitions.moveGates(now);
                store.threads().pause(Store.IN_FLIGHT_MAX);
                return now;
            }
            store.backOff(attempt);
        }
    }

    /// A number that no view has had, at any time.
    ///
    /// @param last the greatest that the tables know
    private int numbered(int last) {
        int possible = (int) sinceBeginning().dividedBy(PER_VIEW);
        return possible > last ? possible : last + UNKNOWN_VIEWS_MAX;
    }

    private Duration sinceBeginning() {
        Duration since = Duration.between(BEGINNING, store.clock().instant());
        return since.isNegative() ? Duration.ZERO : since;
    }

    /// Ids begin with the time. A clock that is behind those of before must not make a lesser one.
    private Incarnation next(Definition before, List<Optional<Header>> headers, List<String> tables) {
        String greatest = before.incarnation().id();
        for (Optional<Header> header : headers) {
            String id = header.map(Header::incarnation).orElse("");
            greatest = id.compareTo(greatest) > 0 ? id : greatest;
        }
        String id = store.newId();
        return new Incarnation(id.compareTo(greatest) > 0 ? id : greatest + "+" + id, tables);
    }

    /// The headers as if all lanes had had their last commit: of the transactions that wrote them, a backup may hold a
    /// part.
    private void move(List<Optional<Header>> headers, Incarnation next, Definition before) {
        long commits = 0;
        long epoch = 0;
        for (Optional<Header> header : headers) {
            commits = Math.max(commits, header.map(Header::commits).orElse(0L));
            epoch = Math.max(epoch, header.map(Header::epoch).orElse(0L));
        }
        for (int lane = 0; lane < before.lanes(); lane++) {
            Header header = new Header(lane, next.id(), commits + 1, epoch + 1, 0, List.of(), null, false, null);
            // If the condition fails, it is this very request, answered once before; or another one that is further.
            store.retriedIf(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().totals())
                            .item(header.item())
                            .conditionExpression("attribute_not_exists(i) OR i < :i")
                            .expressionAttributeValues(Map.of(":i", AttributeValue.fromS(header.incarnation())))));
        }
    }

    /// Notes which views the table of totals holds anything of, so that it is cleaned away: a table of another time may
    /// hold what was cleaned away once.
    private void clean(Definition before, int numbered) {
        Set<Integer> views = new TreeSet<>();
        before.views().forEach(view -> views.add(view.number()));
        Queries.scan(
                store,
                store.tables().totals(),
                page -> page.stream()
                        .map(item -> Items.text(item, TotalsKey.PARTITION))
                        .filter(partition -> !partition.equals(Header.PARTITION))
                        .forEach(partition -> views.add(TotalsKey.view(partition))));
        Cleaning.note(store, numbered, views);
    }
}
