package dev.onefold.test;

import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.keyed.StepFunction;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import dev.onefold.test.Failure.Kind;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Calls a function twice for each step, and remembers what it returned: the same arguments have to give the same
/// result, also in another life, where other calls went before. Not thread-safe.
final class Calls implements StepFunction.Caller {
    private static final int REMEMBERED_MAX = 50_000;

    private final Map<Arguments, Outcome> remembered = new HashMap<>();
    private @Nullable Failure mistake;

    private record Arguments(Tuple context, Tuple content) {}

    /// The outcome of a call: a step, or the throwable that the call threw.
    private record Outcome(@Nullable Step<?> step, @Nullable Throwable thrown) {
        static Outcome of(Supplier<Step<?>> function) {
            try {
                return new Outcome(function.get(), null);
            } catch (RuntimeException | StackOverflowError | LinkageError | AssertionError e) {
                return new Outcome(null, e);
            }
        }

        boolean isOverrun() {
            return thrown instanceof StepFunction.OverrunException;
        }

        boolean isSame(Outcome other) {
            return step != null && step.equals(other.step) || text().equals(other.text());
        }

        String text() {
            if (thrown != null) {
                return "throws " + thrown.getClass().getName()
                        + Optional.ofNullable(thrown.getMessage())
                                .map(message -> ": " + message)
                                .orElse("");
            }
            if (step == null) {
                return "null";
            }
            StringBuilder text = new StringBuilder("context ").append(json(step.context()));
            for (Write write : step.writes()) {
                text.append(", ").append(write.table()).append(' ');
                switch (write) {
                    case Write.Put put -> text.append(json(put.row()));
                    case Write.Remove remove -> text.append("without ").append(remove.key());
                }
            }
            return text.toString();
        }

        @SuppressWarnings("unchecked") // The codec is of the record's own class.
        private static String json(Record some) {
            try {
                return Value.read(((Codec<Record>) Codec.of(some.getClass())).encode(some))
                        .toJson();
            } catch (ShapeException e) {
                return some.toString(); // The engine refuses it, and says why.
            }
        }

        @SuppressWarnings("NullAway") // The supplier's null is the function's, and is refused by its caller.
        Step<?> get() {
            switch (thrown) {
                case null -> {
                    return step;
                }
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new IllegalStateException(thrown);
            }
        }
    }

    @Override
    public Step<?> call(Supplier<Step<?>> function) {
        return Outcome.of(function).get();
    }

    @Override
    public Step<?> call(byte[] context, byte[] content, Supplier<Step<?>> function) {
        Outcome first = Outcome.of(function);
        Outcome second = Outcome.of(function);
        Arguments arguments = new Arguments(new Tuple(context), new Tuple(content));
        if (first.isOverrun() || second.isOverrun()) {
            note(Kind.SLOW, arguments, "");
            return first.get();
        }
        Outcome before = remembered.get(arguments);
        if (before == null && remembered.size() < REMEMBERED_MAX) {
            remembered.put(arguments, first);
        }
        if (!first.isSame(second)) {
            note(Kind.IMPURE, arguments, results(first, second));
        } else if (before != null && !before.isSame(first)) {
            note(Kind.IMPURE, arguments, results(before, first));
        }
        return first.get();
    }

    private static String results(Outcome first, Outcome second) {
        return "first    " + first.text() + "\nsecond   " + second.text() + "\n";
    }

    private void note(Kind kind, Arguments arguments, String results) {
        if (mistake == null) {
            byte[] content = arguments.content.bytes();
            mistake = new Failure(
                    kind,
                    "context  " + Value.read(arguments.context.bytes()).toJson() + "\nevent    "
                            + Value.read(Arrays.copyOfRange(content, 1, content.length))
                                    .toJson()
                            + "\n" + results);
        }
    }

    /// The first call that took too long, or two different results of equal arguments; empty if there was neither.
    Optional<Failure> mistake() {
        return Optional.ofNullable(mistake);
    }
}
