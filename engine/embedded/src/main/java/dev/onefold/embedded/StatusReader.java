package dev.onefold.embedded;

import dev.onefold.core.DeadLetters;
import dev.onefold.core.SealedBatches;
import dev.onefold.core.Status;
import dev.onefold.core.event.Reason;
import dev.onefold.core.event.RecordEnds;
import dev.onefold.core.query.Answer;
import dev.onefold.embedded.disk.Disk;
import dev.onefold.embedded.view.Checkpoints;
import dev.onefold.embedded.view.View;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// Collects the status of the engine. The parts are read one after the other: intake continues in between.
record StatusReader(View.Opening opening, View view, LogNotes logs) {
    private static final long LETTERS_BY_REASON_MAX = 100_000; // To read more of them would take seconds.

    Status read(
            DeadLetters letters,
            List<Answer.Progress> progress,
            boolean definitionPending,
            Optional<SealedBatches.Summary> batches,
            Optional<Status.OfPublication> publication) {
        boolean full = opening.space().since().isPresent(); // The thread that reads letters may wait for space then.
        Map<Reason, Long> byReason = full ? Map.of() : letters.byReason(LETTERS_BY_REASON_MAX);
        long diskBytes = Disk.bytes(opening.root());
        return opening.guard()
                .reading(() -> new Status(
                        opening.settings().clock().instant(),
                        view.state.allCounts(),
                        view.state.causes(),
                        letters.size(),
                        byReason,
                        view.state.rows(),
                        view.state.memory.used(),
                        diskBytes,
                        view.checkpoints.durable().number(),
                        view.checkpoints.durable().at(),
                        FileLag.byFile(RecordEnds.of(view.pipeline), view.state.sources.all()),
                        opening.space().since(),
                        definitionPending,
                        view.fold.functionStatus(),
                        batches,
                        Optional.of(writes()),
                        publication,
                        progress,
                        opening.delays().all(),
                        logs.status(
                                view.state.sources.store(),
                                opening.settings().clock().millis())));
    }

    private Status.OfWrites writes() {
        Checkpoints.Written written = view.checkpoints.written();
        return new Status.OfWrites(
                opening.journal().forces(), opening.journal().forcesNanos(), written.checkpoints(), written.nanos());
    }
}
