package dev.onefold.fakes.aws;

import dev.onefold.fakes.aws.table.Backups;
import dev.onefold.fakes.aws.table.Change;
import dev.onefold.fakes.aws.table.Meter;
import dev.onefold.fakes.aws.table.Reads;
import dev.onefold.fakes.aws.table.Searches;
import dev.onefold.fakes.aws.table.Tables;
import dev.onefold.fakes.aws.table.Transactions;
import dev.onefold.fakes.aws.table.Writes;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.function.Predicate;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;

/// DynamoDB, simulated: its tables are in memory, its time is virtual, and whatever it does by chance its seed
/// says. Production code reaches it through the SDK's own client interface, one [SimulatedClient] for each
/// process. It answers as AWS documents it, not as an emulator does; see `docs/internals/emulators.md`.
///
/// One thread, the one that runs the [VirtualTime].
public final class SimulatedDynamoDb {
    final VirtualTime time;
    final SplittableRandom random;
    final Tables tables;
    final Reads reads;
    final Searches searches;
    final Writes writes;

    private final Transactions transactions;
    private final Tally tally = new Tally();
    private Faults faults = Faults.none();
    private Predicate<Map<String, AttributeValue>> throttledAlone = _ -> false;

    /// A service without tables, in which nothing goes wrong.
    public SimulatedDynamoDb(VirtualTime time, long seed) {
        this.time = time;
        random = new SplittableRandom(seed);
        tables = new Tables(time);
        reads = new Reads(tables, this::past);
        searches = new Searches(tables, this::past, () -> faults.strikes(Fault.EMPTY_PAGE, random));
        writes = new Writes(tables);
        transactions = new Transactions(tables);
    }

    /// From now on this goes wrong.
    public void inject(Faults newFaults) {
        faults = newFaults;
    }

    /// What goes wrong now.
    public Faults faults() {
        return faults;
    }

    /// From now on transactions that put these items, or write to these keys, are refused, because their
    /// partition has reached its limit.
    public void throttle(Predicate<Map<String, AttributeValue>> items) {
        transactions.throttle(items);
    }

    /// From now on a table takes so many write units of transactions in a second, spread over its partitions.
    /// Other writes are not limited.
    public void limit(String table, int unitsPerSecond) {
        transactions.limit(table, unitsPerSecond);
    }

    /// From now on a request that puts one of these items, or deletes one of these keys, alone is refused,
    /// because its partition has reached its limit.
    public void throttleAlone(Predicate<Map<String, AttributeValue>> items) {
        throttledAlone = items;
    }

    void requireRoom(Map<String, AttributeValue> item) {
        if (throttledAlone.test(item)) {
            throw Call.throughputExceeded();
        }
    }

    /// A client of its own, for one process.
    public SimulatedClient client(String name) {
        return new SimulatedClient(this, name);
    }

    public Tally tally() {
        return tally;
    }

    /// From now on backups can be made as the service makes them. Whoever needs them asks for this a minute
    /// before.
    public Backups backups() {
        return new Backups(tables, random.split());
    }

    /// What a table holds now, all of it as of one instant, which no backup of the service promises.
    public Tables.Backup backup(String table) {
        return tables.backup(table);
    }

    /// Deletes a table and restores a backup under its name, which takes a while.
    public void restore(Tables.Backup backup, Duration takes) {
        tables.restore(backup, takes);
    }

    /// Tells of every change of a table from now on, at its instant, before anybody else knows.
    public void onWrite(String table, Consumer<Change> listener) {
        tables.onChange(change -> {
            if (change.table().equals(table)) {
                listener.accept(change);
            }
        });
    }

    /// The changes of a table from now on, as its stream tells them.
    public ChangeStream stream(String table, int shards) {
        ChangeStream stream = new ChangeStream(time, shards);
        onWrite(table, stream::add);
        return stream;
    }

    private Instant past() {
        return time.instant().minus(upTo(faults.timing().lagMax()));
    }

    Duration upTo(Duration max) {
        return Faults.upTo(max, random);
    }

    /// Its writes are seen one by one, in an order that chance says; other transactions meet the lock of an
    /// item until its write is seen.
    void transactWrite(TransactWriteItemsRequest request, Meter meter, Consumer<TransactWriteItemsResponse> answer) {
        Transactions.Begun begun = transactions.begin(request, meter);
        Duration duration = upTo(faults.timing().transactionMax());
        for (int i = 0; i < begun.size(); i++) {
            int index = i;
            if (duration.isZero()) {
                begun.apply(index);
            } else {
                time.schedule(upTo(duration), () -> begun.apply(index));
            }
        }
        if (duration.isZero()) {
            answer.accept(begun.end());
        } else {
            time.schedule(duration, () -> answer.accept(begun.end()));
        }
    }
}
