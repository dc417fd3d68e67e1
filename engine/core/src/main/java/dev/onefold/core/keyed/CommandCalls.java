package dev.onefold.core.keyed;

import dev.onefold.core.bytes.BytesOut;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.codec.ShapeException;
import dev.onefold.core.codec.StoredRecord;
import dev.onefold.core.event.Tuple;
import dev.onefold.core.event.TypedJson;
import dev.onefold.core.pipeline.Processing;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.process.CommandFunction;
import dev.onefold.core.process.CommandFunction.NoAnswerException;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Step;
import dev.onefold.process.Write;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// The calls of a function that is a command. The function is pure, so it may be called for many events before they
/// are folded, in one line, and a result is known by the arguments of its call. An event that is folded onto another
/// context than was expected is asked for alone. So is each event of a line that was not answered whole: an event
/// that ends the process, or has no answer, takes no other one with it. Not thread-safe.
final class CommandCalls {
    private static final int TRIES = 2; // The first process may have ended for a reason of its own.
    private static final int AHEAD_MIN = 16;
    private static final int AHEAD_MAX = 512;
    private static final int AHEAD_BYTES_MAX = 4 << 20; // Of their answers, which are in memory until they are used.

    private final CommandFunction function;
    private final byte[] start;
    private final TypedJson context;
    private final TypedJson event;
    private final Map<String, TypedJson> rows = new HashMap<>();
    private final Map<String, TypedJson> keys = new HashMap<>();
    private final Map<Arguments, Answer> known = new HashMap<>();
    private final Map<Arguments, Answer> refolded = new HashMap<>();
    private int aheadMax = AHEAD_MIN;
    private final BytesOut line = new BytesOut();

    private record Arguments(Tuple context, Tuple content) {
        Arguments(byte[] context, byte[] content) {
            this(new Tuple(context), new Tuple(content));
        }
    }

    /// The answer to a call.
    private sealed interface Answer {
        record Stepped(Step<StoredRecord> step) implements Answer {}

        record Threw(String why) implements Answer {}
    }

    CommandCalls(CommandFunction function, Processing processing, byte[] start) {
        this.function = function;
        this.start = start;
        context = new TypedJson(function.context().type());
        event = new TypedJson(function.event().type());
        Map<String, Codec<Record>> types = function.tables();
        types.forEach((table, codec) -> rows.put(table, new TypedJson(codec.type())));
        for (Processing.Table table : processing.tables()) {
            Type.Fields row = Objects.requireNonNull(types.get(table.name())).type();
            keys.put(
                    table.name(),
                    new TypedJson(new Type.Fields(table.key().stream()
                            .map(name -> row.named(name).orElseThrow())
                            .toList())));
        }
    }

    /// The number of events that may be in chains now. It grows while their answers are small.
    int aheadMax() {
        return aheadMax;
    }

    /// Calls the function for chains of events, as far as it answers, and keeps the results in the place of those
    /// that were kept before.
    void ahead(List<StepFunction.Chain> chains) {
        long bytes = ask(chains, known);
        aheadMax = bytes > AHEAD_BYTES_MAX ? Math.max(1, aheadMax / 2) : Math.min(AHEAD_MAX, aheadMax * 2);
    }

    /// The same for the events that a late one folds again, beside the results that are kept.
    void refold(StepFunction.Chain chain) {
        ask(List.of(chain), refolded);
    }

    /// @return bytes of the answers
    private long ask(List<StepFunction.Chain> chains, Map<Arguments, Answer> results) {
        results.clear();
        Answers answers = new Answers(chains, results);
        try {
            function.processes().ask(request(chains), answers::take);
        } catch (NoAnswerException | ShapeException unanswered) {
            results.clear(); // Who knows which one is missing? Each call is made alone.
        }
        return answers.bytes;
    }

    /// The result of a call.
    ///
    /// @param again whether it is called again, although the result is known
    /// @throws ShapeException saying why the function has failed
    /// @throws StepFunction.OverrunException if it did not return in time
    Step<?> step(byte[] before, byte[] content, boolean again) {
        Answer answer = again ? null : found(new Arguments(before, content));
        return switch (answer == null ? alone(before, content) : answer) {
            case Answer.Stepped(Step<StoredRecord> step) -> step;
            case Answer.Threw(String why) -> throw new ShapeException(why);
        };
    }

    private @Nullable Answer found(Arguments arguments) {
        Answer answer = known.get(arguments);
        return answer == null ? refolded.get(arguments) : answer;
    }

    private Answer alone(byte[] before, byte[] content) {
        List<StepFunction.Chain> chain = List.of(new StepFunction.Chain(before, List.of(content)));
        byte[] request = request(chain);
        String why = "";
        for (int i = 0; i < TRIES; i++) {
            Answers answers = new Answers(chain, new HashMap<>());
            try {
                function.processes().ask(request, answers::take);
                return answers.last();
            } catch (NoAnswerException e) {
                why = String.valueOf(e.getMessage());
                if (e.isOverrun()) {
                    throw new StepFunction.OverrunException("The function did not return within 1 s");
                }
            } catch (ShapeException e) {
                why = "has answered wrongly: " + e.getMessage();
            }
        }
        return new Answer.Threw(
                "The process of the function " + why + ". Another process did the same with this event");
    }

    private byte[] request(List<StepFunction.Chain> chains) {
        line.clear();
        text("{\"steps\":[");
        String separator = "[";
        for (StepFunction.Chain chain : chains) {
            text(separator);
            context(chain.context());
            for (byte[] content : chain.contents()) {
                line.octet(',');
                event.write(content, 1, null, line);
            }
            separator = "],[";
        }
        text(chains.isEmpty() ? "]}" : "]]}");
        return line.toBytes();
    }

    private void context(byte[] some) {
        try {
            context.write(some, 0, start, line);
        } catch (ShapeException e) {
            throw new IllegalStateException("The context of a key cannot be read: " + e.getMessage(), e);
        }
    }

    private void text(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        line.raw(bytes, 0, bytes.length);
    }

    /// Reads the answers to chains, in their order.
    private final class Answers {
        private final List<StepFunction.Chain> chains;
        private final Map<Arguments, Answer> results;
        private long bytes;
        private int chain;
        private int at;
        private byte[] before;
        private @Nullable Answer last;
        private boolean isBehindRefused;

        Answers(List<StepFunction.Chain> chains, Map<Arguments, Answer> results) {
            this.chains = chains;
            this.results = results;
            before = chains.getFirst().context();
        }

        Answer last() {
            if (last == null) {
                throw new ShapeException("it has no answer");
            }
            return last;
        }

        /// Takes a line; returns whether the answer is whole.
        ///
        /// @throws ShapeException if it is not an answer, or one more than was asked for
        boolean take(byte[] answer) {
            TypedJson.Items items = TypedJson.Items.of(answer, "answers");
            bytes += answer.length;
            boolean isEmpty = true;
            while (items.next()) {
                if (chain == chains.size()) {
                    throw new ShapeException("it has more answers than events");
                }
                one(items);
                isEmpty = false;
            }
            if (isEmpty) {
                throw new ShapeException("it has no answer");
            }
            return chain == chains.size();
        }

        /// The program goes on with the context that it has answered, also where that answer cannot be
        /// stored. So what follows in such a chain is no result of a call that we know: each of its events
        /// is asked for alone.
        private void one(TypedJson.Items item) {
            StepFunction.Chain current = chains.get(chain);
            boolean isFailure = item.first() == '"';
            Answer answer = isFailure ? new Answer.Threw("The function failed: " + item.text()) : stepped(item.items());
            if (!isBehindRefused) {
                results.put(new Arguments(before, current.contents().get(at)), answer);
            }
            last = answer;
            if (answer instanceof Answer.Stepped(Step<StoredRecord> step)) {
                before = step.context().bytes();
            } else if (!isFailure) {
                isBehindRefused = true;
            }
            if (++at == current.contents().size()) {
                at = 0;
                chain++;
                isBehindRefused = false;
                before = chain == chains.size() ? before : chains.get(chain).context();
            }
        }

        private Answer stepped(TypedJson.Items parts) {
            try {
                if (!parts.next()) {
                    throw new ShapeException("an answer has no context");
                }
                StoredRecord next = new StoredRecord(parts.record(context));
                List<Write> writes = new ArrayList<>();
                while (parts.next()) {
                    writes.add(write(parts.items()));
                }
                return new Answer.Stepped(new Step<>(next, writes));
            } catch (ShapeException e) {
                return new Answer.Threw("The function's result cannot be stored: " + e.getMessage());
            }
        }

        private Write write(TypedJson.Items parts) {
            String kind = parts.next() ? parts.text() : "";
            String table = parts.next() ? parts.text() : "";
            TypedJson type = (kind.equals("remove") ? keys : rows).get(table);
            if (!kind.equals("put") && !kind.equals("remove") || !parts.next()) {
                throw new ShapeException("a write is [\"put\", table, row] or [\"remove\", table, key], and there is '"
                        + kind + "' with '" + table + "'");
            }
            if (type == null) {
                throw new ShapeException(
                        "There is no table " + table + "; there is " + String.join(", ", keys.keySet()));
            }
            StoredRecord found = new StoredRecord(parts.record(type));
            return kind.equals("put") ? new Write.Put(table, found) : new Write.Remove(table, values(found));
        }
    }

    private static List<Object> values(StoredRecord key) {
        List<Object> values = new ArrayList<>();
        for (Value value : Value.read(key.bytes()).components().values()) {
            values.add(
                    switch (value) {
                        case Value.Flag(boolean flag) -> flag;
                        case Value.Whole(long number, boolean _) -> number;
                        case Value.Decimal(var number) -> number;
                        case Value.Text(String text, boolean _) -> text;
                        case Value.Time(var time) -> time;
                        case Value.Date(var date) -> date;
                        case Value.Absent _, Value.Span _, Value.Items _, Value.Fields _ ->
                            throw new ShapeException("A part of a key is " + value.toJson());
                    });
        }
        return values;
    }
}
