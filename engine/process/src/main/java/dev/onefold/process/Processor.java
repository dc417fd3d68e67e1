package dev.onefold.process;

import java.util.Map;

/// A function per key: from the context of a key and an event of it to the next context and the writes to
/// tables. A pipeline with `process` names the class that implements it. Onefold stores the context and the
/// rows of all tables in one atomic step, each event once.
///
/// The function is pure: its result depends on its arguments alone. It reads no clock, no random number, no
/// file and no mutable static, because Onefold may call it again for the same event: after a crash, for an
/// event that came late, and now and then twice, to compare. It may be called by several threads at once,
/// for different keys. The class is public and has a public constructor without parameters.
///
/// Contexts, events and rows are public records. Their components are `boolean`, `int`, `long`,
/// [java.math.BigDecimal], [String], [java.time.Instant], [java.time.LocalDate], [java.time.Duration], an
/// enum, a record of these, or an [java.util.Optional] or [java.util.List] of these. `double` and `float`
/// are refused: they are not exact.
///
/// @param <C> the context of a key
/// @param <E> an event: its components are fields of the record, by name or by [Field]
public interface Processor<C extends Record, E extends Record> {
    /// The context of a key before its first event.
    C start();

    /// Folds one event into the context of its key, and returns the next context and the writes to tables. A
    /// call may take a second. If it throws an exception, the event becomes a dead letter, nothing changes,
    /// and the key's next events are folded.
    Step<C> step(C context, E event);

    /// The types of the rows of each table, by its name. With them a pipeline is checked before anything is
    /// folded; a table that is not among them is checked when its first row is written.
    default Map<String, Class<? extends Record>> tables() {
        return Map.of();
    }

    /// The context that an older version of this function stored, in today's type. It is called whenever the
    /// two types differ, also if only names came and went: a renamed component is a removed one and a new
    /// one. Without this method, a new component gets the value that it has in [#start], a removed one is
    /// dropped, and `int` widens to `long` and both to `BigDecimal`; any other change is refused.
    ///
    /// @param fromVersion the `version` in the pipeline file when the context was stored
    default C upgrade(int fromVersion, Stored context) {
        throw new UnsupportedOperationException(
                getClass().getName() + " does not upgrade contexts of version " + fromVersion);
    }
}
