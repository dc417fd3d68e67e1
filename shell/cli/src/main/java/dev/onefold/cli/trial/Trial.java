package dev.onefold.cli.trial;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.Connection;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.call.Reason;
import dev.onefold.cli.deploy.Board;
import dev.onefold.cli.deploy.Services;
import dev.onefold.cli.run.StopRequest;
import dev.onefold.cli.show.Words;
import dev.onefold.cli.verbs.Sides;
import dev.onefold.cli.verbs.Totals;
import dev.onefold.core.Engine;
import dev.onefold.core.EngineException;
import dev.onefold.core.pipeline.Rollup;
import dev.onefold.core.pipeline.Rollups;
import dev.onefold.core.query.Query;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.SdkException;

/// One trial: makes a deployment, feeds it while its totals are shown beside those that are right, waits until
/// all is in, compares, says its cost, and deletes all that it has made: whether it came to its end, was
/// stopped, or failed. Is not thread-safe; the producer has a thread of its own.
final class Trial {
    private static final Duration POLL = Duration.ofSeconds(2);
    private static final Duration POLL_LOCAL = Duration.ofMillis(500);
    private static final Duration HELD = Duration.ofDays(7);
    private static final Duration LOOK_EACH = Duration.ofSeconds(2);
    private static final Duration FLOW_OVER = Duration.ofMinutes(1);
    private static final Duration DRAIN_MAX = Duration.ofMinutes(20);
    private static final Duration COUNTING_MAX = Duration.ofMinutes(3);
    private static final int GROUPS_SHOWN_MAX = 12;
    private static final int DIFFERENCES_MAX = 20;
    private static final int LINES_AROUND = 8;

    private final Caller caller;
    private final Board board;
    private final Services services;
    private final TrialSettings settings;
    private final StopRequest stop;
    private final Store store;
    private final Instant begun = Instant.now();
    private final SequencedMap<String, Totals> served = new LinkedHashMap<>();
    private Figures.@Nullable Flow flow;

    /// The code to deploy.
    record Code(Path archive, String template) {}

    Trial(Caller caller, Board board, Services services, TrialSettings settings, StopRequest stop) {
        this.caller = caller;
        this.board = board;
        this.services = services;
        this.settings = settings;
        this.stop = stop;
        store = Connection.store(Store.Tables.of(settings.name()), services.place());
    }

    /// Does all of it.
    ExitCode run(Code code, TrialLoad load) {
        TrialStack stack = new TrialStack(
                services,
                settings.name(),
                TrialStack.newBucket(settings.name()),
                services.place().endpoint() == null ? POLL : POLL_LOCAL,
                board::step);
        RuntimeException failure = null;
        ExitCode result = ExitCode.DIFFERENT;
        try {
            result = compared(stack, code, load);
        } catch (StopRequest.Stopped stopped) {
            board.say("Stopped.");
            result = stop.exitCodeUnfinished();
        } catch (CommandFailure | EngineException e) {
            failure = e;
        } catch (SdkException e) {
            failure = new CommandFailure(ExitCode.DIRECTORY, "A service failed: " + Reason.of(e), e);
        } finally {
            board.endStep();
            if (stack.isBegun() && !settings.keeps()) {
                result = removed(stack, result);
            }
        }
        if (!stack.isBegun() && failure == null) {
            board.say("Nothing was made.");
        } else if (stack.isBegun() && settings.keeps()) {
            sayKept(failure != null || stop.isMade());
        }
        if (failure != null) {
            throw failure;
        }
        return result;
    }

    private ExitCode removed(TrialStack stack, ExitCode result) {
        List<String> left = stack.remove("Deleting what was made", List.of(stack.bucket()));
        if (left.isEmpty()) {
            board.say("All that was made is deleted.");
            return result;
        }
        board.sayLeft(left);
        if (!settings.isLocal()) {
            caller.note("It costs as long as it is there. 'onefold aws clean " + settings.name() + "' tries again.");
        }
        return result == ExitCode.DONE ? ExitCode.DIFFERENT : result;
    }

    private void sayKept(boolean isUndone) {
        if (settings.isLocal() && isUndone) {
            board.say("Nothing is kept: the servers that stand in for AWS end with this trial.");
            return;
        }
        board.say(
                "What was made of the stack " + settings.name() + " is kept: 'onefold aws query PIPELINE --deployment "
                        + settings.name() + "' asks it, and 'onefold aws clean " + settings.name() + "' deletes it.");
        if (settings.isLocal()) {
            board.say("It is at " + services.place().endpoint()
                    + " (--endpoint, --region eu-central-1, AWS_ACCESS_KEY_ID=OPERATOR,"
                    + " AWS_SECRET_ACCESS_KEY=secret).");
        }
    }

    /// Keeps what stands in for AWS until somebody wants it to end, if the trial is to be kept and nobody has
    /// stopped it.
    void hold() {
        if (settings.keeps() && !stop.isMade()) {
            board.say("Ctrl-C ends it.");
            stop.pause(HELD);
        }
    }

    private ExitCode compared(TrialStack stack, Code code, TrialLoad load) {
        long startNanos = System.nanoTime();
        Map<String, String> outputs = stack.make(code, settings.all(), stop);
        board.say("The stack " + settings.name() + " is there after "
                + Words.duration(Duration.ofNanos(System.nanoTime() - startNanos)) + ".");
        Figures figures = new Figures(services.metrics(), settings.name(), outputs);
        StreamLoad.Moment last = feed(outputs, load, figures);
        drain(outputs, figures, last);
        ExitCode compared = compare(last);
        bill(figures, last);
        return compared;
    }

    /// Puts the load, and shows how far both sides are.
    private StreamLoad.Moment feed(Map<String, String> outputs, TrialLoad load, Figures figures) {
        String stream = outputs.getOrDefault("InputStreamName", "");
        long startNanos = System.nanoTime();
        try (StreamLoad producing = new StreamLoad(load, settings, services.streams(), stream, stop)) {
            while (true) {
                stop.check();
                StreamLoad.Moment moment = producing.moment();
                look(figures);
                Duration elapsed = Duration.ofNanos(System.nanoTime() - startNanos);
                show(
                        moment,
                        "Putting " + Words.count(settings.amount().records(), "record") + ": "
                                + Words.count(moment.put()) + " after " + Words.duration(elapsed) + ", "
                                + Words.rate(moment.put(), elapsed) + ".");
                if (moment.isDone()) {
                    return moment;
                }
                stop.pause(LOOK_EACH);
            }
        }
    }

    private void drain(Map<String, String> outputs, Figures figures, StreamLoad.Moment last) {
        Drain drain = new Drain(services, outputs, store, this::engine);
        long deadline = System.nanoTime() + DRAIN_MAX.toNanos();
        while (!drain.isDone()) {
            stop.check();
            if (System.nanoTime() > deadline) {
                throw new CommandFailure(
                        ExitCode.DIFFERENT,
                        "After " + Words.duration(DRAIN_MAX) + " records were still on their way. See the logs of State"
                                + " and Reduce, with --keep.");
            }
            look(figures);
            show(
                    last,
                    "All " + Words.count(last.put(), "record")
                            + " are put. Waiting until all of them are in the totals.");
            stop.pause(LOOK_EACH);
        }
        long aside = drain.aside();
        if (aside > 0) {
            board.say("About " + Words.count(aside, "message")
                    + " were put aside in the queue RetriesAside: the records that they name are not in the totals.");
        }
    }

    /// The deployed engine; empty until the first batch has come.
    private Optional<Engine> engine() {
        return AwsEngine.isDeployed(store) ? Optional.of(AwsEngine.deployed(store)) : Optional.empty();
    }

    /// Reads the totals, if there are some.
    private void read() {
        Optional<Engine> found = engine();
        if (found.isPresent()) {
            try (Engine engine = found.get()) {
                for (Rollup rollup : Rollups.of(settings.pipeline()).all()) {
                    served.put(rollup.name(), engine.query(Query.all(rollup.name()), Totals::of));
                }
            }
        }
    }

    /// Reads what the engine has, and what CloudWatch has counted.
    private void look(Figures figures) {
        if (!board.isDrawn() && !board.isLineDue()) {
            return;
        }
        read();
        Instant now = Instant.now();
        Instant from = now.minus(FLOW_OVER);
        flow = figures.flow(from.isBefore(begun) ? begun : from, now);
    }

    private void show(StreamLoad.Moment moment, String title) {
        if (board.isDrawn()) {
            board.draw(picture(moment, title));
        } else if (board.isLineDue()) {
            board.line(
                    title + " " + sides(moment).stream().map(Trial::inOneLine).reduce("", String::concat) + flowText());
        }
    }

    private List<String> picture(StreamLoad.Moment moment, String title) {
        int width = caller.screen().outWidth();
        List<String> lines = new ArrayList<>(Words.wrap(title, width).lines().toList());
        lines.add("");
        List<Sides> sides = sides(moment);
        int room = Math.clamp(caller.screen().height() - LINES_AROUND, 1, GROUPS_SHOWN_MAX) / sides.size();
        for (Sides each : sides) {
            lines.addAll(each.lines(caller.screen(), Math.max(1, room), false));
        }
        lines.add("");
        lines.addAll(
                Words.wrap(flowText() + "Ctrl-C ends it" + (settings.keeps() ? "." : ", and deletes all of it."), width)
                        .lines()
                        .toList());
        return lines;
    }

    private List<Sides> sides(StreamLoad.Moment moment) {
        List<Sides> sides = new ArrayList<>();
        boolean alone = moment.right().size() == 1;
        moment.right()
                .forEach((rollup, right) -> sides.add(new Sides(
                        alone ? "" : rollup, served.getOrDefault(rollup, Totals.none(right.measures())), right)));
        return sides;
    }

    /// The grand total of both sides.
    private static String inOneLine(Sides sides) {
        List<String> parts = new ArrayList<>();
        for (int i = 0; i < sides.engine().measures().size(); i++) {
            parts.add(sides.engine().measures().get(i) + " "
                    + Words.number(sides.engine().value(List.of(), i)) + " of "
                    + Words.number(sides.right().value(List.of(), i)));
        }
        return "In the totals: " + String.join(", ", parts) + ". ";
    }

    private String flowText() {
        Figures.Flow now = flow;
        if (now == null || now.records() == 0 && !now.hasDelay()) {
            return "No figures of CloudWatch yet. ";
        }
        String delay = now.hasDelay()
                ? " Delay until visible: mean " + seconds(now.delayMsMean()) + ", p99 " + seconds(now.delayMsP99())
                        + ", longest " + seconds(now.delayMsMax()) + "."
                : "";
        return "In the last minute State took " + Words.count(now.records()) + " records/s." + delay + " "
                + Words.count(now.injected(), "failure") + " on purpose. ";
    }

    private static String seconds(long ms) {
        return Words.duration(Duration.ofMillis(ms));
    }

    private ExitCode compare(StreamLoad.Moment last) {
        read();
        Comparison comparison = new Comparison(sides(last), List.of());
        board.say("");
        comparison.lines(caller.screen(), GROUPS_SHOWN_MAX * 2).forEach(caller::printLine);
        board.say("");
        if (comparison.isEqual()) {
            board.say("equal: all " + Words.count(comparison.groups(), "group") + " after "
                    + Words.count(last.put(), "record") + ".");
        }
        comparison.differences(DIFFERENCES_MAX).forEach(board::say);
        return comparison.exitCode();
    }

    /// CloudWatch counts late, so it is given some time.
    private void bill(Figures figures, StreamLoad.Moment last) {
        long deadline = System.nanoTime() + COUNTING_MAX.toNanos();
        Figures.Usage usage = figures.usage(begun, Instant.now());
        while (usage.records() < last.put() && System.nanoTime() < deadline && !stop.isMade()) {
            board.step("Waiting until CloudWatch has counted it all: " + Words.count(usage.records()) + " of "
                    + Words.count(last.put(), "record"));
            stop.pause(Duration.ofSeconds(10));
            usage = figures.usage(begun, Instant.now());
        }
        board.say(Words.count(usage.injected(), "invocation") + " failed on purpose.");
        Duration time = Duration.between(begun, Instant.now());
        board.say("What " + Words.duration(time) + " of it cost, by what CloudWatch has counted, at list prices of"
                + " us-east-1:");
        Prices.bill(usage, last.sent(), time, caller.screen().width()).forEach(caller::printLine);
        board.say("Logs, and requests to queues and buckets, are not in it; they are below a cent."
                + (usage.records() < last.put() ? " CloudWatch had not counted all of it yet." : ""));
    }
}
