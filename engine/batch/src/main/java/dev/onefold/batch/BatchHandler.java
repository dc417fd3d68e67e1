package dev.onefold.batch;

/// Receives batches, in Java. A class that a pipeline file names needs a public constructor without
/// parameters.
///
/// Several threads may call it at a time if batches are delivered in any order; with `order: strict`, one
/// thread at a time. A call that takes longer than the `timeout` of the pipeline file is interrupted.
///
/// The end of [#deliver] decides what happens next:
///
/// | it | then the batch | `idempotent` | `once` |
/// | --- | --- | --- | --- |
/// | returns | was received | done | done |
/// | throws [RefusedException] | had no effect | put aside, or halved | put aside |
/// | throws [TryLaterException] | had no effect | tried again | tried again |
/// | throws [FailedRecordsException] | was received in part | the rest is tried again | in doubt |
/// | throws anything else | may have had its effect | tried again | in doubt |
/// | is interrupted | may have had its effect | tried again | in doubt |
///
/// A handler that is `transactional` writes its effect and [Batch#id] in one transaction, and returns at
/// once if it finds the id there; so it is tried again where `once` is in doubt. A batch is halved with
/// `bisect` alone.
@FunctionalInterface
public interface BatchHandler {
    /// Receives a batch. A batch that was handed over before has the same id and the same content.
    void deliver(Batch batch) throws Exception;

    /// Called once, after the last batch.
    default void close() throws Exception {}
}
