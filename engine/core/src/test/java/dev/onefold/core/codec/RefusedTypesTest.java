package dev.onefold.core.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.process.Field;
import java.lang.classfile.ClassFile;
import java.lang.classfile.attribute.RecordAttribute;
import java.lang.classfile.attribute.RecordComponentInfo;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Classes that cannot be stored are refused before anything is folded, with the component's name and advice.
class RefusedTypesTest {
    public record Doubles(int good, double x) {}

    public record Floats(List<Float> x) {}

    public record Boxed(Integer x) {}

    public record Raw(@SuppressWarnings("rawtypes") List x) {}

    public record Twofold(Optional<Optional<String>> x) {}

    public record Mapped(Map<String, String> x) {}

    public record Sets(Set<String> x) {}

    public record Arrays(int[] x) {}

    public record Big(BigInteger x) {}

    public record Small(short x) {}

    public record OtherOptional(OptionalInt x) {}

    public record Wild(List<?> x) {}

    public record Generic<T>(T x) {}

    public record HoldsGeneric(Generic<String> x) {}

    public record Recursive(int y, Optional<Recursive> x) {}

    public record Mutual(List<Other> x) {}

    public record Other(Mutual y) {}

    record Hidden(int y) {}

    public record HoldsHidden(Hidden x) {}

    public record Twice(@Field("x") int y, int x) {}

    public record BadPath(@Field("a..b") int x) {}

    public record NoConstants(Empty x) {}

    public enum Empty {}

    static Stream<List<Object>> refused() {
        return Stream.of(
                List.of(Doubles.class, "component x is a double; use BigDecimal: binary floating point is not exact"),
                List.of(Floats.class, "component x[] is of the class Float; use BigDecimal"),
                List.of(Boxed.class, "component x is of the class Integer, which may be null; use int, or Optional<"),
                List.of(Raw.class, "component x is a List without the type of what is in it; write List<String>"),
                List.of(Twofold.class, "component x is an Optional of an Optional"),
                List.of(Mapped.class, "component x is a Map; use a List of records"),
                List.of(Sets.class, "component x is of the type Set; use List"),
                List.of(Arrays.class, "component x is of the type int[]; use List"),
                List.of(Big.class, "component x is of the type java.math.BigInteger; use boolean, int, long,"),
                List.of(Small.class, "component x is of the type short; use boolean, int, long,"),
                List.of(OtherOptional.class, "component x is of the type java.util.OptionalInt; use"),
                List.of(Wild.class, "component x[] is of the type ?, which is not known before it runs"),
                List.of(Generic.class, "the record is of the generic record"),
                List.of(HoldsGeneric.class, "component x is of the generic record"),
                List.of(Recursive.class, "component x is a dev.onefold.core.codec.RefusedTypesTest$Recursive within"),
                List.of(Mutual.class, "component x[].y is a dev.onefold.core.codec.RefusedTypesTest$Mutual within"),
                List.of(Hidden.class, "$Hidden, which is not public; make it public"),
                List.of(HoldsHidden.class, "component x is of the record"),
                List.of(Twice.class, "component x is there twice"),
                List.of(BadPath.class, "component x has @Field(\"a..b\"), which is not the path of a field"),
                List.of(NoConstants.class, "component x is of the enum"));
    }

    @ParameterizedTest
    @MethodSource("refused")
    void a_type_that_cannot_be_stored_is_refused_by_the_name_of_its_component(List<Object> each) {
        Class<?> type = (Class<?>) each.getFirst();
        assertThatThrownBy(() -> Codec.of(type.asSubclass(Record.class)))
                .isInstanceOf(ShapeException.class)
                .hasMessageStartingWith(type.getName() + ": ")
                .hasMessageContaining((String) each.getLast());
    }

    @Test
    void a_record_has_at_most_two_hundred_components_and_is_nested_at_most_sixty_four_deep() {
        Loader loader = new Loader();
        loader.define("Wide", IntStream.range(0, 200).mapToObj(_ -> "int").toList());
        loader.define("Wider", IntStream.range(0, 201).mapToObj(_ -> "int").toList());
        loader.define("Sum", List.of("Wide"));
        assertThat(Codec.of(loader.find("Wide")).type().components()).hasSize(200);
        assertRefused(loader.find("Wider"), "component c200 is one too many; a record has at most 200 components");
        assertRefused(loader.find("Sum"), "component c0.c199 is one too many");
        loader.define("D64", List.of());
        for (int depth = 63; depth >= 0; depth--) {
            loader.define("D" + depth, List.of("D" + (depth + 1)));
        }
        assertThat(Codec.of(loader.find("D1")).type().components()).hasSize(1);
        assertRefused(loader.find("D0"), "is nested too deep; at most 64 levels are possible");
    }

    private static void assertRefused(Class<? extends Record> type, String message) {
        assertThatThrownBy(() -> Codec.of(type))
                .isInstanceOf(ShapeException.class)
                .hasMessageContaining(message);
    }

    /// Makes records that nobody wants to write out.
    private static final class Loader extends ClassLoader {
        private final Map<String, Class<? extends Record>> made = new HashMap<>();

        Class<? extends Record> find(String name) {
            return made.get(name);
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            Class<?> found = made.get(name);
            if (found == null) {
                throw new ClassNotFoundException(name);
            }
            return found;
        }

        void define(String name, List<String> types) {
            ClassDesc self = ClassDesc.of(name);
            List<ClassDesc> descriptors = types.stream()
                    .map(type -> type.equals("int") ? ConstantDescs.CD_int : ClassDesc.of(type))
                    .toList();
            byte[] bytes = ClassFile.of().build(self, builder -> {
                builder.withFlags(AccessFlag.PUBLIC, AccessFlag.FINAL).withSuperclass(ClassDesc.of("java.lang.Record"));
                List<RecordComponentInfo> components = new ArrayList<>();
                for (int i = 0; i < descriptors.size(); i++) {
                    components.add(RecordComponentInfo.of("c" + i, descriptors.get(i)));
                    builder.withField("c" + i, descriptors.get(i), ClassFile.ACC_PRIVATE | ClassFile.ACC_FINAL);
                    int number = i;
                    builder.withMethodBody(
                            "c" + i,
                            MethodTypeDesc.of(descriptors.get(i)),
                            ClassFile.ACC_PUBLIC,
                            code -> code.aload(0)
                                    .getfield(self, "c" + number, descriptors.get(number))
                                    .return_(java.lang.classfile.TypeKind.from(descriptors.get(number))));
                }
                builder.with(RecordAttribute.of(components));
                builder.withMethodBody(
                        ConstantDescs.INIT_NAME,
                        MethodTypeDesc.of(ConstantDescs.CD_void, descriptors),
                        ClassFile.ACC_PUBLIC,
                        code -> code.aload(0)
                                .invokespecial(
                                        ClassDesc.of("java.lang.Record"),
                                        ConstantDescs.INIT_NAME,
                                        MethodTypeDesc.of(ConstantDescs.CD_void))
                                .return_());
            });
            made.put(name, defineClass(name, bytes, 0, bytes.length).asSubclass(Record.class));
        }
    }
}
