package dev.onefold.house;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.assignableTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.random.RandomGenerator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The rooms of `core`: a record passes each once, in order, and a room knows only the rooms before it.
@TestInstance(Lifecycle.PER_CLASS)
class RoomsTest {
    private static final String ROOT = "dev.onefold.core";
    private static final String MODEL = ROOT + ".pipeline..";
    private static final String BYTES = ROOT + ".bytes..";
    private static final String SHAPE = ROOT + ".shape..";
    private static final String CODEC = ROOT + ".codec..";
    private static final List<String> ROOMS =
            List.of("event", "state", "map", "reduce", "aggregate", "query", "totals");

    private static final List<Class<?>> BETWEEN_THREADS = List.of(
            Thread.class,
            ThreadLocal.class,
            Executor.class,
            Future.class,
            BlockingQueue.class,
            Lock.class,
            Condition.class);

    private final JavaClasses core = new ClassFileImporter()
            .withImportOption(
                    location -> !location.contains("/test-classes/")) // Also where the build folder has another name.
            .importPackages(ROOT);

    @ParameterizedTest
    @ValueSource(strings = {"event", "state", "map", "reduce", "aggregate", "query", "totals"})
    void a_room_imports_only_itself_the_rooms_before_it_and_the_model(String room) {
        List<String> upstream = ROOMS.subList(0, ROOMS.indexOf(room) + 1);
        check(classes()
                .that()
                .resideInAPackage(packageOf(room))
                .should()
                .onlyDependOnClassesThat(mayBeUsed(upstream).or(resideInAnyPackage(SHAPE, CODEC)))
                .as("The room '" + room + "' imports only the JDK, the model and the rooms " + upstream + "")
                .because("a record passes each room once, in order, and imports point upstream only"));
    }

    @Test
    void the_model_imports_no_room() {
        check(classes()
                .that()
                .resideInAPackage(MODEL)
                .should()
                .onlyDependOnClassesThat(mayBeUsed(List.of()))
                .as("The pipeline model imports only the JDK and itself")
                .because("every room reads it, and none of them may reach another through it"));
    }

    @Test
    void the_core_uses_the_jdk_alone() {
        check(classes()
                .that()
                .resideInAPackage(ROOT + "..")
                .should()
                .onlyDependOnClassesThat(
                        resideInAnyPackage(ROOT + "..", "dev.onefold.process..", "java..", "org.jspecify.."))
                .as("The core uses java.base, the types of a user's function and the annotations of JSpecify,"
                        + " nothing else")
                .because("whoever embeds it should not have to settle versions with it"));
    }

    @Test
    void the_core_does_no_input_or_output() {
        check(noClasses()
                .should()
                .dependOnClassesThat(resideInAnyPackage(
                                "java.io..",
                                "java.net..",
                                "java.nio.channels..",
                                "java.nio.file..",
                                "java.sql..",
                                "java.util.logging..",
                                "java.util.zip..")
                        .and(DescribedPredicate.not(
                                nameMatching("java\\.io\\.Serializable|java\\.util\\.zip\\.(Checksum|CRC32C?)"))))
                .orShould()
                .dependOnClassesThat(assignableTo(Process.class).or(assignableTo(ProcessBuilder.class)))
                .orShould()
                .accessField(System.class, "out")
                .orShould()
                .accessField(System.class, "err")
                .as("The core does no input or output")
                .because("a runtime reads, asks the core, and writes"));
    }

    @Test
    void the_core_starts_no_thread_and_waits_for_none() {
        check(noClasses()
                .should()
                .dependOnClassesThat(DescribedPredicate.describe(
                        "run, wait or lock", used -> BETWEEN_THREADS.stream().anyMatch(used::isAssignableTo)))
                .as("The core has no thread, executor, future, queue between threads, or lock")
                .because("the thread that calls it owns the shard"));
    }

    @Test
    void the_core_reads_no_clock() {
        check(noClasses()
                .should()
                .accessTargetWhere(targetIs("java.lang.System", "nanoTime"))
                .orShould()
                .accessTargetWhere(targetIs("java.lang.System", "currentTimeMillis"))
                .orShould()
                .accessTargetWhere(targetIs("java.time.", "now"))
                .orShould()
                .dependOnClassesThat(name("java.time.Clock"))
                .as("The core reads no clock")
                .because("time is an argument: only so can a run be replayed"));
    }

    @Test
    void the_core_draws_nothing_at_random() {
        check(noClasses()
                .should()
                .dependOnClassesThat(assignableTo(RandomGenerator.class))
                .orShould()
                .accessTargetWhere(targetIs("java.lang.Math", "random"))
                .orShould()
                .accessTargetWhere(targetIs("java.util.UUID", "randomUUID"))
                .as("The core draws nothing at random")
                .because("a seed is an argument: only so can a run be replayed"));
    }

    /// Calls and method references alike.
    private static DescribedPredicate<JavaAccess<?>> targetIs(String ownerPrefix, String member) {
        return DescribedPredicate.describe(
                ownerPrefix + " " + member,
                access -> access.getTarget().getName().equals(member)
                        && access.getTargetOwner().getName().startsWith(ownerPrefix));
    }

    private static DescribedPredicate<JavaClass> mayBeUsed(List<String> rooms) {
        Stream<String> known = Stream.of("java..", "org.jspecify..", MODEL, BYTES);
        return resideInAnyPackage(
                Stream.concat(known, rooms.stream().map(RoomsTest::packageOf)).toArray(String[]::new));
    }

    private static String packageOf(String room) {
        return ROOT + "." + room + "..";
    }

    private void check(ArchRule rule) {
        rule.allowEmptyShould(true).check(core); // A room may still be empty.
    }
}
