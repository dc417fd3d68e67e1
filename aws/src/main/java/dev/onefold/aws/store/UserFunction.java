package dev.onefold.aws.store;

import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.keyed.StepFunction.Caller;
import dev.onefold.core.process.Impurity;
import dev.onefold.core.process.LoadedFunction;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The user's function, as this process calls it. Any thread may call.
public final class UserFunction {
    private final Supplier<LoadedFunction> loading;
    private final Supplier<Caller> callers;
    private final Consumer<Impurity> impurities;
    private final Deque<StepFunction> idle = new ConcurrentLinkedDeque<>();
    private @Nullable LoadedFunction loaded; // Once it was asked for.

    /// @param loading loads the function when it is asked for first
    /// @param callers makes a caller for each thread
    /// @param impurities gets each call that a sample found to be impure
    public UserFunction(Supplier<LoadedFunction> loading, Supplier<Caller> callers, Consumer<Impurity> impurities) {
        this.loading = loading;
        this.callers = callers;
        this.impurities = impurities;
    }

    /// The pipeline, its function and what was found of it.
    public synchronized LoadedFunction loaded() {
        LoadedFunction found = loaded;
        if (found == null) {
            found = loading.get();
            loaded = found;
        }
        return found;
    }

    /// Does something with the function, which nobody else uses meanwhile.
    public <T> T use(Function<StepFunction, T> action) {
        StepFunction mine = idle.poll();
        if (mine == null) {
            mine = new StepFunction(loaded(), callers.get(), impurities);
        }
        try {
            return action.apply(mine);
        } finally {
            idle.push(mine);
        }
    }
}
