package dev.onefold.api;

import java.util.List;
import java.util.Locale;

/// The scope of a caller's permission.
public enum Scope {
    /// Reads results, and the status of the engine.
    READ,

    /// Sends records.
    WRITE,

    /// Sees and decides about things that wait for a person, recomputes, and changes.
    OPERATE,

    /// Seeds, compares and repairs rows, releases batches and the journal.
    ADMINISTER;

    /// The scope that a request needs. This method decides for all routes, so a route that is not named needs
    /// the highest scope. Dead letters and the contents of batches need more than results do, because they are
    /// records as a sender sent them.
    public static Scope of(Request request) {
        List<String> path = request.path();
        String route = path.size() < 3 ? "" : path.get(2);
        String last = path.getLast();
        boolean isGet = request.method().equals("GET");
        return switch (route) {
            case "", "totals", "changes", "rows", "keys", "tables", "status", "counts", "journal" ->
                isGet ? READ : ADMINISTER;
            case "records" -> isGet ? READ : WRITE;
            case "batches" ->
                isGet
                        ? last.equals("content") ? OPERATE : READ
                        : last.equals("release") || last.equals("settle") ? ADMINISTER : OPERATE;
            case "dead-letters", "verify", "rebuild", "checkpoint", "change" -> OPERATE;
            default -> ADMINISTER;
        };
    }

    /// The word for it in a file of tokens and in a message.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
