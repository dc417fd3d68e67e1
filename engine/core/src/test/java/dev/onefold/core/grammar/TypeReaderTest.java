package dev.onefold.core.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.pipeline.FieldPath;
import dev.onefold.core.pipeline.Type;
import dev.onefold.fixtures.Seeds;
import java.util.List;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Types as text, read back.
class TypeReaderTest {
    private static final String CHARACTERS = "abcXYZ019_-@.,;:()[]{}<>=!'\"\\/? \t\n\u0000äß漢\u202e|";

    @Test
    void a_random_type_is_read_back_as_it_was_written() {
        Seeds.forAllSeeds(2_000, random -> {
            Type.Fields type = fields(random, 4);
            assertThat(TypeReader.read(type.toString())).isEqualTo(type);
            StringBuilder broken = new StringBuilder(type.toString());
            broken.setCharAt(random.nextInt(broken.length()), CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
            try {
                TypeReader.read(broken.toString());
            } catch (IllegalArgumentException refused) {
                assertThat(refused).hasMessageStartingWith("A type cannot be read at character ");
            }
        });
    }

    @Test
    void a_random_path_is_read_back_as_it_was_written() {
        Seeds.forAllSeeds(1_000, random -> {
            FieldPath path = path(random);
            assertThat(FieldPath.read(path.toString())).contains(path);
        });
        assertThat(Stream.of("", ".", "a.", ".a", "a..b", "a b", "\"a", "\"a\"b", "a.b ")
                        .map(FieldPath::read))
                .allMatch(java.util.Optional::isEmpty);
    }

    private static Type.Fields fields(RandomGenerator random, int depth) {
        return new Type.Fields(some(random.nextInt(4), () -> new Type.Component(path(random), type(random, depth))));
    }

    private static Type type(RandomGenerator random, int depth) {
        return switch (random.nextInt(depth > 0 ? 8 : 2)) {
            case 0 -> new Type.Enumeration(some(1 + random.nextInt(3), () -> "C_" + random.nextInt(100) + "Ä"));
            case 2 -> new Type.Items(type(random, depth - 1));
            case 3 -> fields(random, depth - 1);
            case 4 -> {
                Type type = type(random, depth - 1);
                yield type instanceof Type.Maybe ? type : new Type.Maybe(type);
            }
            default -> oneOf(random, Type.Scalar.values());
        };
    }

    private static FieldPath path(RandomGenerator random) {
        return new FieldPath(some(1 + random.nextInt(3), () -> {
            StringBuilder name = new StringBuilder();
            for (int left = random.nextInt(6); left > 0; left--) {
                name.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
            }
            return name.toString();
        }));
    }

    @SafeVarargs
    private static <T> T oneOf(RandomGenerator random, T... values) {
        return values[random.nextInt(values.length)];
    }

    private static <T> List<T> some(int count, Supplier<T> supplier) {
        return Stream.generate(supplier).limit(count).toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            quoteCharacter = '`',
            value = {
                "`long`;character 1: '{' is expected",
                "`{a: lung}`;character 9: 'lung' is not a type",
                "`{a: long} `;character 10: there is unexpected data after the type",
                "`{a: [long}`;character 10: ']' is expected",
                "`{a b: long}`;character 5: 'a b' is not the name of a field",
            })
    void a_text_that_is_no_type_is_refused_at_its_place(String text, String message) {
        assertThatThrownBy(() -> TypeReader.read(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("A type cannot be read at " + message);
    }

    @Test
    void a_type_without_an_end_to_its_nesting_is_refused() {
        assertThatThrownBy(() -> TypeReader.read("{a: " + "[".repeat(100_000)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("nested too deep");
    }
}
