package dev.onefold.test;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.process.Field;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// Functions over the laps of runners, right and wrong ones.
final class Laps {
    private Laps() {}

    /// A lap of a runner.
    public record Lap(@Field("k") String runner, @Field("v") int number, int seconds) {}

    /// The best lap and the last one.
    public record Times(int laps, Optional<Integer> best, int last) {}

    /// A row of table `laps`.
    public record LapRow(@Field("k") String runner, int lap, int seconds, boolean faster) {}

    /// A row of table `best`.
    public record Best(@Field("k") String runner, int laps, int seconds) {}

    /// It depends on the order of the laps: each is compared with the one before.
    public static class Ordered implements Processor<Times, Lap> {
        @Override
        public Times start() {
            return new Times(0, Optional.empty(), 0);
        }

        @Override
        public Step<Times> step(Times times, Lap lap) {
            if (lap.seconds() < 0) {
                throw new IllegalArgumentException("A lap takes time");
            }
            int best = Math.min(times.best().orElse(lap.seconds()), lap.seconds());
            return Step.to(new Times(times.laps() + 1, Optional.of(best), lap.seconds()))
                    .put("laps", new LapRow(lap.runner(), lap.number(), lap.seconds(), lap.seconds() < times.last()))
                    .put("best", new Best(lap.runner(), times.laps() + 1, best));
        }
    }

    /// Its steps may be exchanged.
    public static final class Commuting extends Ordered {
        @Override
        public Step<Times> step(Times times, Lap lap) {
            int best = Math.min(times.best().orElse(lap.seconds()), lap.seconds());
            return Step.to(new Times(times.laps() + 1, Optional.of(best), 0))
                    .put("best", new Best(lap.runner(), times.laps() + 1, best));
        }
    }

    /// Its result depends on the newest event alone.
    public static final class Newest extends Ordered {
        @Override
        public Step<Times> step(Times times, Lap lap) {
            return Step.to(new Times(lap.number(), Optional.empty(), lap.seconds()))
                    .put("best", new Best(lap.runner(), lap.number(), lap.seconds()));
        }
    }

    /// It counts its own calls.
    public static final class Impure extends Ordered {
        private int calls;

        @Override
        public Step<Times> step(Times times, Lap lap) {
            return super.step(times, new Lap(lap.runner(), lap.number(), lap.seconds() + calls++));
        }
    }

    /// It remembers the first runner that it has seen.
    public static final class Remembering extends Ordered {
        private String first = "";

        @Override
        public Step<Times> step(Times times, Lap lap) {
            first = first.isEmpty() ? lap.runner() : first;
            return super.step(times, new Lap(lap.runner(), lap.number(), lap.seconds() + (first.equals("a") ? 0 : 1)));
        }
    }

    /// The context as it was in version 1.
    public record OldTimes(int laps, String best) {}

    /// Version 1 of the function.
    public static final class Old implements Processor<OldTimes, Lap> {
        @Override
        public OldTimes start() {
            return new OldTimes(0, "");
        }

        @Override
        public Step<OldTimes> step(OldTimes times, Lap lap) {
            int best = times.best().isEmpty()
                    ? lap.seconds()
                    : Math.min(lap.seconds(), new BigDecimal(times.best()).intValueExact());
            return Step.to(new OldTimes(times.laps() + 1, String.valueOf(best)))
                    .put("best", new Best(lap.runner(), -1, best));
        }
    }

    /// Version 2 of it: it reads the contexts of version 1.
    public static final class New extends Ordered {
        @Override
        public Times upgrade(int fromVersion, dev.onefold.process.Stored context) {
            return new Times(
                    context.number("laps").orElseThrow().intValueExact(),
                    context.text("best").filter(best -> !best.isEmpty()).map(Integer::valueOf),
                    0);
        }
    }

    /// The function behind a pipeline.
    ///
    /// @param settings of the section `process`, as JSON
    static LoadedFunction loaded(Processor<?, ?> function, String settings) {
        String text = "{\"pipeline\":\"laps\",\"input\":{\"key\":\"k\",\"version\":\"v\"},\"process\":{\"class\":\""
                + function.getClass().getName() + "\"," + settings
                + ",\"tables\":{\"laps\":[\"k\",\"lap\"],\"best\":\"k\"}}}";
        return switch (PipelineText.read(text)) {
            case Reading.Read(var pipeline) -> LoadedFunction.of(pipeline, function);
            case Reading.Refused refused -> throw new IllegalStateException(refused.toString());
        };
    }

    /// Laps of runner `a` and a few of runner `b`.
    static List<String> records(int count) {
        return IntStream.rangeClosed(1, count)
                .boxed()
                .flatMap(lap -> IntStream.rangeClosed(0, lap % 3 == 0 ? 1 : 0)
                        .mapToObj(runner -> record(runner == 0 ? "a" : "b", lap, 60 + lap * 7 % 11)))
                .toList();
    }

    static String record(String runner, int lap, int seconds) {
        return "{\"k\":\"" + runner + "\",\"v\":" + lap + ",\"seconds\":" + seconds + "}";
    }
}
