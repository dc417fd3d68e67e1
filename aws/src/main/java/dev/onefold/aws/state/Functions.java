package dev.onefold.aws.state;

import dev.onefold.aws.item.Definition;
import dev.onefold.aws.store.Store;
import dev.onefold.aws.store.UserFunction;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.core.pipeline.Processing;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Which function may go on where another one was. What it writes must be what is stored: the input, the order, the
/// tables and their roll-ups are the same. Its version and its types may be others.
public final class Functions {
    private Functions() {}

    /// Why a pipeline cannot take the place of the one that serves; `null` if it can.
    public static @Nullable String difference(Pipeline served, Pipeline wanted) {
        if (!(served.fold() instanceof Processing before) || !(wanted.fold() instanceof Processing after)) {
            return "one of them has a function, and the other has none";
        }
        if (after.version() < before.version()) {
            return "version " + before.version() + " of the function serves, and this is version " + after.version();
        }
        return otherThan(served, wanted, before, after);
    }

    private static @Nullable String otherThan(Pipeline served, Pipeline wanted, Processing before, Processing after) {
        if (!served.input().equals(wanted.ofDataOf(served).input())) {
            return "the input is another one";
        }
        if (before.order() != after.order()) {
            return "its order is " + after.order().word() + ", and that of the one before is "
                    + before.order().word();
        }
        if (!before.tables().equals(after.tables())) {
            return "its tables or their keys are others";
        }
        return before.feeds().equals(after.feeds()) ? null : "the roll-ups of its tables are others";
    }

    /// Brings keys to the version of the function of this process, those of a newer one left as they are.
    ///
    /// @throws dev.onefold.core.codec.ShapeException if a context cannot be read by this version
    public static void upgrade(Store store, Definition definition, List<byte[]> keys) {
        KeySteps.upgrade(store, definition, keys);
    }

    /// The function of this process.
    ///
    /// @throws IllegalStateException if there is none, or it does not write what the definition says
    public static UserFunction of(Store store, Pipeline served) {
        UserFunction function = store.function()
                .orElseThrow(() -> new IllegalStateException("Pipeline " + served.name()
                        + " has a function, and this process was given no jar that has it. On the command line, name the"
                        + " pipeline file beside the jar."));
        Pipeline here = function.loaded().pipeline();
        String difference = served.fold() instanceof Processing before
                ? otherThan(served, here, before, function.loaded().processing())
                : "it has no function";
        if (difference != null) {
            throw new IllegalStateException("The function of this process is not one for pipeline " + served.name()
                    + " as it is deployed: " + difference);
        }
        return function;
    }
}
