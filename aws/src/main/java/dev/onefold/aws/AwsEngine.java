package dev.onefold.aws;

import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.item.Definition;
import dev.onefold.aws.item.RowItem;
import dev.onefold.aws.letter.LetterTable;
import dev.onefold.aws.read.TotalsReads;
import dev.onefold.aws.reduce.Reduce;
import dev.onefold.aws.resync.AwsSync;
import dev.onefold.aws.resync.RowScan;
import dev.onefold.aws.state.Claims;
import dev.onefold.aws.state.Definitions;
import dev.onefold.aws.state.Progress;
import dev.onefold.aws.state.RowFill;
import dev.onefold.aws.state.RowReads;
import dev.onefold.aws.state.ServedViews;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.core.Capabilities;
import dev.onefold.core.Capabilities.Capability;
import dev.onefold.core.Causes;
import dev.onefold.core.Counts;
import dev.onefold.core.DeadLetters;
import dev.onefold.core.Engine;
import dev.onefold.core.Sync;
import dev.onefold.core.Truth;
import dev.onefold.core.Verification;
import dev.onefold.core.event.Decoder;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Identity;
import dev.onefold.core.pipeline.Limits;
import dev.onefold.core.pipeline.Measure;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Publishing;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.query.Answer;
import dev.onefold.core.query.Query;
import dev.onefold.core.query.TableAnswer;
import dev.onefold.core.query.TableQuery;
import dev.onefold.core.state.Contribution;
import dev.onefold.core.state.Horizon;
import dev.onefold.core.state.Key;
import dev.onefold.core.state.RangeSums;
import dev.onefold.core.state.Row;
import dev.onefold.core.state.RowMark;
import dev.onefold.tables.Rate;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// The verbs on deployed tables. It folds nothing itself: the functions do. It is one idea: each verb calls the
/// part that does it.
public final class AwsEngine implements Engine {
    /// All headers are read, and an epoch is closed, in one transaction of at most 4 MB; a header names up to
    /// 98 keys.
    public static final int LANES_MAX = 40;

    /// Old and new contribution in two views, one delta and a header: 98 of the hundred items of a transaction.
    private static final int TOUCHED_MAX = 24;

    private static final int ATTEMPTS_MAX = 5;

    /// The capabilities of every deployment.
    public static final Capabilities CAPABILITIES = new Capabilities(Map.of(
            Capability.APPEND, "On AWS records come through the stream; producers write them there.",
            Capability.CHECKPOINT, "On AWS there are no checkpoints: each transaction is durable.",
            Capability.STATUS,
                    "On AWS the metrics in CloudWatch say how a deployment is. The counts of its records are about right:"
                            + " a batch that is tried again is counted again, and those of its last minute may be missing.",
            Capability.SOURCES, "On AWS the stream forgets its records; the totals are recomputed from the rows.",
            Capability.DEFINITION_CHANGE, "On AWS a changed pipeline is deployed; its totals are filled from the rows.",
            Capability.JOURNAL, "On AWS there is no journal: each transaction is durable."));

    private final Store store;
    private final Definitions definitions;

    /// The newest epoch that an answer or a commit through this object has had. No later answer is of an
    /// earlier one.
    private Seen seen = new Seen("", 0);

    /// An epoch of an incarnation: after a restore, epochs may begin again.
    private record Seen(String incarnation, long epoch) {
        Seen max(Seen other) {
            int order = incarnation.compareTo(other.incarnation);
            return order > 0 || order == 0 && epoch > other.epoch ? this : other;
        }
    }

    private final AwsSync.@Nullable Way way;
    private final RowScan scan;

    private AwsEngine(Store store) {
        this(store, null);
    }

    private AwsEngine(Store store, AwsSync.@Nullable Way way) {
        this.store = store;
        this.way = way;
        definitions = new Definitions(store);
        scan = new RowScan(store, Rate.of(way == null ? 0 : RowScan.UNITS_PER_SECOND));
    }

    /// Opens what was deployed under these names; makes it, of this pipeline, where there is nothing yet.
    ///
    /// @param lanes queues of deltas, from 1 to 40
    /// @param gates how many transactions may check the definition at once without getting in each other's way
    /// @throws IllegalArgumentException if the pipeline cannot be on AWS, or another one was deployed there
    public static AwsEngine open(Store store, Pipeline pipeline, int lanes, int gates) {
        requirePossible(pipeline);
        if (lanes < 1 || lanes > LANES_MAX) {
            throw new IllegalArgumentException("There are " + lanes + " lanes; there can be 1 to " + LANES_MAX);
        }
        AwsEngine engine = new AwsEngine(store);
        Definition definition = engine.definitions.openOrCreate(pipeline.unpublished(), lanes, gates);
        Pipeline served = definition.servedView().pipeline();
        String deployed = PipelineText.write(served);
        if (!deployed.equals(PipelineText.write(pipeline.unpublished().ofDataOf(served)))) {
            throw new IllegalArgumentException("The pipeline file is not the one that was deployed to "
                    + store.tables().totals() + ", which is " + deployed);
        }
        return engine;
    }

    /// Opens what is deployed under these names, whatever its pipeline is.
    ///
    /// @throws IllegalStateException if nothing is
    public static AwsEngine deployed(Store store) {
        AwsEngine engine = new AwsEngine(store);
        engine.definition();
        return engine;
    }

    /// Looks when it is asked something. Where nothing is deployed, each question fails with an
    /// IllegalStateException.
    public static AwsEngine at(Store store) {
        return new AwsEngine(store);
    }

    /// Whether something is deployed under these names: State makes it with the first batch.
    public static boolean isDeployed(Store store) {
        return new Definitions(store).find().isPresent();
    }

    /// The same, for seedings and comparisons. It lists its rows at a limited rate.
    public AwsEngine syncing(AwsSync.Way with) {
        return new AwsEngine(store, with);
    }

    /// Whether a pipeline can be on AWS.
    ///
    /// @throws IllegalArgumentException saying why not
    public static void requirePossible(Pipeline pipeline) {
        requireFoldPossible(pipeline);
        if (pipeline.publishing() != null && !(pipeline.publishing() instanceof Publishing.Items)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: it publishes its totals to a database or to Kafka, which only an engine on one"
                    + " machine does: a deployment has no process that keeps a connection. Publish to a table of"
                    + " DynamoDB ('table' alone), or leave out 'publish'.");
        }
        if (pipeline.fold() instanceof Processing processing) {
            Keys.requirePossible(pipeline, processing);
        }
        requireInputPossible(pipeline);
        if (Horizon.ofForgetting(pipeline).isPresent()) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: with 'horizon' an id that comes again long after it is a new one, and on AWS"
                    + " it would be the old one, because no id is forgotten there. Leave 'horizon' out: then each id"
                    + " counts once, whenever it comes.");
        }
        if (Rollups.of(pipeline).areKept()) {
            throw new IllegalArgumentException(
                    "Pipeline " + pipeline.name()
                            + " cannot be on AWS: with 'keep' groups and rows end by the times of the records, and DynamoDB"
                            + " removes an item by the clock. Leave 'keep' out: then all groups stay. Or run it on one machine.");
        }
        long touched = Rollups.of(pipeline).all().stream()
                .flatMap(rollup -> rollup.measures().stream().filter(AwsEngine::isOfValues))
                .count();
        touched += Rollups.of(pipeline).all().size();
        if (touched > TOUCHED_MAX) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: one record touches " + touched
                    + " items (each roll-up, and each min, max and distinct of it); at most " + TOUCHED_MAX
                    + " fit into a transaction, with their predecessors and in two views.");
        }
    }

    /// Whether this kind of pipeline has totals or tables on AWS. A batch pipeline has none.
    ///
    /// @throws IllegalArgumentException saying why not
    public static void requireFoldPossible(Pipeline pipeline) {
        if (pipeline.fold() instanceof Batching) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " makes batches, and this is for pipelines with totals or tables. Use 'onefold aws template'.");
        }
        Keys.requireJava(pipeline);
    }

    /// Whether a batch pipeline can be on AWS.
    ///
    /// @throws IllegalArgumentException saying why not
    public static Batching requireBatchesPossible(Pipeline pipeline) {
        if (!(pipeline.fold() instanceof Batching batching)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name() + " has no batch section");
        }
        requireInputPossible(pipeline);
        if (batching.order() == Batching.Order.KEY) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: its order is by key, and there records are collected side by side, so two of"
                    + " one key have no order. Run it on one machine, with 'onefold run', or leave 'order' out.");
        }
        FunctionReceivers.requirePossible(pipeline, batching);
        return batching;
    }

    /// Whether the input of a pipeline can be a stream, whatever its fold is.
    ///
    /// @throws IllegalArgumentException saying why not
    public static void requireInputPossible(Pipeline pipeline) {
        if (pipeline.origin() != null) {
            throw new IllegalArgumentException(
                    "Pipeline " + pipeline.name()
                            + " cannot be on AWS: it reads a topic of Kafka by itself. Leave 'from' out, or use 'onefold run'.");
        }
        if (pipeline.input().identity() instanceof Identity.ByPlace) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: its records have neither key nor id, and a producer that sends one again gives it"
                    + " another place in the stream, so that it would count twice. Name a field with 'id'.");
        }
        if (Decoder.wantsHeader(pipeline)) {
            throw new IllegalArgumentException("Pipeline " + pipeline.name()
                    + " cannot be on AWS: a record of a stream has no header line. List the columns of the CSV in the"
                    + " pipeline file.");
        }
    }

    private static boolean isOfValues(Measure measure) {
        return switch (measure) {
            case Measure.Count _ -> false;
            case Measure.Distinct _ -> true;
            case Measure.Numeric numeric -> !numeric.fold().isSummed();
        };
    }

    private Definition definition() {
        return definitions.load();
    }

    /// Names what the tables are since they were made, or restored last. Nothing else has the same text.
    public String incarnation() {
        return definition().incarnation().id();
    }

    @Override
    public Pipeline pipeline() {
        return definition().servedView().pipeline();
    }

    /// A view that is served no more is not added to any more, and then cleaned away: what was read of it
    /// meanwhile is no answer.
    @Override
    public Answer query(Query query) {
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            Definition definition = definition();
            new Claims(store).require(definition);
            Definition.View served = definition.servedView();
            Pipeline pipeline = served.pipeline();
            int rollup = Rollups.of(pipeline).index(query.rollup());
            TotalsReads.Reading reading = new TotalsReads(store, definition)
                    .read(List.of(TotalsReads.Part.of(served, rollup, Tuple.of(query.group()))), seen(definition));
            see(definition, reading.epoch());
            Definition after = definition();
            if (after.served() == served.number() && after.incarnation().equals(definition.incarnation())) {
                return reading.totals().getFirst().answer(query, new Answer.Cut(List.of(), reading.at()));
            }
        }
        throw new IllegalStateException(
                "Another view began to serve each time that this one was read, " + ATTEMPTS_MAX + " times. Ask again.");
    }

    @Override
    public Optional<KeyState> state(List<String> key) {
        return keys().state(key);
    }

    @Override
    public <T> T tables(TableQuery query, Function<TableAnswer, T> reader) {
        return reader.apply(keys().tables(query));
    }

    /// The rows of a function's table as JSON; they are of one cut if nothing is written meanwhile.
    public List<String> scan(String table) {
        return keys().scan(table);
    }

    private Keys keys() {
        return new Keys(store, definition());
    }

    @Override
    public Optional<Row> get(List<String> key) {
        Keys.requireNone(pipeline(), "has the state of a key, and no row: ask for the state");
        byte[] bytes = Key.bytes(pipeline(), key);
        if (bytes.length > 2 * Limits.KEY_BYTES_MAX) {
            return Optional.empty();
        }
        for (int attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
            Definition definition = definition();
            RowItem found = new RowReads(store).read(List.of(bytes)).get(ByteBuffer.wrap(bytes));
            RowItem row = found == null
                    ? null
                    : new ServedViews(store, definition).whole(found).orElse(found);
            if (row == null || row.isEmpty() || row.isRefusedBy(definition.served())) {
                return Optional.empty();
            }
            Contribution contribution = row.views().get(definition.served());
            if (contribution != null) { // Else another view has begun to serve between the two reads.
                return Optional.of(row.row(definition.servedView().pipeline(), contribution));
            }
        }
        throw new IllegalStateException("The row of " + key + " is not in the view that is served, "
                + definition().served() + ", and in no other one whose pipeline is known: it was written by hand, or"
                + " restored from another time. 'onefold verify' puts it aside.");
    }

    /// Some at a time, which are of one definition.
    @Override
    public List<Optional<Row>> rows(List<List<String>> keys) {
        Definition definition = definition();
        Pipeline pipeline = definition.servedView().pipeline();
        List<byte[]> bytes = keys.stream().map(key -> Key.bytes(pipeline, key)).toList();
        Map<ByteBuffer, RowItem> found = new RowReads(store)
                .read(bytes.stream()
                        .filter(key -> key.length <= 2 * Limits.KEY_BYTES_MAX)
                        .toList());
        List<Optional<Row>> rows = new ArrayList<>();
        for (int i = 0; i < keys.size(); i++) {
            RowItem row = found.get(ByteBuffer.wrap(bytes.get(i)));
            Contribution contribution = row == null ? null : row.views().get(definition.served());
            boolean isThere = row != null && !row.isEmpty() && !row.isRefusedBy(definition.served());
            rows.add(
                    row != null && isThere && contribution != null
                            ? Optional.of(row.row(pipeline, contribution))
                            : isThere ? get(keys.get(i)) : Optional.empty());
        }
        return rows;
    }

    @Override
    public RangeSums rangeSums() {
        return scan.sums();
    }

    @Override
    public List<RowMark> rowMarks(BitSet ranges) {
        return scan.marks(ranges);
    }

    @Override
    public Sync sync() {
        if (way == null) {
            throw new IllegalStateException("This engine was opened without a way to seed and to compare");
        }
        return new AwsSync(store, way);
    }

    @Override
    public Capabilities capabilities() {
        return CAPABILITIES;
    }

    /// Fills another view from the rows, while events go on, and compares both in one cut. Of a sample all rows
    /// are read, and only those of its groups written.
    @Override
    public Verification verify(Truth truth) {
        if (pipeline().fold() instanceof Processing) {
            return keys().verify(rows(truth).oneIn());
        }
        return compareWithFresh(rows(truth).oneIn(), false);
    }

    private static Truth.Rows rows(Truth truth) {
        return switch (Truth.given(truth)) {
            case Truth.Rows rows -> rows;
            case Truth.Sources _ -> {
                CAPABILITIES.require(Capability.SOURCES);
                throw new IllegalStateException("Sources are no truth here");
            }
        };
    }

    /// Fills another view from the rows, compares both in one cut, and serves the new one from then on.
    @Override
    public Verification rebuild(Truth truth) {
        Keys.requireNone(
                pipeline(),
                "cannot be rebuilt on AWS: deploy it as a stack of its own, and send it all records. 'onefold aws"
                        + " restored --anyway' makes its roll-ups again of the rows of its tables");
        if (rows(truth).oneIn() > 1) {
            throw new IllegalArgumentException("A sample is verified, not served: rebuild all groups");
        }
        return compareWithFresh(1, true);
    }

    /// The latest caller wins: a view that somebody else is filling, or has abandoned, is dropped first.
    private Verification compareWithFresh(int oneIn, boolean serveFresh) {
        Definition before = definition();
        if (serveFresh) {
            reduce(); // A delta that was restored may name the number of a view that nobody else remembers.
        } else {
            new Claims(store).require(before);
        }
        Optional<Definition.View> other = before.otherView();
        if (other.isPresent()) {
            requireSamePipeline(before.servedView(), other.get());
            before = replaced(before.servingOnly(before.served()));
        }
        Definition both =
                replaced(new Claims(store).withView(before, before.servedView().pipeline(), oneIn, store.newId()));
        Definition.View fresh = both.view(both.last());
        Progress progress = RowFill.fill(store, both, fresh.number(), () -> true);
        reduce();
        Verification verification = TotalsReads.compare(store, both, fresh, progress.rows());
        if (serveFresh) {
            definitions.keepServed(both);
            long since = new TotalsReads(store, both).open();
            new Claims(store).join(replaced(both.serving(fresh.number(), since)));
        } else {
            // Who has changed the definition since has taken the view away already.
            definitions.replace(both.servingOnly(before.served()));
        }
        return verification;
    }

    private static void requireSamePipeline(Definition.View served, Definition.View other) {
        if (!PipelineText.write(served.pipeline()).equals(PipelineText.write(other.pipeline()))) {
            throw new IllegalStateException(
                    "A changed pipeline is on its way: its totals are being filled, from the rows,"
                            + " as those that serve were. Try again when it serves.");
        }
    }

    private Definition replaced(Definition next) {
        if (!definitions.replace(next).equals(next)) {
            throw new IllegalStateException("Somebody else has changed the definition of "
                    + store.tables().rows()
                    + " meanwhile, with verify, rebuild or a new pipeline. The totals are right;"
                    + " try again when that is done.");
        }
        return next;
    }

    /// Brings all deltas into the totals that are there now; the functions do it without being asked.
    public long reduce() {
        Definition before = definition();
        long commits = store.threads().all(before.lanes(), lane -> Reduce.lane(store, lane)).stream()
                .mapToLong(Long::longValue)
                .sum();
        Definition after = definition();
        see(after, new TotalsReads(store, after).open());
        return commits;
    }

    /// The least epoch of an answer.
    private synchronized long seen(Definition definition) {
        return seen.incarnation().equals(definition.incarnation().id()) ? seen.epoch() : 0;
    }

    private synchronized void see(Definition definition, long epoch) {
        seen = seen.max(new Seen(definition.incarnation().id(), epoch));
    }

    @Override
    public DeadLetters deadLetters() {
        return new AwsDeadLetters(
                store,
                this::pipeline,
                new AwsDeadLetters.Way(arrival -> StateAndMap.redrive(store, arrival), () -> reduce()));
    }

    /// Roughly, on AWS: a batch that is tried again is counted again.
    @Override
    public Counts counts() {
        return new LetterTable(store).fates().counts();
    }

    @Override
    public Causes causes() {
        return new LetterTable(store).fates().causes();
    }

    @Override
    public void close() {
        // The client is its maker's.
    }
}
