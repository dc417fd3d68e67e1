package dev.onefold.core.codec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.core.codec.Samples.Mode;
import dev.onefold.core.codec.Samples.Small;
import dev.onefold.core.pipeline.Type;
import dev.onefold.core.shape.Value;
import dev.onefold.fixtures.Seeds;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// Bytes of one record, read as another.
class ChangesTest {
    public record B(boolean v) {}

    public record I(int v) {}

    public record L(long v) {}

    public record D(BigDecimal v) {}

    public record S(String v) {}

    public record T(Instant v) {}

    public record Day(LocalDate v) {}

    public record Span(Duration v) {}

    public record E(Mode v) {}

    public record E2(Wider v) {}

    public enum Wider {
        SWIM_WITH_SLEEVES,
        SWIM,
        RUN,
        WALK
    }

    public record R(Small v) {}

    public record R2(Small2 v) {}

    public record Small2(BigDecimal metres, int fresh, Optional<String> runner) {}

    public record OptI(Optional<Integer> v) {}

    public record OptL(Optional<Long> v) {}

    public record OptR(Optional<Small> v) {}

    public record OptR2(Optional<Small2> v) {}

    public record ListI(List<Integer> v) {}

    public record ListL(List<Long> v) {}

    public record ListOptL(List<Optional<Long>> v) {}

    public record ListR2(List<Small2> v) {}

    public record ListR(List<Small> v) {}

    private static final List<Class<? extends Record>> TYPES = List.of(
            B.class,
            I.class,
            L.class,
            D.class,
            S.class,
            T.class,
            Day.class,
            Span.class,
            E.class,
            E2.class,
            R.class,
            R2.class,
            OptI.class,
            OptL.class,
            OptR.class,
            OptR2.class,
            ListI.class,
            ListL.class,
            ListOptL.class,
            ListR.class,
            ListR2.class);

    /// Old type and new type that are read, worked out by hand.
    private static final Set<String> READ = Set.of(
            "I L",
            "I D",
            "L D",
            "I OptI",
            "I OptL",
            "L OptL",
            "E E2",
            "R R2",
            "R OptR",
            "R2 OptR2",
            "OptI OptL",
            "ListI ListL",
            "ListI ListOptL",
            "ListL ListOptL");

    @Test
    void each_old_type_is_read_as_each_new_type_or_refused_before_anything_is_read() {
        Set<String> read = new TreeSet<>();
        for (Class<? extends Record> from : TYPES) {
            for (Class<? extends Record> to : TYPES) {
                if (from != to && isRead(Codec.of(from), Codec.of(to))) {
                    read.add(from.getSimpleName() + " " + to.getSimpleName());
                }
            }
        }
        assertThat(read).isEqualTo(new TreeSet<>(READ));
    }

    private static <A extends Record, Z extends Record> boolean isRead(Codec<A> from, Codec<Z> to) {
        boolean possible = Changes.of(from.type(), to.type()).refused().isEmpty();
        boolean[] refused = new boolean[1];
        Seeds.forAllSeeds(30, random -> {
            A old = Samples.random(from.record(), random);
            Z defaults = Samples.random(to.record(), random);
            try {
                Z decoded = to.decode(from.encode(old), defaults);
                if (possible) {
                    same(Value.read(from.encode(old)), Value.read(to.encode(decoded)), Value.read(to.encode(defaults)));
                }
            } catch (ShapeException e) {
                assertThat(e.getMessage()).contains("component v").contains("stored");
                assertThat(possible).as(e.getMessage()).isFalse();
                refused[0] = true;
            }
        });
        assertThat(refused[0] || possible || lenient(from, to))
                .as(from.type() + " is read as " + to.type())
                .isTrue();
        return possible;
    }

    /// The content of an Optional in the defaults is not known before, so these are refused beforehand and
    /// may be readable.
    private static boolean lenient(Codec<?> from, Codec<?> to) {
        return Set.of(from.record(), to.record()).contains(OptR2.class);
    }

    /// Components of both are the same, but for the width of numbers; new ones are those of the defaults.
    private static void same(Value.Fields old, Value.Fields read, Value.Fields defaults) {
        read.components().forEach((name, value) -> {
            Value before = old.components().get(name);
            Value fallback = defaults.components().get(name);
            if (before instanceof Value.Fields a && value instanceof Value.Fields b) {
                same(a, b, fallback instanceof Value.Fields c ? c : b);
            } else {
                assertThat(value.toJson()).as(name).isEqualTo((before == null ? fallback : before).toJson());
            }
        });
    }

    @Test
    void changes_are_named_with_their_component_and_both_types() {
        assertThat(Changes.of(type(R.class), type(R2.class)).all())
                .extracting(Change::toString)
                .containsExactly(
                        "component v.metres is widened from long to decimal",
                        "component v.fresh is new: int",
                        "component v.runner is widened from text to text?",
                        "component v.lap is gone: int",
                        "component v.done is gone: boolean");
        assertThat(Changes.of(type(ListR.class), type(ListR2.class)).refused())
                .extracting(Change::toString)
                .containsExactly("component v[].fresh is new, and nothing says its value in what is stored: int; make"
                        + " it an Optional");
        assertThat(Changes.withoutDefaults(type(R.class), type(R2.class)).refused())
                .hasSize(1);
        assertThat(Changes.of(type(S.class), type(OptL.class)).all())
                .containsExactly(new Change.Refused("v", Type.Scalar.TEXT, Type.Scalar.LONG));
        assertThat(Changes.of(type(E2.class), type(E.class)).refused())
                .extracting(Change::toString)
                .containsExactly("component v is stored as (SWIM_WITH_SLEEVES|SWIM|RUN|WALK), and"
                        + " (WALK|RUN|SWIM_WITH_SLEEVES) is wanted");
    }

    private static Type.Fields type(Class<? extends Record> record) {
        return Codec.of(record).type();
    }

    @Test
    void the_same_type_has_no_changes() {
        for (Class<? extends Record> type : TYPES) {
            assertThat(Changes.of(type(type), type(type)).all()).isEmpty();
        }
    }
}
