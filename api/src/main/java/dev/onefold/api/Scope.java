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
    OPERATE;

    /// The scope that a request needs. This method decides for all routes, so a route that is not named needs
    /// the highest scope. Dead letters and the contents of batches need it too, because they are records as a
    /// sender sent them.
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
