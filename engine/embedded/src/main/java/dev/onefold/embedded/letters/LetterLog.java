package dev.onefold.embedded.letters;

import dev.onefold.core.DeadLetter;
import dev.onefold.core.document.Problem;
import dev.onefold.core.event.Reason;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Logs the new dead letters of a view: one line for those of [#WAIT_MS], with their reasons and the place of the
/// first. The record itself may be secret. The line needs neither a checkpoint nor a later record, so letters that a
/// crash makes known again are logged again. Is thread-safe.
final class LetterLog {
    private static final System.Logger LOG = System.getLogger("dev.onefold.embedded.letters");
    private static final long WAIT_MS = 2_000;
    private static final int SOURCE_LOGGED_MAX = 500;

    private final Map<Reason, Long> fresh = new EnumMap<>(Reason.class);
    private String pipeline = ""; // Without one, the view does not serve, and nothing is logged.
    private String first = "";
    private boolean isDue;

    /// Logs the letters that were noted, and those to come.
    synchronized void begin(String name) {
        pipeline = name;
        awaitMore();
    }

    synchronized void note(DeadLetter letter) {
        fresh.merge(letter.reason(), 1L, Long::sum);
        if (first.isEmpty()) {
            DeadLetter.Place place = letter.place();
            first = letter.id() + (place.line() == 0 ? ", in " : ", line " + place.line() + " of ")
                    + Problem.visible(place.source(), SOURCE_LOGGED_MAX) + ", at offset " + place.offset();
        }
        awaitMore();
    }

    private void awaitMore() {
        if (!isDue && !fresh.isEmpty() && !pipeline.isEmpty()) {
            isDue = true;
            CompletableFuture.delayedExecutor(WAIT_MS, TimeUnit.MILLISECONDS).execute(this::write);
        }
    }

    /// Logs at once.
    void write() {
        String line = taken();
        if (line != null) {
            LOG.log(System.Logger.Level.WARNING, line);
        }
    }

    private synchronized @Nullable String taken() {
        isDue = false;
        if (fresh.isEmpty() || pipeline.isEmpty()) {
            return null;
        }
        String reasons = fresh.entrySet().stream()
                .map(each -> each.getValue() + " " + each.getKey().words())
                .collect(Collectors.joining(", "));
        String line = "New dead letters of pipeline " + pipeline + ": " + reasons + "; the first is " + first;
        fresh.clear();
        first = "";
        return line;
    }
}
