package dev.onefold.aws.template;

/// The metrics that functions write and alarms read, each with the dimension [#DIMENSION], whose value is the stack's
/// name. A metric never stands in a table of totals.
public enum Metric {
    /// Age of the oldest delta that is not in the totals, milliseconds; written at a tick that finds one.
    OldestDeltaMs,
    /// Records that State took: whatever became of them, and however often they came. Kept by the second.
    Records,
    /// How long accepted records took from the stream until the totals had them, milliseconds: each record
    /// is a sample.
    DelayMs,
    /// Records that became dead letters.
    DeadLetters,
    /// Keys that could not be read as they are stored, and were put aside.
    KeysAside,
    /// Records of a version that was there with another contribution.
    Conflicts,
    /// Leaf groups that an audit found different; written at the end of each.
    AuditDifferences,
    /// 1 while the deployed pipeline cannot be made of what the rows hold; written at each tick.
    PipelineRefused,
    /// Invocations that failed on purpose, in a trial.
    InjectedFailures,
    /// Age of the oldest record that is in no sealed batch, milliseconds; written at a tick that finds one.
    OldestUnsealedMs,
    /// Time since the oldest batch was sealed that is delivered or tried again, milliseconds; written at a tick that
    /// finds one.
    OldestUndeliveredMs,
    /// Batches, and parts of them, that are in doubt; written at a tick that finds one.
    InDoubt,
    /// Batches, and parts of them, that were put aside; written at a tick that finds one.
    PutAside;

    /// Whether batch pipelines alone have it.
    public boolean isOfBatches() {
        return switch (this) {
            case OldestUnsealedMs, OldestUndeliveredMs, InDoubt, PutAside -> true;
            case OldestDeltaMs,
                    Records,
                    DelayMs,
                    DeadLetters,
                    KeysAside,
                    Conflicts,
                    AuditDifferences,
                    PipelineRefused,
                    InjectedFailures -> false;
        };
    }

    /// Seconds for which CloudWatch adds up what comes.
    public int resolution() {
        return this == Records ? 1 : 60;
    }

    public static final String NAMESPACE = "Onefold";
    public static final String DIMENSION = "Stack";
}
