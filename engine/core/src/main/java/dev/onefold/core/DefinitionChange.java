package dev.onefold.core;

import java.util.List;

/// How a data directory can follow another definition of its pipeline.
public sealed interface DefinitionChange {
    /// The definition serves already.
    record None() implements DefinitionChange {}

    /// The rows and the dead letters hold all that the definition reads.
    ///
    /// @param lost fields that the rows hold and the definition does not read, and that cannot be read again
    ///     from any source; empty if nothing is lost
    /// @param doubt why a fold of all records from the first one might come to something else; empty if it
    ///     could not
    record FromRows(List<String> lost, String doubt) implements DefinitionChange {
        public FromRows {
            lost = List.copyOf(lost);
        }
    }

    /// The rows are not enough, and all that was folded can be read again.
    ///
    /// @param reason why the rows are not enough
    /// @param files names of the files to be read again
    /// @param logs names of the logs to be read again
    /// @param journal whether the journal is read again, too
    record FromSources(String reason, List<String> files, List<String> logs, boolean journal)
            implements DefinitionChange {
        public FromSources {
            files = List.copyOf(files);
            logs = List.copyOf(logs);
        }
    }

    /// The rows are not enough, and something that was folded cannot be read again.
    ///
    /// @param reason why the rows are not enough
    /// @param missing the data that cannot be read again, with the reason
    record Impossible(String reason, String missing) implements DefinitionChange {}
}
