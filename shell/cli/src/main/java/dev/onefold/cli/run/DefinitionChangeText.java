package dev.onefold.cli.run;

import dev.onefold.cli.show.Words;
import dev.onefold.core.DefinitionChange;
import java.util.ArrayList;
import java.util.List;

/// The cost of a change of the pipeline file, as text.
public final class DefinitionChangeText {
    private DefinitionChangeText() {}

    /// The sentence of `check`.
    ///
    /// @param data the data directory, as it is shown
    public static String of(DefinitionChange change, String data) {
        return switch (change) {
            case DefinitionChange.None _ -> "The data in " + data + " was folded with this definition.";
            case DefinitionChange.FromRows(var lost, var _)
            when !lost.isEmpty() ->
                "The data in " + data
                        + " can follow it from the rows, with a loss: the records cannot be read again, and "
                        + String.join(", ", lost)
                        + (lost.size() == 1 ? " is" : " are")
                        + " lost for ever. 'onefold run' wants --accept-loss for that." + doubt(change);
            case DefinitionChange.FromRows _ ->
                "The data in " + data + " can follow it " + way(change) + "." + doubt(change);
            case DefinitionChange.FromSources sources ->
                "The data in " + data + " can follow it " + way(change) + ", because " + sources.reason() + ".";
            case DefinitionChange.Impossible(var reason, var missing) ->
                "The data in " + data + " cannot follow it: the rows are not enough, because " + reason
                        + (missing.isEmpty() ? "" : "; and " + missing) + ".";
        };
    }

    /// The warning that a fold of all records might give another result than the change from rows; empty, or a
    /// sentence with a space before it.
    static String doubt(DefinitionChange change) {
        return change instanceof DefinitionChange.FromRows(var _, var doubt) && !doubt.isEmpty()
                ? " A fold of all records from the first one might come to something else: " + doubt + "."
                : "";
    }

    /// How the new totals are made.
    static String way(DefinitionChange change) {
        return switch (change) {
            case DefinitionChange.FromSources again -> "by reading " + String.join(" and ", read(again)) + " again";
            case DefinitionChange.None _, DefinitionChange.FromRows _, DefinitionChange.Impossible _ -> "from the rows";
        };
    }

    private static List<String> read(DefinitionChange.FromSources again) {
        List<String> read = new ArrayList<>();
        if (!again.files().isEmpty()) {
            read.add(Words.count(again.files().size(), "file"));
        }
        again.logs().forEach(log -> read.add("topic " + log));
        if (again.journal() || read.isEmpty()) {
            read.add("the journal");
        }
        return read;
    }
}
