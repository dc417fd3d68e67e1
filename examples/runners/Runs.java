package com.example;

import dev.onefold.process.Field;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/// Three tables from the messages of runners' watches: figures of each run, whether the runner becomes faster, and the
/// messages themselves. A message says how far a run has come, so the figures of a run depend on the order of its
/// messages: its first one, the last leg and the leg before.
public final class Runs implements Processor<Runs.Watch, Runs.Message> {
    /// What is known of a runner: the run that is under way.
    public record Watch(Optional<Run> run) {}

    /// A run that is under way. The last leg lies between its last two messages.
    public record Run(
            int id, Instant since, Instant at, long metres, int messages, Tendency now, Optional<Leg> leg) {}

    /// A part of a run, between two messages.
    public record Leg(long metres, long seconds) {
        /// Compares the speeds without a fraction: a difference below 5 % is none.
        Tendency after(Leg before) {
            long mine = 100 * metres * before.seconds;
            long other = 100 * before.metres * seconds;
            return mine * 20 > other * 21 ? Tendency.FASTER : mine * 21 < other * 20 ? Tendency.SLOWER : Tendency.STEADY;
        }
    }

    /// How a runner's speed changes from leg to leg.
    public enum Tendency {
        STARTED,
        FASTER,
        STEADY,
        SLOWER
    }

    /// A message: how far a run has come.
    public record Message(
            @Field("user_id") String user,
            String club,
            @Field("run_id") int run,
            @Field("sequence_id") long number,
            @Field("timestamp_utc") Instant at,
            @Field("distance_meters") long metres) {}

    /// A row of `stats`.
    public record Stats(
            @Field("user_id") String user,
            @Field("run_id") int run,
            String club,
            long metres,
            long seconds,
            int messages) {}

    /// A row of `tendency`.
    public record Trend(@Field("user_id") String user, Tendency now, Tendency before, Instant since) {}

    /// A row of `messages`.
    public record Received(
            @Field("user_id") String user,
            @Field("sequence_id") long number,
            @Field("run_id") int run,
            Instant at,
            long metres) {}

    @Override
    public Watch start() {
        return new Watch(Optional.empty());
    }

    @Override
    public Step<Watch> step(Watch watch, Message message) {
        Run before = watch.run().filter(run -> run.id() == message.run()).orElse(null);
        Run run = before == null
                ? new Run(
                        message.run(),
                        message.at(),
                        message.at(),
                        message.metres(),
                        1,
                        Tendency.STARTED,
                        Optional.empty())
                : next(before, message);
        Step<Watch> step = Step.to(new Watch(Optional.of(run)))
                .put("messages", new Received(
                        message.user(), message.number(), message.run(), message.at(), message.metres()))
                .put("stats", new Stats(
                        message.user(),
                        message.run(),
                        message.club(),
                        run.metres(),
                        run.at().getEpochSecond() - run.since().getEpochSecond(),
                        run.messages()));
        Tendency last = watch.run().map(Run::now).orElse(Tendency.STARTED);
        return before != null && run.now() == last
                ? step
                : step.put("tendency", new Trend(message.user(), run.now(), last, message.at()));
    }

    private static Run next(Run run, Message message) {
        Leg leg = new Leg(
                message.metres() - run.metres(), message.at().getEpochSecond() - run.at().getEpochSecond());
        return new Run(
                run.id(),
                run.since(),
                message.at(),
                message.metres(),
                run.messages() + 1,
                run.leg().map(leg::after).orElse(run.now()),
                Optional.of(leg));
    }

    @Override
    public Map<String, Class<? extends Record>> tables() {
        return Map.of("stats", Stats.class, "tendency", Trend.class, "messages", Received.class);
    }
}
