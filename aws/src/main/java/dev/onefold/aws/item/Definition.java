package dev.onefold.aws.item;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.map.Delta;
import dev.onefold.core.pipeline.Pipeline;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// The views that rows are folded into, under an epoch that grows with each change. A writer of rows works under
/// an epoch: its transaction checks one of the gates, which hold the epoch, too. A change writes the definition,
/// then one gate after the other. When all gates are at the new epoch, code that knows only the old one can write
/// nothing any more, however late it wakes up. There are many gates, because transactions that check the same
/// item conflict.
///
///     item = k 00 "definition", e epoch, i incarnation and t ids of its tables, n lanes, w gates, s served
///     view, m last view, v views: their number, canonical text, one leaf in how many they have, b who began
///     them and s since when they are whole
///     gate = k 00 "gate/<number>", e epoch, i incarnation
///     view = k 00 "view/<number>", t canonical text: of a view that served and will not any more
///
/// They are in the table of rows, whose keys begin otherwise, so a writer of rows needs no other table.
///
/// @param epoch from 1
/// @param incarnation of the tables since they were made, or restored last
/// @param lanes number of queues of deltas
/// @param gates number of gates
/// @param served number of the view that answers are made of
/// @param last greatest number that a view has had
/// @param views oldest first; others than the served one are being filled
public record Definition(
        long epoch, Incarnation incarnation, int lanes, int gates, int served, int last, List<View> views) {
    public static final String EPOCH = "e";
    static final String LANES = "n";
    static final String GATES = "w";
    static final String SERVED = "s";
    static final String LAST = "m";
    static final String VIEWS = "v";
    private static final int VIEWS_MAX = 2;
    private static final int PIPELINES_MAX = 16;

    /// The pipelines of the texts that were read last, by their texts: a changed text is another key, so nobody
    /// reads an old pipeline. A process loads its definition for each batch and each query, and to parse it was
    /// more than half of the calls of a query. The map is bounded and thread-safe.
    private static final Map<String, Pipeline> PIPELINES =
            Collections.synchronizedMap(new LinkedHashMap<>(PIPELINES_MAX, 0.75f, true) {
                @Override
                protected boolean removeEldestEntry(Map.Entry<String, Pipeline> eldest) {
                    return size() > PIPELINES_MAX;
                }
            });

    public Definition {
        views = List.copyOf(views);
    }

    /// A pipeline's totals. Its number is never given twice.
    ///
    /// @param oneIn 1 if the view has all leaves; otherwise it is for an audit, and has about one leaf in `oneIn`
    /// @param owner maker of the view: others leave it alone unless it is abandoned
    /// @param since epoch of the totals in which it became whole: a cut from before does not have all of it
    public record View(int number, Pipeline pipeline, int oneIn, String owner, long since) {
        /// The same, whole since an epoch of the totals.
        View since(long wholeSince) {
            return new View(number, pipeline, oneIn, owner, wholeSince);
        }

        /// Whether a leaf is in it. Which leaves are audited depends on the view's number, so that other audits look at
        /// others.
        public boolean has(Delta.Cell leaf) {
            return oneIn == 1 || Long.remainderUnsigned(leaf.hash() + number, oneIn) == 0;
        }

        /// The part of a delta that is in this view.
        public Delta of(Delta delta) {
            return oneIn == 1 ? delta : delta.in(this::has);
        }
    }

    /// The first definition of a deployment.
    public static Definition first(Pipeline pipeline, int lanes, int gates, Incarnation incarnation) {
        return new Definition(1, incarnation, lanes, gates, 1, 1, List.of(new View(1, pipeline, 1, "", 0)));
    }

    /// The view that answers are made of.
    public View servedView() {
        return view(served);
    }

    /// The view beside the served one, if there is one.
    public Optional<View> otherView() {
        return views.stream().filter(view -> view.number != served).findFirst();
    }

    /// The view of this number.
    public View view(int number) {
        return views.stream()
                .filter(view -> view.number == number)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("There is no view " + number + " in " + this));
    }

    /// The same with one more view under the next number.
    public Definition withView(Pipeline pipeline, int oneIn, String owner) {
        return withView(last + 1, pipeline, oneIn, owner);
    }

    /// The same with one more view, yet to be filled, of about one leaf in `oneIn`.
    ///
    /// @param number greater than any that was given before
    /// @param owner maker of the view: no two definitions that different owners make are equal
    /// @throws IllegalStateException if there is one already: two views are what fits into one transaction
    public Definition withView(int number, Pipeline pipeline, int oneIn, String owner) {
        if (views.size() >= VIEWS_MAX) {
            throw new IllegalStateException("There are " + views.size() + " views already");
        }
        List<View> more = new ArrayList<>(views);
        more.add(new View(number, pipeline.ofDataOf(servedView().pipeline), oneIn, owner, 0));
        return new Definition(epoch + 1, incarnation, lanes, gates, served, number, more);
    }

    /// The same with another function in the place of the one of the served view. Its totals are the same.
    public Definition withPipeline(Pipeline pipeline) {
        Pipeline read = pipeline.ofDataOf(servedView().pipeline);
        View same = new View(served, read, 1, servedView().owner(), servedView().since());
        return new Definition(epoch + 1, incarnation, lanes, gates, served, last, List.of(same));
    }

    /// The same with one view alone, which serves.
    public Definition servingOnly(int number) {
        return new Definition(epoch + 1, incarnation, lanes, gates, number, last, List.of(view(number)));
    }

    /// The same with one view alone, which was filled and serves from now on.
    ///
    /// @param since an epoch of the totals that was open when all of the view was in them
    public Definition serving(int number, long since) {
        return new Definition(
                epoch + 1,
                incarnation,
                lanes,
                gates,
                number,
                last,
                List.of(view(number).since(since)));
    }

    /// The same in a new incarnation, with the served view alone.
    ///
    /// @param numbered views up to this number are taken for ones that there may have been
    public Definition in(Incarnation next, int numbered) {
        List<View> alone = List.of(servedView().since(0)); // The epochs of the totals begin again.
        return new Definition(epoch + 1, next, lanes, gates, served, Math.max(last, numbered), alone);
    }

    /// The definition that an item holds.
    public static Definition of(Map<String, AttributeValue> item) {
        List<View> views = new ArrayList<>();
        for (AttributeValue view : Items.list(item, VIEWS)) {
            views.add(new View(
                    (int) Items.number(view.m(), "n"),
                    pipeline(view.m()),
                    (int) Items.number(view.m(), "o"),
                    Items.text(view.m(), "b"),
                    view.m().containsKey("s") ? Items.number(view.m(), "s") : 0));
        }
        return new Definition(
                Items.number(item, EPOCH),
                new Incarnation(
                        Items.text(item, Incarnation.ID),
                        Items.list(item, Incarnation.TABLES).stream()
                                .map(AttributeValue::s)
                                .toList()),
                (int) Items.number(item, LANES),
                (int) Items.number(item, GATES),
                (int) Items.number(item, SERVED),
                (int) Items.number(item, LAST),
                views);
    }

    /// The item of a view that served and will not any more: letters hold what its pipeline read of records.
    public static Map<String, AttributeValue> pastView(View view) {
        Map<String, AttributeValue> item = new TreeMap<>(pastView(view.number));
        item.put("t", AttributeValue.fromS(PipelineText.stored(view.pipeline)));
        return item;
    }

    /// The key of that item.
    public static Map<String, AttributeValue> pastView(int number) {
        return RowItem.other("view/" + number);
    }

    /// The pipeline that an item holds: of totals, of a view, or of batches.
    public static Pipeline pipeline(Map<String, AttributeValue> item) {
        return PIPELINES.computeIfAbsent(Items.text(item, "t"), Definition::read);
    }

    /// Requires that this Java reads records as those before them were read.
    ///
    /// @throws IllegalStateException if it does not
    public static void requireRules(Pipeline stored) {
        otherRules(stored).ifPresent(reason -> {
            throw new IllegalStateException(reason);
        });
    }

    /// Why this Java may fold no record into a stored pipeline, and what to do; empty if it may.
    public static Optional<String> otherRules(Pipeline stored) {
        return stored.otherRules()
                .map(reason -> "Nothing is taken into pipeline " + stored.name() + ": " + reason
                        + ". Records wait, and come again; answers go on. Pin the runtime of the functions to the"
                        + " version before (runtime management of Lambda), or deploy the pipeline as a stack of its"
                        + " own, on the same stream, and send it what the stream has forgotten.");
    }

    private static Pipeline read(String text) {
        return switch (PipelineText.readStored(text)) {
            case Reading.Read(var pipeline) -> pipeline;
            case Reading.Refused(var problems) ->
                throw new IllegalStateException("The definition in the table cannot be read: " + problems
                        + ". Deploy the version that wrote it.");
        };
    }

    /// The item of this definition.
    public Map<String, AttributeValue> item() {
        Map<String, AttributeValue> item = new TreeMap<>(key());
        item.put(EPOCH, Items.number(epoch));
        item.put(Incarnation.ID, AttributeValue.fromS(incarnation.id()));
        item.put(
                Incarnation.TABLES,
                AttributeValue.fromL(
                        incarnation.tables().stream().map(AttributeValue::fromS).toList()));
        item.put(LANES, Items.number(lanes));
        item.put(GATES, Items.number(gates));
        item.put(SERVED, Items.number(served));
        item.put(LAST, Items.number(last));
        item.put(
                VIEWS,
                AttributeValue.fromL(views.stream()
                        .map(view -> AttributeValue.fromM(Map.of(
                                "n",
                                Items.number(view.number),
                                "t",
                                AttributeValue.fromS(PipelineText.stored(view.pipeline)),
                                "o",
                                Items.number(view.oneIn),
                                "b",
                                AttributeValue.fromS(view.owner),
                                "s",
                                Items.number(view.since))))
                        .toList()));
        return item;
    }

    /// The key of the item.
    public static Map<String, AttributeValue> key() {
        return RowItem.other("definition");
    }

    /// The key of a gate.
    public static Map<String, AttributeValue> gate(int number) {
        return RowItem.other("gate/" + number);
    }
}
