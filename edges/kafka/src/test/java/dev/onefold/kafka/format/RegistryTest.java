package dev.onefold.kafka.format;

import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.broker.SchemaRegistry;
import dev.onefold.broker.SchemaRegistry.Fault;
import dev.onefold.kafka.format.Schemas.Answer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class RegistryTest {
    private static final String TRADE =
            "{\"schema\":\"{\\\"type\\\":\\\"record\\\",\\\"name\\\":\\\"T\\\",\\\"fields\\\":[{\\\"name\\\":\\\"b\\\",\\\"type\\\":\\\"B\\\"}]}\","
                    + "\"references\":[{\"name\":\"B\",\"subject\":\"a book\",\"version\":2}]}";
    private static final String BOOK =
            "{\"subject\":\"a book\",\"version\":2,\"id\":3,\"schema\":\"{\\\"type\\\":\\\"fixed\\\",\\\"name\\\":\\\"B\\\",\\\"size\\\":1}\"}";

    @TempDir
    Path data;

    private SchemaRegistry server;

    @BeforeEach
    void start() throws Exception {
        server = SchemaRegistry.start();
        server.put("/schemas/ids/7", TRADE);
        server.put("/subjects/a%20book/versions/2", BOOK);
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private Registry registry() {
        return new Registry(
                server.address(),
                Optional.of("Bearer secret"),
                new SchemaCopies(data.resolve("schemas"), server.address(), true));
    }

    private static Answer await(Registry registry, String id, Predicate<Answer> isOver) {
        long until = System.nanoTime() + 30_000_000_000L;
        Answer answer = registry.find(id);
        while (!isOver.test(answer) && System.nanoTime() < until) {
            LockSupport.parkNanos(1_000_000);
            answer = registry.find(id);
        }
        return answer;
    }

    private static Answer settled(Registry registry, String id) {
        return await(
                registry,
                id,
                answer -> !(answer instanceof Answer.Open open) || !open.why().endsWith("has not answered yet"));
    }

    @Test
    void a_schema_with_those_that_it_refers_to_is_asked_for_once_and_found_again_without_the_registry()
            throws Exception {
        Registry registry = registry();
        assertThat(settled(registry, "7")).isInstanceOf(Answer.Known.class);
        int asked = server.asked().size();
        assertThat(settled(registry, "7")).isInstanceOf(Answer.Known.class);
        assertThat(server.asked()).hasSize(asked).allMatch(request -> request.endsWith(" Bearer secret"));
        server.fail(Fault.BROKEN);
        assertThat(settled(registry(), "7"))
                .isInstanceOfSatisfying(
                        Answer.Known.class,
                        known -> assertThat(known.schema())
                                .isInstanceOfSatisfying(
                                        Schema.Avro.class,
                                        avro -> assertThat(avro.type()).isInstanceOf(AvroType.Row.class)));
        Path copy = data.resolve("schemas").resolve("7");
        Files.writeString(copy, Files.readString(copy).replace("fixed", "filed"));
        assertThat(settled(registry(), "7")).as("a damaged copy is none").isInstanceOf(Answer.Open.class);
    }

    @Test
    void a_schema_whose_copy_cannot_be_written_is_known() throws Exception {
        Files.writeString(data.resolve("schemas"), "no folder");
        assertThat(settled(registry(), "7")).isInstanceOf(Answer.Known.class);
    }

    @Test
    void only_the_word_of_the_registry_makes_an_id_unknown() {
        assertThat(settled(registry(), "8"))
                .isEqualTo(new Answer.Unknown("the registry " + server.address() + " has no schema 8"));
        for (Fault fault : new Fault[] {Fault.UNAUTHORIZED, Fault.BROKEN, Fault.PAGE_404, Fault.DAMAGED}) {
            server.fail(fault);
            assertThat(settled(registry(), "7"))
                    .as(fault.name())
                    .isInstanceOfSatisfying(
                            Answer.Open.class,
                            open -> assertThat(open.why()).contains("schema 7").doesNotContain("secret"));
        }
        server.close();
        assertThat(settled(registry(), "7")).isInstanceOf(Answer.Open.class);
    }

    @Test
    void a_registry_that_does_not_answer_holds_up_nobody_and_one_that_does_again_is_asked_again() {
        server.fail(Fault.BROKEN);
        Registry registry = registry();
        assertThat(settled(registry, "7")).isInstanceOf(Answer.Open.class);
        server.fail(Fault.SILENT);
        long begin = System.nanoTime();
        assertThat(registry().find("7")).isInstanceOf(Answer.Open.class);
        assertThat(System.nanoTime() - begin).isLessThan(5_000_000_000L);
        server.fail(Fault.NONE);
        assertThat(await(registry, "7", answer -> answer instanceof Answer.Known))
                .isInstanceOf(Answer.Known.class);
    }
}
