package dev.onefold.core.document;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/// The problems that are found while a document is read. Not thread-safe.
public final class Problems {
    /// Enough for any file that a person wrote; a file of garbage is not worth more.
    public static final int PROBLEMS_MAX = 1_000;

    private final List<Problem> found = new ArrayList<>();
    private boolean full;

    public Problems() {}

    /// Notes a problem; the arguments are those of [Problem].
    public void add(TextPlace place, String path, String value, String wrong, String right) {
        if (!full) {
            add(new Problem(place, path, value, wrong, right));
        }
    }

    /// Notes a problem.
    public void add(Problem problem) {
        if (found.size() < PROBLEMS_MAX - 1) {
            found.add(problem);
        } else if (!full) {
            full = true;
            found.add(new Problem(
                    problem.place(),
                    "",
                    "",
                    "has more problems than " + PROBLEMS_MAX,
                    "correct these first, then check again"));
        }
    }

    public boolean isEmpty() {
        return found.isEmpty();
    }

    /// All of them, by place.
    public List<Problem> inOrder() {
        return found.stream().sorted(Comparator.comparing(Problem::place)).toList();
    }
}
