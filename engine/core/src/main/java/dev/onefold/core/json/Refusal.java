package dev.onefold.core.json;

import dev.onefold.core.document.Problem;
import dev.onefold.core.document.Problems;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The first thing wrong in a text ends its reading. A refusal never leaves [#read].
public final class Refusal extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Problem problem;

    public Refusal(Problem problem) {
        super(problem.toString(), null, false, false);
        this.problem = problem;
    }

    /// Returns the result of a reader. If the reader refuses its text, notes the problem and returns `null`.
    public static <T> @Nullable T read(Problems problems, Supplier<T> reader) {
        try {
            return reader.get();
        } catch (Refusal refusal) {
            problems.add(refusal.problem);
            return null;
        }
    }
}
