package dev.onefold.core.keyed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.bytes.VersionBytes;
import dev.onefold.core.codec.Codec;
import dev.onefold.core.event.Version;
import dev.onefold.core.process.Impurity;
import dev.onefold.core.process.KeyDifference;
import dev.onefold.core.process.KeyState;
import dev.onefold.core.process.LoadedFunction;
import dev.onefold.core.shape.Value;
import dev.onefold.process.Processor;
import dev.onefold.process.Step;
import dev.onefold.process.Stored;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// The treatment of a function that breaks the rules, and the state of a key that people see.
///
/// It is one idea: for each rule a function that breaks it.
class StepFunctionTest {
    private static final String PROCESS = "\"class\":\"X\",\"order\":\"in-order\",\"tables\":{\"t\":[\"k\",\"n\"]}";

    /// An event.
    public record Amount(int n) {}

    /// A context.
    public record Total(int total) {}

    /// A row.
    public record Row(String k, int n, int total) {}

    private static final Codec<Amount> AMOUNTS = Codec.of(Amount.class);

    /// Adds, after an action that a test gives.
    public static class Adding implements Processor<Total, Amount> {
        @Override
        public Total start() {
            return new Total(0);
        }

        @Override
        public Step<Total> step(Total total, Amount amount) {
            int next = total.total() + amount.n();
            return Step.to(new Total(next)).put("t", new Row("k", amount.n(), next));
        }
    }

    private final StoredKey stored = new StoredKey();
    private final List<Impurity> impurities = new ArrayList<>();

    private StepFunction function(String process, Processor<?, ?> processor, StepFunction.Caller caller) {
        StepFunction plain = StoredKey.function(process, "", processor);
        return new StepFunction(LoadedFunction.of(plain.pipeline(), processor), caller, impurities::add);
    }

    private String failure(Processor<?, ?> processor, StepFunction.Caller caller) {
        StoredKey key = new StoredKey();
        StepFunction function = function(PROCESS, processor, caller);
        assertThat(key.fold(function, 1, StoredKey.content(AMOUNTS, new Amount(1))))
                .isEqualTo(Verdict.REJECTED);
        assertThat(key.rows).isEmpty();
        return key.letters.getFirst().why().message();
    }

    /// Throws.
    public static final class Throwing extends Adding {
        @Override
        public Step<Total> step(Total total, Amount amount) {
            throw new IllegalStateException("no\nway");
        }
    }

    /// Returns nothing.
    public static final class Null extends Adding {
        @SuppressWarnings("NullAway") // This is what is tested.
        @Override
        public Step<Total> step(Total total, Amount amount) {
            return null;
        }
    }

    /// Writes into a table that is not there.
    public static final class Stray extends Adding {
        @Override
        public Step<Total> step(Total total, Amount amount) {
            return Step.to(total).put("other", new Row("k", 1, 1));
        }
    }

    @Test
    void hazard_69_an_event_at_which_the_function_fails_is_a_letter_that_says_why() {
        assertThat(failure(new Throwing(), StepFunction.Caller.DIRECT))
                .startsWith("The function threw java.lang.IllegalStateException: no way, at ")
                .contains("StepFunctionTest$Throwing.step");
        assertThat(failure(new Null(), StepFunction.Caller.DIRECT)).isEqualTo("The function returned null");
        assertThat(failure(new Stray(), StepFunction.Caller.DIRECT)).contains("There is no table other; there is t");
        assertThat(failure(new Adding(), _ -> {
                    throw new StepFunction.OverrunException("The function did not return within 1 s");
                }))
                .isEqualTo("The function did not return within 1 s");
    }

    /// An error whose own methods throw, too.
    public static final class Unspeakable extends Error {
        private static final long serialVersionUID = 1;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("no text");
        }

        @SuppressWarnings("NullAway") // This is what is tested.
        @Override
        public StackTraceElement[] getStackTrace() {
            return null;
        }
    }

    /// Throws the given exception, checked or not.
    public static final class Sneaky extends Adding {
        private final Throwable thrown;

        Sneaky(Throwable thrown) {
            this.thrown = thrown;
        }

        @Override
        public Step<Total> step(Total total, Amount amount) {
            throw Sneaky.<RuntimeException>unchecked(thrown);
        }

        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // So does code of other languages.
        private static <T extends Throwable> T unchecked(Throwable thrown) throws T {
            throw (T) thrown;
        }
    }

    @Test
    void hazard_69_whatever_is_thrown_is_a_letter_also_the_error_of_used_up_memory_while_there_is_memory() {
        assertThat(failure(new Sneaky(new Unspeakable()), StepFunction.Caller.DIRECT))
                .startsWith("The function threw " + Unspeakable.class.getName() + ", whose message cannot be read");
        assertThat(failure(new Sneaky(new IOException("checked")), StepFunction.Caller.DIRECT))
                .contains("java.io.IOException: checked");
        assertThat(failure(new Sneaky(new OutOfMemoryError("fake")), StepFunction.Caller.DIRECT))
                .contains("java.lang.OutOfMemoryError: fake");
        assertThat(failure(new Sneaky(new InternalError()), StepFunction.Caller.DIRECT))
                .contains("java.lang.InternalError");
        assertThat(failure(new Sneaky(new OutOfMemoryError("Java heap space")), StepFunction.Caller.DIRECT))
                .contains("java.lang.OutOfMemoryError: Java heap space");
    }

    /// Upgrades in its own way.
    public static final class Upgrading extends Adding {
        @Override
        public Total upgrade(int fromVersion, Stored context) {
            throw new IllegalStateException("not from " + fromVersion);
        }
    }

    @Test
    void an_upgrade_that_throws_or_does_not_return_is_refused_with_its_key() {
        byte[] other = Codec.of(Amount.class).encode(new Amount(1));
        String begin = "The context of key a, b, stored by version 7 of the function, cannot be read: ";
        assertThatThrownBy(() -> function(PROCESS, new Upgrading(), StepFunction.Caller.DIRECT)
                        .upgraded(List.of("a", "b"), 7, other))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith(begin + "upgrade() failed: The function threw")
                .hasMessageContaining("not from 7");
        assertThatThrownBy(() -> function(PROCESS, new Upgrading(), _ -> {
                            throw new StepFunction.OverrunException("The function did not return within 1 s");
                        })
                        .upgraded(List.of("a", "b"), 7, other))
                .hasMessage(begin + "upgrade(): The function did not return within 1 s");
    }

    @Test
    void hazard_69_the_message_of_what_is_thrown_is_read_within_the_bounded_call() {
        boolean[] inCall = new boolean[1];
        Exception thrown = new Exception() {
            private static final long serialVersionUID = 1;

            @Override
            public String getMessage() {
                return inCall[0] ? "within" : "outside";
            }
        };
        assertThat(failure(new Sneaky(thrown), supplier -> {
                    inCall[0] = true;
                    try {
                        return supplier.get();
                    } finally {
                        inCall[0] = false;
                    }
                }))
                .contains(": within");
    }

    /// Depends on more than its arguments.
    public static final class Impure extends Adding {
        private int calls;

        @Override
        public Step<Total> step(Total total, Amount amount) {
            return Step.to(new Total(++calls)).put("t", new Row("k", 1, calls));
        }
    }

    @Test
    void hazard_68_a_sample_of_calls_is_made_twice_and_a_difference_is_reported_with_both_results() {
        StepFunction impure = function(PROCESS, new Impure(), StepFunction.Caller.DIRECT);
        for (int version = 1; version <= 1_025; version++) {
            stored.fold(impure, version, StoredKey.content(AMOUNTS, new Amount(1)));
        }
        assertThat(impurities)
                .containsExactly(
                        new Impurity(
                                List.of("k"),
                                "context {\"total\":1}, t {\"k\":\"k\",\"n\":1,\"total\":1}",
                                "context {\"total\":2}, t {\"k\":\"k\",\"n\":1,\"total\":2}"),
                        new Impurity(
                                List.of("k"),
                                "context {\"total\":1026}, t {\"k\":\"k\",\"n\":1,\"total\":1026}",
                                "context {\"total\":1027}, t {\"k\":\"k\",\"n\":1,\"total\":1027}"));
    }

    @Test
    void a_call_of_the_sample_that_took_too_long_is_not_an_impure_one() {
        int[] calls = new int[1];
        StepFunction slow = function(PROCESS, new Adding(), supplier -> {
            if (++calls[0] == 2) {
                throw new StepFunction.OverrunException("The function did not return within 1 s");
            }
            return supplier.get();
        });
        fold(slow, 1);
        assertThat(calls[0]).isEqualTo(2);
        assertThat(impurities).isEmpty();
    }

    private void fold(StepFunction function, int... versions) {
        for (int version : versions) {
            stored.fold(function, version, StoredKey.content(AMOUNTS, new Amount(version)));
        }
    }

    @Test
    void people_see_context_version_and_gaps_of_a_key() {
        StepFunction function = function(PROCESS + ",\"keep\":3", new Adding(), StepFunction.Caller.DIRECT);
        fold(function, 1, 2, 3, 5);
        KeyState state = Objects.requireNonNull(stored.head()).state(function.pipeline(), StoredKey.KEY, stored);
        assertThat(state)
                .isEqualTo(new KeyState(
                        List.of("k"),
                        Version.of(function.pipeline(), VersionBytes.of(BigInteger.valueOf(5))),
                        1,
                        state.context(),
                        3,
                        Optional.of(true),
                        List.of()));
        assertThat(state.context().toJson()).isEqualTo("{\"total\":11}");
        fold(function, 4);
        assertThat(Objects.requireNonNull(stored.head())
                        .state(function.pipeline(), StoredKey.KEY, stored)
                        .hasGaps())
                .contains(false);
    }

    @Test
    void an_audit_finds_a_context_and_a_row_that_are_not_what_the_kept_events_come_to() {
        StepFunction function = function(PROCESS, new Adding(), StepFunction.Caller.DIRECT);
        fold(function, 1, 2, 4, 3);
        Head head = Objects.requireNonNull(stored.head());
        assertThat(KeyAudit.of(function, StoredKey.KEY, head, stored)).isEmpty();
        stored.rows.replaceAll((row, content) ->
                Codec.of(Row.class).encode(new Row("k", row.key().parts().get(1).charAt(0) - '0', 99)));
        assertThat(KeyAudit.of(function, StoredKey.KEY, head, stored))
                .hasSize(4)
                .first()
                .isEqualTo(new KeyDifference(
                        List.of("k"),
                        "t k, 1",
                        "{\"k\":\"k\",\"n\":1,\"total\":99}",
                        "{\"k\":\"k\",\"n\":1,\"total\":1}"));
        byte[] wrong = Codec.of(Total.class).encode(new Total(5));
        assertThat(KeyAudit.of(function, StoredKey.KEY, head.with(wrong), stored))
                .first()
                .isEqualTo(new KeyDifference(List.of("k"), "context", "{\"total\":5}", "{\"total\":10}"));
    }

    /// Its context has another type, which only the function can read.
    public static final class Renaming implements Processor<Renaming.Sum, Amount> {
        /// A context.
        public record Sum(String total) {}

        @Override
        public Sum start() {
            return new Sum("");
        }

        @Override
        public Step<Sum> step(Sum sum, Amount amount) {
            return Step.to(new Sum(sum.total() + "+" + amount.n()));
        }

        @Override
        public Sum upgrade(int fromVersion, Stored context) {
            return new Sum(fromVersion + ":" + context.number("total").orElse(BigDecimal.ZERO));
        }
    }

    /// It cannot read the old context.
    public static final class Forgetting implements Processor<Renaming.Sum, Amount> {
        @Override
        public Renaming.Sum start() {
            return new Renaming.Sum("");
        }

        @Override
        public Step<Renaming.Sum> step(Renaming.Sum sum, Amount amount) {
            return Step.to(sum);
        }
    }

    @Test
    void hazard_67_a_context_of_another_type_is_upgraded_by_the_function_or_refused_with_both_types() {
        fold(function(PROCESS, new Adding(), StepFunction.Caller.DIRECT), 1, 2);
        String raised = PROCESS + ",\"version\":2,\"on-new-version\":\"continue\"";
        assertThatThrownBy(() -> fold(function(raised, new Forgetting(), StepFunction.Caller.DIRECT), 3))
                .hasMessageContaining("The context of key k, stored by version 1")
                .hasMessageContaining("total")
                .hasMessageContaining("int")
                .hasMessageContaining("text");
        fold(function(raised, new Renaming(), StepFunction.Caller.DIRECT), 3);
        assertThat(Value.read(Objects.requireNonNull(stored.head()).context()).toJson())
                .isEqualTo("{\"total\":\"1:3+3\"}");
    }

    /// Its context has another name than that of [Adding].
    public static final class Renamed implements Processor<Renamed.All, Amount> {
        /// The total, under another name.
        public record All(int all) {}

        @Override
        public All start() {
            return new All(0);
        }

        @Override
        public Step<All> step(All all, Amount amount) {
            return Step.to(new All(all.all() + amount.n()));
        }

        @Override
        public All upgrade(int fromVersion, Stored context) {
            return new All(context.number("total").orElseThrow().intValueExact());
        }
    }

    @Test
    void hazard_67_a_function_that_upgrades_contexts_is_asked_also_where_a_component_was_renamed_only() {
        fold(function(PROCESS, new Adding(), StepFunction.Caller.DIRECT), 1, 2);
        String raised = PROCESS + ",\"version\":2,\"on-new-version\":\"continue\"";
        fold(function(raised, new Renamed(), StepFunction.Caller.DIRECT), 3);
        assertThat(Value.read(Objects.requireNonNull(stored.head()).context()).toJson())
                .isEqualTo("{\"all\":6}");
    }

    @Test
    void a_redriven_event_is_folded_where_it_is_not_in_and_never_twice() {
        for (String order : List.of("every", "in-order", "latest")) {
            StoredKey key = new StoredKey();
            String process = PROCESS.replace("in-order", order);
            byte[] one = StoredKey.content(AMOUNTS, new Amount(1));
            key.fold(function(process, new Throwing(), StepFunction.Caller.DIRECT), 1, one);
            StepFunction mended = function(process, new Adding(), StepFunction.Caller.DIRECT);
            assertThat(key.fold(mended, 1, one)).as(order).isEqualTo(Verdict.DUPLICATE);
            for (Verdict verdict : List.of(Verdict.ACCEPTED, Verdict.DUPLICATE)) {
                KeyFold fold = new KeyFold(mended, StoredKey.KEY, key.head(), key);
                assertThat(fold.fold(StoredKey.arrival(1, one, true))).as(order).isEqualTo(verdict);
                if (fold.hasChanged()) {
                    key.put(fold.change());
                }
                assertThat(key.context()).isEqualTo("{\"total\":1}");
            }
        }
    }

    /// A record of the user's whose code throws.
    public record Odd(int n) {
        public Odd {
            if (n == 2) {
                throw new AssertionError("no 2");
            }
        }

        @Override
        public int n() {
            if (n == 3) {
                throw new IllegalStateException("no 3");
            }
            return n;
        }
    }

    /// Throws exceptions that Java's compiler does not foresee, in all places of the user's code.
    public static final class Wild implements Processor<Odd, Odd> {
        @Override
        public Odd start() {
            return new Odd(0);
        }

        @Override
        public Step<Odd> step(Odd odd, Odd event) {
            switch (event.n()) {
                case 4 -> {
                    Wild.<RuntimeException>raise(new IOException("no 4"));
                    return Step.to(odd);
                }
                case 5 -> throw new Error("no 5");
                case 6 -> {
                    return Step.to(new Odd(3));
                }
                case 7 -> {
                    return otherContext();
                }
                default -> {
                    return Step.to(event);
                }
            }
        }

        @SuppressWarnings({"unchecked", "rawtypes"})
        private static Step<Odd> otherContext() {
            return (Step) Step.to(new Total(1));
        }

        @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"}) // As other languages throw.
        private static <T extends Throwable> void raise(Throwable thrown) throws T {
            throw (T) thrown;
        }
    }

    @Test
    void whatever_code_of_the_user_throws_its_event_is_a_letter_and_the_key_goes_on() {
        for (String order : List.of("every", "in-order", "latest")) {
            StoredKey key = new StoredKey();
            StepFunction function =
                    function(PROCESS.replace("in-order", order), new Wild(), StepFunction.Caller.DIRECT);
            for (int n = 2; n <= 7; n++) {
                assertThat(key.fold(function, n, StoredKey.content(AMOUNTS, new Amount(n))))
                        .as("event %s", n)
                        .isEqualTo(Verdict.REJECTED);
            }
            assertThat(key.fold(function, 8, StoredKey.content(AMOUNTS, new Amount(8))))
                    .isEqualTo(Verdict.ACCEPTED);
            assertThat(key.context()).isEqualTo("{\"n\":8}");
        }
    }

    /// The event of a newer function: wider, without a component that was, and with one that was not.
    public record Wider(Optional<String> note, long n) {}

    /// Adds numbers of a wider type.
    public static final class AddingWider implements Processor<Total, Wider> {
        @Override
        public Total start() {
            return new Total(0);
        }

        @Override
        public Step<Total> step(Total total, Wider amount) {
            return Step.to(new Total((int) (total.total() + amount.n())));
        }
    }

    @Test
    void a_record_that_comes_again_under_another_event_type_is_a_duplicate() {
        fold(function(PROCESS, new Adding(), StepFunction.Caller.DIRECT), 1, 2, 4, 3);
        StepFunction wider = function(PROCESS + ",\"version\":2", new AddingWider(), StepFunction.Caller.DIRECT);
        Codec<Wider> codec = Codec.of(Wider.class);
        for (int n : new int[] {1, 2, 3, 4}) {
            assertThat(stored.fold(wider, n, StoredKey.content(codec, new Wider(Optional.empty(), n))))
                    .as("version %s", n)
                    .isEqualTo(Verdict.DUPLICATE);
            assertThat(stored.letters).isEmpty();
        }
        assertThat(stored.fold(wider, 2, StoredKey.content(codec, new Wider(Optional.of("more"), 20))))
                .isEqualTo(Verdict.CONFLICTING);
        assertThat(stored.fold(wider, 2, StoredKey.content(codec, new Wider(Optional.empty(), 2))))
                .isEqualTo(Verdict.CONFLICTING);
        assertThat(stored.context()).isEqualTo("{\"total\":28}");
    }
}
