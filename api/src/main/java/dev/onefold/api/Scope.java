package dev.onefold.api;

import java.util.List;
import java.util.Locale;

/// What a caller must be allowed to do.
public enum Scope {
    /// Sees results, and how the engine is.
    READ,

    /// Sends records.
    WRITE,

    /// Sees and decides what waits for a person, recomputes, and changes.
    OPERATE;

    /// What a request needs. It is said here for all routes, so that none is forgotten: one that is not named needs the
    /// most. Dead letters and the contents of batches are records as they came, whoever sent them.
    public static Scope of(Request request) {
        List<String> path = request.path();
        String route = path.size() < 3 ? "" : path.get(2);
        boolean isGet = request.method().equals("GET");
        return switch (route) {
            case "", "totals", "changes", "rows", "keys", "tables", "status", "counts", "journal" ->
                isGet ? READ : OPERATE;
            case "records" -> isGet ? READ : WRITE;
            case "batches" -> isGet && !path.getLast().equals("content") ? READ : OPERATE;
            default -> OPERATE;
        };
    }

    /// The word for it in a file of tokens and in a message.
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
