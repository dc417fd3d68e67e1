package dev.onefold.aws.store;

import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.process.StepFunction;
import dev.onefold.core.process.StepFunction.Caller;
import dev.onefold.core.process.StepFunction.Impurity;
import java.util.Deque;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/// The user's function, as this process calls it. Any thread may call.
public final class UserFunction {
    private final LoadedFunction loaded;
    private final Supplier<Caller> callers;
    private final Consumer<Impurity> impurities;
    private final Deque<StepFunction> idle = new ConcurrentLinkedDeque<>();

    /// @param callers makes a caller for each thread
    /// @param impurities is told of calls that a sample found to be impure
    public UserFunction(LoadedFunction loaded, Supplier<Caller> callers, Consumer<Impurity> impurities) {
        this.loaded = loaded;
        this.callers = callers;
        this.impurities = impurities;
    }

    /// The pipeline, its function and what was found of it.
    public LoadedFunction loaded() {
        return loaded;
    }

    /// Does something with the function, which nobody else uses meanwhile.
    public <T> T use(Function<StepFunction, T> action) {
        StepFunction mine = idle.poll();
        if (mine == null) {
            mine = new StepFunction(loaded, callers.get(), impurities);
        }
        try {
            return action.apply(mine);
        } finally {
            idle.push(mine);
        }
    }
}
