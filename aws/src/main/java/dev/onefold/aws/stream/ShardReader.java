package dev.onefold.aws.stream;

import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.store.Store;
import java.math.BigInteger;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.dynamodb.model.TrimmedDataAccessException;
import software.amazon.awssdk.services.kinesis.model.ExpiredIteratorException;
import software.amazon.awssdk.services.kinesis.model.InvalidArgumentException;
import software.amazon.awssdk.services.kinesis.model.ResourceNotFoundException;

/// One reading of a closed range of a shard, from its first record to its last. A page is asked for when the
/// one before it was taken, so at most one is in memory. What the stream has forgotten is passed over; the
/// [Extent] tells.
///
/// A page without records is not the end: the service goes through a shard in steps, and some hold none. The
/// end is behind the range, behind the newest record if the service says so, or the end of a closed shard. A
/// table's stream never says so. There a range up to a time ends, in a shard that is open, after so many pages
/// without records; what ends at a record ends with it, or fails. Not thread-safe; one thread at a time uses
/// it.
final class ShardReader {
    /// One after the other, where the service does not say whether there is more.
    private static final int EMPTY_PAGES_MAX = 100;

    /// A shard can be read five times a second, by all of its readers.
    private static final Duration EMPTY_PAUSE = Duration.ofMillis(250);

    private final Store store;
    private final Pages pages;
    private final Position from;
    private final Position to;
    private final Sink sink;
    private Extent extent = new Extent(null, null, 0, false, false);
    private int emptyPages;

    /// The destination of the records that are read.
    interface Sink {
        /// Takes those of one page, in their order; the next page comes when this returns.
        void take(List<Arrival> arrivals);
    }

    /// The extent of the records that were read.
    ///
    /// @param first sequence number of the first record; `null` if there was none
    /// @param last sequence number of the last one
    /// @param records number of records
    /// @param isCut whether the service said that it has forgotten a place that was asked for
    /// @param isQuiet whether it ends where nothing came any more, and nothing said that there is no more
    record Extent(@Nullable String first, @Nullable String last, long records, boolean isCut, boolean isQuiet) {
        private Extent plus(Page.Item item) {
            return new Extent(first == null ? item.sequence() : first, item.sequence(), records + 1, isCut, isQuiet);
        }

        private Extent cut() {
            return new Extent(first, last, records, true, isQuiet);
        }

        private Extent quiet() {
            return new Extent(first, last, records, isCut, true);
        }
    }

    private ShardReader(Store store, Pages pages, Position from, Position to, Sink sink) {
        this.store = store;
        this.pages = pages;
        this.from = from;
        this.to = to;
        this.sink = sink;
    }

    /// Reads a range; both ends belong to it.
    static Extent read(Store store, Pages pages, Position from, Position to, Sink sink) {
        ShardReader reading = new ShardReader(store, pages, from, to, sink);
        reading.read();
        return reading.extent;
    }

    private void read() {
        String iterator = begin();
        while (iterator != null) {
            Page page;
            try {
                String at = iterator;
                page = Failure.retried(store, () -> pages.read(at));
            } catch (SdkException failed) {
                if (!isLost(failed)) {
                    throw failed;
                }
                iterator = begin();
                continue;
            }
            boolean isLast = take(page);
            iterator = isLast ? null : page.next();
            if (iterator != null && page.items().isEmpty()) {
                store.threads().pause(EMPTY_PAUSE);
            }
        }
    }

    /// An iterator; `null` if the shard is forgotten, with all that it held. If the stream has trimmed the
    /// start, reading begins at the oldest record left, and skips what lies before the range.
    private @Nullable String begin() {
        String last = extent.last();
        try {
            return Failure.retried(store, () -> last == null ? pages.at(from) : pages.after(last));
        } catch (SdkException failed) {
            boolean isForgotten = isForgotten(failed);
            if (!isForgotten
                    && !(failed instanceof InvalidArgumentException)
                    && !(failed instanceof TrimmedDataAccessException)) {
                throw failed;
            }
            extent = extent.cut();
            return isForgotten ? null : Failure.retried(store, pages::oldest);
        }
    }

    private static boolean isForgotten(Throwable cause) {
        return cause instanceof ResourceNotFoundException
                || cause instanceof software.amazon.awssdk.services.dynamodb.model.ResourceNotFoundException;
    }

    /// An iterator is good for five minutes, and what it stands at may be forgotten meanwhile.
    private static boolean isLost(SdkException failed) {
        return failed instanceof ExpiredIteratorException
                || failed instanceof software.amazon.awssdk.services.dynamodb.model.ExpiredIteratorException
                || failed instanceof TrimmedDataAccessException;
    }

    /// Takes what belongs to the range. Whether nothing follows.
    private boolean take(Page page) {
        List<Arrival> arrivals = new ArrayList<>();
        boolean ended = false;
        Extent read = extent;
        for (Page.Item item : page.items()) {
            if (compare(item, from) < 0) {
                continue;
            }
            int place = compare(item, to);
            if (place <= 0) {
                arrivals.addAll(item.arrivals());
                read = read.plus(item);
            }
            ended |= place > 0 || place == 0 && to instanceof Position.Sequence;
            if (ended) {
                break;
            }
        }
        boolean isLast = ended || page.isNewest();
        emptyPages = page.items().isEmpty() && page.behindMs() == null ? emptyPages + 1 : 0;
        if (!isLast && emptyPages >= EMPTY_PAGES_MAX) {
            if (to instanceof Position.Sequence) {
                throw new IllegalStateException("Of " + from + " to " + to + " the stream has given no record in "
                        + EMPTY_PAGES_MAX + " requests, and does not say that there are none. Try again.");
            }
            extent = extent.quiet();
            return true;
        }
        if (!arrivals.isEmpty()) {
            sink.take(arrivals);
        }
        extent = read;
        return isLast;
    }

    /// Whether a record lies before a place (negative), at it, or behind it.
    private static int compare(Page.Item item, Position position) {
        return switch (position) {
            case Position.Sequence(var number) -> new BigInteger(item.sequence()).compareTo(new BigInteger(number));
            case Position.Time(var at) -> item.arrived().compareTo(at);
        };
    }
}
