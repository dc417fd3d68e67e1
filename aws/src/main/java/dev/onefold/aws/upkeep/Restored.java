package dev.onefold.aws.upkeep;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.Header;
import dev.onefold.aws.item.Incarnation;
import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.KeyItem;
import dev.onefold.aws.item.TotalsKey;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Headers;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Functions;
import dev.onefold.aws.state.TableFill;
import dev.onefold.aws.store.Queries;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.TableIds;
import dev.onefold.core.Verification;
import dev.onefold.core.pipeline.Processing;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// Recovers a deployment whose tables were restored from backups, or replaced by empty ones: a new
/// [Incarnation] begins. Then [AwsEngine#rebuild()] recomputes the totals from the rows, while events come in
/// again. The totals of a function's tables are recomputed from their rows before events come in again.
///
/// The order of the writes makes a run safe to stop anywhere, and several runs safe at once. First the
/// definition takes the new incarnation, and names no tables: every process that begins is refused. Of several
/// runs that write it at once, one succeeds and alone goes on, so the headers never get an incarnation that the
/// definition has not had. Then the headers follow: additions to totals from before are refused, and no answer
/// from before is finished. Then the gates: writes to rows from before are refused. At the end the definition
/// names the tables again.
///
/// The numbers of views and the ids of letters go on far above all that the tables know: a process from the
/// time that was lost may be about to fill or delete a view that came there, and a person may have a list of
/// the letters of then. How far depends on the time alone. So numbers are not given again when tables are
/// restored to one moment twice.
public final class Restored {
    /// Before the first deployment.
    private static final Instant BEGINNING = Instant.parse("2025-01-01T00:00:00Z");

    /// To fill a view takes six seconds, so views are numbered more slowly.
    private static final Duration PER_VIEW = Duration.ofSeconds(2);

    /// How far views are numbered above the known ones where the clock says that there cannot be so many.
    private static final int UNKNOWN_VIEWS_MAX = 10_000;

    private final Store store;
    private final Definitions definitions;
    private int letters;

    /// The results of a takeover.
    ///
    /// @param totals how they differ from those that were served
    /// @param letters marks of dead letters that are not there; see [LetterTable#matchMarks]
    public record Report(Verification totals, int letters) {}

    /// A table, as it was found.
    ///
    /// @param isOther whether it is another one than the deployment knows
    public record Found(TableIds.Found table, boolean isOther) {}

    private Restored(Store store) {
        this.store = store;
        definitions = new Definitions(store);
    }

    /// The tables as found, each compared with those of the definition.
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
    /// @throws IllegalStateException if somebody else does it at the same time, or has changed the definition
    public static Report takeOver(Store store) {
        Restored restored = new Restored(store);
        Definition closed = restored.close();
        if (closed.servedView().pipeline().fold() instanceof Processing) {
            return new Report(restored.fill(closed), restored.letters);
        }
        open(store, closed, closed.servedView());
        return new Report(AwsEngine.deployed(store).rebuild(), restored.letters);
    }

    /// Begins a new incarnation. From then on nothing from before can be written.
    public static void begin(Store store) {
        Definition closed = new Restored(store).close();
        open(store, closed, closed.servedView());
    }

    private Definition close() {
        return close(this::requireNoReset, definitions::put);
    }

    /// The rows that there are may be a part of those that there were.
    private void requireNoReset(Definition before) {
        if (Reset.isUnderWay(store, before)) {
            throw new IllegalStateException(
                    "a reset of this deployment is under way, or was stopped: run 'onefold aws reset' again, to its end");
        }
    }

    /// Begins a new incarnation that names no tables.
    ///
    /// @param found whose incarnation is closed, and no other
    /// @param put puts the closed definition in the place of the one before, if it is still there
    /// @throws Reset.Overtaken if another one has begun meanwhile, or names its tables again
    static Definition close(Store store, Definition found, BiConsumer<Definition, String> put) {
        return new Restored(store)
                .close(
                        before -> {
                            if (!before.incarnation().equals(found.incarnation())) {
                                throw new Reset.Overtaken();
                            }
                        },
                        put);
    }

    /// Names the tables of a closed definition again.
    ///
    /// @param served the view that it has from then on
    /// @throws IllegalStateException if another incarnation has begun meanwhile
    static Definition open(Store store, Definition closed, Definition.View served) {
        Definition next = new Definition(
                closed.epoch() + 1,
                new Incarnation(closed.incarnation().id(), TableIds.of(store)),
                closed.lanes(),
                closed.gates(),
                served.number(),
                Math.max(closed.last(), served.number()),
                List.of(served));
        if (!new Definitions(store).replace(next).equals(next)) {
            throw new Reset.Overtaken();
        }
        return next;
    }

    /// Makes the totals of a function's tables.
    private Verification fill(Definition closed) {
        Definition both = new Claims(store).withView(closed, closed.servedView().pipeline(), 1, "");
        Definition.View fresh = both.view(both.last());
        long rows = TableFill.fill(store, closed, fresh.number());
        // This process alone goes on before it says so to others.
        store.ids().note(TableIds.of(store), store.clock().instant());
        store.threads().each(closed.lanes(), lane -> Reduce.lane(store, lane));
        Verification verification = TotalsReads.differences(store, both, fresh, rows + " rows of tables");
        definitions.keepServed(closed);
        Definition opened = open(store, closed, fresh);
        new Claims(store).join(opened);
        if (store.function().isPresent()) {
            Queries.scan(store, store.tables().rows(), page -> mend(opened, page));
        }
        return verification;
    }

    /// A backup may hold the head of a step and not all that the step has kept.
    private void mend(Definition opened, List<Map<String, AttributeValue>> page) {
        List<byte[]> keys = page.stream()
                .filter(KeyItem::isHead)
                .map(item -> KeyItem.of(item).key())
                .toList();
        if (!keys.isEmpty()) {
            Functions.upgrade(store, opened, keys);
        }
    }

    /// Somebody may change the definition at the same time; then it begins again.
    ///
    /// @param required fails if this definition is not to be replaced
    /// @param put the next definition in the place of the one of this incarnation
    private Definition close(Consumer<Definition> required, BiConsumer<Definition, String> put) {
        for (int attempt = 1; ; attempt++) {
            Definition before = definition();
            required.accept(before);
            List<Optional<Header>> headers = store.threads().all(before.lanes(), lane -> Headers.find(store, lane));
            Definition closed = before.in(next(before, headers), numbered(new Claims(store).last(before)));
            put.accept(closed, before.incarnation().id());
            if (definition().equals(closed)) {
                move(headers, closed);
                definitions.moveGates(closed);
                store.threads().pause(Store.IN_FLIGHT_MAX);
                clean(closed);
                LetterTable table = new LetterTable(store);
                letters = table.matchMarks();
                // A thousand letters a second, which is more than there were.
                table.ids().skip(sinceBeginning().toMillis());
                return closed;
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
    private Incarnation next(Definition before, List<Optional<Header>> headers) {
        String greatest = before.incarnation().id();
        for (Optional<Header> header : headers) {
            String id = header.map(Header::incarnation).orElse("");
            greatest = id.compareTo(greatest) > 0 ? id : greatest;
        }
        String id = store.newId();
        List<String> none = Collections.nCopies(before.incarnation().tables().size(), "");
        return new Incarnation(id.compareTo(greatest) > 0 ? id : greatest + "+" + id, none);
    }

    /// The headers as if all lanes had had their last commit: of the transactions that wrote them, a backup may
    /// hold a part.
    private void move(List<Optional<Header>> headers, Definition closed) {
        long commits = 0;
        long epoch = 0;
        for (Optional<Header> header : headers) {
            commits = Math.max(commits, header.map(Header::commits).orElse(0L));
            epoch = Math.max(epoch, header.map(Header::epoch).orElse(0L));
        }
        String incarnation = closed.incarnation().id();
        for (int lane = 0; lane < closed.lanes(); lane++) {
            Header header =
                    new Header(lane, incarnation, commits + 1, epoch + 1, 0, List.of(), null, false, null, null);
            // If the condition fails, it is this very request, answered once before; or another one that is further.
            store.retriedIf(() -> store.client()
                    .putItem(request -> request.tableName(store.tables().totals())
                            .item(header.item())
                            .conditionExpression("attribute_not_exists(i) OR i < :i")
                            .expressionAttributeValues(Map.of(":i", AttributeValue.fromS(header.incarnation())))));
        }
    }

    /// Notes which views the table of totals holds anything of, so that it is cleaned away: a table of another
    /// time may hold what was cleaned away once.
    private void clean(Definition closed) {
        Set<Integer> views = new TreeSet<>(Set.of(closed.served()));
        Queries.scan(
                store,
                store.tables().totals(),
                page -> page.stream()
                        .map(item -> Items.text(item, TotalsKey.PARTITION))
                        .filter(partition -> !partition.equals(Header.PARTITION))
                        .forEach(partition -> views.add(TotalsKey.view(partition))));
        TotalsCleaner.note(store, closed.last(), views);
    }
}
