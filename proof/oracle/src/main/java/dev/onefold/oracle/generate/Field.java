package dev.onefold.oracle.generate;

import java.util.List;
import java.util.regex.Pattern;

/// A field that records have and a pipeline may read, with the few values it takes.
///
/// @param form how a time is written, one of its types; of a number how many decimals it has
record Field(List<String> path, Kind kind, String form, List<Value> pool) {
    /// What a field holds, mostly.
    enum Kind {
        TEXT,
        NUMBER,
        TIME,
        FLAG
    }

    private static final Pattern BARE = Pattern.compile("[\\p{L}\\p{N}_@-]+");

    /// The path as a pipeline file has it.
    String written() {
        StringBuilder written = new StringBuilder();
        for (String name : path) {
            if (!written.isEmpty()) {
                written.append('.');
            }
            boolean bare = BARE.matcher(name).matches() && !name.equals("not");
            written.append(bare ? name : '"' + name.replace("\"", "\"\"") + '"');
        }
        return written.toString();
    }
}
