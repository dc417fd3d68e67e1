package dev.onefold.kafka;

import dev.onefold.kafka.SimulatedPartition.Kind;
import dev.onefold.kafka.SimulatedPartition.Sent;
import dev.onefold.kafka.SimulatedPartition.Transaction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/// A topic of a cluster that is in memory alone, with its producer and everything that befalls it. All is drawn from
/// one source of randomness, a step at each call of a client. Not thread-safe.
///
/// Left out is what no reader can know: that the broker of the answers lags behind the one of the records, for which
/// the topic was recreated already; and that a disk was restored to a state in the middle of a transaction.
final class SimulatedTopic {
    /// What may befall the topic, its clients, and the engine that reads it.
    enum Fault {
        RECREATED,
        OTHER_CLUSTER,
        RESTORED,
        CUT,
        RETENTION,
        COMPACTED,
        TRANSACTIONS,
        PARTITION_ADDED,
        POISON,
        LOST_ANSWERS,
        OLD_ANSWERS,
        CRASHES,
        OLDER_COPY
    }

    static final String NAME = "trades";

    private static final int KEYS = 4; // Of a partition.
    private static final int FAULT_ONE_IN = 12;
    private static final int LOST_ANSWERS_MAX = 3;

    private final RandomGenerator random;
    private final List<Fault> faults;
    private final List<Sent> late = new ArrayList<>();
    private final List<Transaction> transactions = new ArrayList<>();
    private List<SimulatedPartition> partitions = new ArrayList<>();
    private @Nullable List<SimulatedPartition> first; // Partitions of the topic that was recreated since.
    private String cluster = "cluster-1";
    private Uuid id;
    private Uuid oldId;
    private boolean isRead; // Since the topic was recreated.
    private long sent;
    private int absences; // Questions that find no topic.
    private int lost;
    private int answered; // Partitions that an answer named last.
    private long connections = 1;
    private boolean isHealed;

    /// @param faults one that is there several times comes more often
    SimulatedTopic(RandomGenerator random, List<Fault> faults) {
        this.random = random;
        this.faults = List.copyOf(faults);
        id = uuid();
        oldId = id;
        for (int i = 1 + random.nextInt(3); i > 0; i--) {
            partitions.add(new SimulatedPartition(0));
        }
        answered = partitions.size();
    }

    private Uuid uuid() {
        return new Uuid(random.nextLong(), random.nextLong());
    }

    /// The bytes of a value.
    static byte @Nullable [] bytes(Sent sent) {
        return switch (sent.kind()) {
            case TRADE ->
                "{\"TradeID\":\"%s\",\"Version\":%d,\"Value\":%d}"
                        .formatted(sent.key(), sent.version(), sent.version())
                        .getBytes(StandardCharsets.UTF_8);
            case POISON -> ("no object " + sent.version()).getBytes(StandardCharsets.UTF_8);
            case EMPTY -> null;
        };
    }

    boolean has(Fault fault) {
        return faults.contains(fault);
    }

    boolean exists() {
        return absences == 0;
    }

    String cluster() {
        return cluster;
    }

    /// The id that an answer names. It may be an old one as long as no record of the new topic was read.
    Uuid id() {
        return has(Fault.OLD_ANSWERS) && !isRead && !isHealed && random.nextBoolean() ? oldId : id;
    }

    /// Notes that records were read.
    void read() {
        isRead = true;
    }

    long connections() {
        return connections;
    }

    List<SimulatedPartition> partitions() {
        return partitions;
    }

    /// The partitions of the topic with these ids, which may be one that was recreated since.
    List<SimulatedPartition> named(String ofCluster, String ofId) {
        boolean isNow = cluster.equals(ofCluster) && id.toString().equals(ofId);
        return isNow || first == null ? partitions : first;
    }

    /// How many partitions an answer names. Until the metadata has reached its broker it is an old one.
    int answered() {
        if (!has(Fault.OLD_ANSWERS) || isHealed || random.nextInt(3) == 0) {
            answered = partitions.size();
        }
        return answered;
    }

    /// Whether a question gets no topic; it has waited a little longer then.
    boolean isAbsent() {
        if (absences == 0) {
            return false;
        }
        absences--;
        return true;
    }

    /// Whether a question gets no answer.
    boolean isLost() {
        boolean isLost = has(Fault.LOST_ANSWERS) && !isHealed && lost < LOST_ANSWERS_MAX && random.nextInt(15) == 0;
        lost += isLost ? 1 : 0;
        connections += isLost && random.nextBoolean() ? 1 : 0;
        return isLost;
    }

    /// Whatever happens between two calls of a client.
    void step() {
        if (isHealed) {
            return;
        }
        if (random.nextInt(3) == 0) {
            produce();
        }
        if (random.nextInt(FAULT_ONE_IN) == 0) {
            befall(faults.get(random.nextInt(faults.size())));
        }
    }

    private void produce() {
        Transaction transaction = transaction();
        for (int i = random.nextInt(8); i >= 0; i--) {
            int number = random.nextInt(partitions.size());
            partitions.get(number).append(next(number), transaction);
        }
        if (!transactions.isEmpty() && random.nextInt(3) > 0) {
            end(transactions.get(random.nextInt(transactions.size())));
        }
    }

    /// Perhaps a new one; else `null`.
    private @Nullable Transaction transaction() {
        if (!has(Fault.TRANSACTIONS) || random.nextInt(3) > 0) {
            return null;
        }
        Transaction transaction = new Transaction();
        transactions.add(transaction);
        return transaction;
    }

    /// A record, or one that was sent before or kept back, as a version says which one counts.
    private Sent next(int number) {
        boolean isOrdered = has(Fault.COMPACTED) || first != null;
        Sent fresh = new Sent(number + "-" + random.nextInt(KEYS), ++sent, kind());
        int chance = isOrdered ? 9 : random.nextInt(10);
        if (chance == 0) {
            late.add(fresh);
            return new Sent(fresh.key(), ++sent, Kind.TRADE);
        }
        List<Sent> held = late.stream()
                .filter(each -> each.key().startsWith(number + "-"))
                .toList();
        return chance < 3 && !held.isEmpty() ? held.get(random.nextInt(held.size())) : fresh;
    }

    private Kind kind() {
        if (!has(Fault.POISON) || random.nextInt(6) > 0) {
            return Kind.TRADE;
        }
        return random.nextBoolean() ? Kind.POISON : Kind.EMPTY;
    }

    private void end(Transaction transaction) {
        if (transaction.isCommitted == null) {
            transaction.isCommitted = random.nextInt(3) > 0;
        }
        for (SimulatedPartition partition : partitions) {
            if (isHealed || random.nextInt(4) > 0) { // A marker may come later.
                partition.mark(transaction);
            }
        }
    }

    private void befall(Fault fault) {
        SimulatedPartition partition = partitions.get(random.nextInt(partitions.size()));
        long span = partition.stable() - partition.start();
        long from = partition.start() + (span == 0 ? 0 : random.nextLong(span + 1));
        long near = partition.nearRead(random.nextInt(6));
        switch (fault) {
            case RECREATED -> recreate(cluster, false);
            case OTHER_CLUSTER -> recreate("cluster-2", random.nextBoolean());
            case RESTORED -> {
                if (!has(Fault.TRANSACTIONS) && !has(Fault.COMPACTED)) {
                    connections++;
                    partition.restore(random.nextBoolean() ? near : from);
                    regrow(partition);
                }
            }
            case CUT -> {
                switch (random.nextInt(3)) {
                    case 0 -> partition.elect();
                    case 1 -> partition.elect(near);
                    default -> partition.elect(from);
                }
                regrow(partition);
            }
            case RETENTION -> partition.retain(from);
            case COMPACTED -> partition.compact();
            case PARTITION_ADDED -> partitions.add(new SimulatedPartition(0));
            case LOST_ANSWERS -> connections++;
            case TRANSACTIONS, POISON, OLD_ANSWERS, CRASHES, OLDER_COPY -> {}
        }
    }

    /// The other log of a partition may be longer than its first one before anybody asks.
    private void regrow(SimulatedPartition partition) {
        int number = partitions.indexOf(partition);
        for (int i = random.nextInt(8); i > 0; i--) {
            Transaction transaction = transaction();
            for (int each = random.nextInt(6); each > 0; each--) {
                partition.append(next(number), transaction);
            }
            if (transaction != null) {
                end(transaction);
            }
        }
    }

    private void recreate(String at, boolean isCopy) {
        if (first != null) {
            return;
        }
        first = partitions;
        transactions.clear();
        cluster = at;
        oldId = id;
        id = isCopy ? id : uuid();
        isRead = false;
        absences = at.equals("cluster-1") ? random.nextInt(3) : 0;
        connections += at.equals("cluster-1") ? 0 : 1;
        partitions = new ArrayList<>();
        for (SimulatedPartition old : first) {
            SimulatedPartition partition = new SimulatedPartition(0);
            partitions.add(partition);
            long length = old.end() * random.nextInt(3) / 2;
            for (long i = 0; i < length; i++) {
                partition.append(next(partitions.size() - 1), null);
            }
        }
    }

    /// From now on nothing befalls the topic any more; each transaction is ended.
    void heal() {
        isHealed = true;
        absences = 0;
        List.copyOf(transactions).forEach(this::end);
        close();
    }

    /// Appends a record to each partition.
    void close() {
        for (int i = 0; i < partitions.size(); i++) {
            partitions.get(i).append(new Sent(i + "-0", ++sent, Kind.TRADE), null);
        }
    }
}
