package dev.onefold.aws.template;

/// How a new deployment is laid out. The definition in its tables keeps these numbers from then on.
///
/// @param lanes queues of deltas, each with its own part of the totals, from 1 to [#LANES_MAX]. Each is added to by one
///     commit after the other, and an answer reads them all
/// @param gates items that transactions of State check, from [#GATES_MIN] to [#GATES_MAX]: so many that transactions
///     seldom meet at one. A change of the definition takes a write for each
public record Layout(int lanes, int gates) {
    /// The most lanes: one transaction of a reader must be able to close all of them.
    public static final int LANES_MAX = 40;

    /// Two transactions that check one gate at the same time conflict, and a batch of 1,000 records makes 16
    /// transactions at once. With one gate all of them would conflict; with this many, one in four or fewer.
    public static final int GATES_MIN = 64;

    public static final int GATES_MAX = 4_096;
    public static final Layout DEFAULT = new Layout(2, 2_048);

    public Layout {
        if (lanes < 1 || lanes > LANES_MAX || gates < GATES_MIN || gates > GATES_MAX) {
            throw new IllegalArgumentException("A deployment has 1 to " + LANES_MAX + " lanes and " + GATES_MIN + " to "
                    + GATES_MAX + " gates, not " + lanes + " and " + gates);
        }
    }
}
