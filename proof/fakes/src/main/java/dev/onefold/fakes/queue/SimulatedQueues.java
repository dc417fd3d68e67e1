package dev.onefold.fakes.queue;

import dev.onefold.fakes.aws.Faults;
import dev.onefold.fakes.aws.VirtualTime;
import dev.onefold.fakes.aws.Wire;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;

/// SQS, simulated: standard queues in memory, in virtual time, and whatever is left to chance its seed says. Production
/// code reaches it through the SDK's own client interface, one [QueueClient] for each process.
///
/// Messages come in any order. Of the faults it knows, `UNPROCESSED` is a message that is not hidden by being received,
/// and one that is refused by a deletion of several.
///
/// One thread, the one that runs the [VirtualTime].
public final class SimulatedQueues {
    final VirtualTime time;
    final SplittableRandom random;

    private final Map<String, StoredQueue> queues = new TreeMap<>();
    private Faults faults = Faults.none();

    /// A service without queues, in which nothing goes wrong.
    public SimulatedQueues(VirtualTime time, long seed) {
        this.time = time;
        random = new SplittableRandom(seed);
    }

    /// Where a queue of that name is reached.
    public static String url(String queue) {
        return "https://sqs.simulated/000000000000/" + queue;
    }

    /// What a queue of that name is called.
    public static String arn(String queue) {
        return "arn:aws:sqs:eu-central-1:000000000000:" + queue;
    }

    /// A queue, and one of the name `queue-aside`, to which its messages go that were received so often.
    public void create(String queue, Duration visibility, int maxReceiveCount) {
        StoredQueue aside = new StoredQueue(visibility, 0, null);
        queues.put(url(queue + "-aside"), aside);
        queues.put(url(queue), new StoredQueue(visibility, maxReceiveCount, aside));
    }

    /// From now on this goes wrong.
    public void inject(Faults newFaults) {
        faults = newFaults;
    }

    Faults faults() {
        return faults;
    }

    /// A client of its own, for one process.
    public QueueClient client() {
        return new QueueClient(this);
    }

    StoredQueue queue(String url) {
        StoredQueue queue = queues.get(url);
        if (queue == null) {
            throw Wire.filled(
                            QueueDoesNotExistException.builder(),
                            "AWS.SimpleQueueService.NonExistentQueue",
                            400,
                            "The specified queue does not exist: " + url)
                    .build();
        }
        return queue;
    }

    /// The messages of a queue that are not deleted yet, hidden ones, too.
    public List<String> bodies(String name) {
        return queue(url(name)).bodies();
    }
}
