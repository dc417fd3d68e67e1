package dev.onefold.fakes.aws;

import static dev.onefold.fakes.aws.Service.table;
import static org.assertj.core.api.Assertions.assertThat;

import dev.onefold.fixtures.Seeds;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.dynamodb.services.local.embedded.DynamoDBEmbedded;
import software.amazon.dynamodb.services.local.shared.access.AmazonDynamoDBLocal;

/// The simulated DynamoDB beside the emulator that AWS gives out: the same calls, the same answers. Where the emulator
/// is known to be wrong the scripts do not go; `docs/internals/emulators.md` has the list.
class LocalLikenessTest {
    private static AmazonDynamoDBLocal local;
    private static DynamoDbAsyncClient client;
    private static int tables;

    @BeforeAll
    static void open() {
        boolean withoutTelemetry = true;
        local = DynamoDBEmbedded.create(withoutTelemetry);
        client = local.dynamoDbAsyncClient();
    }

    @AfterAll
    static void close() {
        local.shutdownNow();
    }

    @Test
    @Tag("campaign")
    void random_scripts_are_answered_alike() {
        Seeds.forAllSeeds(Integer.getInteger("likeness.seeds", 60), random -> {
            Script script = new Script(random, freshTables(new Service(1)));
            for (int step = 0; step < 60; step++) {
                script.step();
            }
        });
    }

    @Test
    @Tag("campaign")
    void each_edge_case_is_answered_alike() {
        Pair pair = freshTables(new Service(1));
        List<String> differences = new ArrayList<>();
        EdgeCases.of(pair.name()).forEach((what, call) -> {
            String simulated = Answer.simulated(pair.service(), call);
            String real = Answer.real(pair.local(), call);
            if (!simulated.equals(real) && !isEmulatorWrong(what, simulated, real)) {
                differences.add(what + "\n  simulated: " + simulated + "\n  local:     " + real);
            }
        });
        assertThat(String.join("\n", differences)).isEmpty();
    }

    /// The table of `docs/internals/emulators.md`, as far as it is met here.
    private static boolean isEmulatorWrong(String what, String simulated, String real) {
        boolean refusesWhole = what.contains("transaction")
                && simulated.contains("ValidationError")
                && real.equals("DynamoDbException ValidationException");
        boolean forgetsReasons = what.startsWith("update in a transaction")
                && simulated.equals("DynamoDbException ValidationException")
                && real.endsWith("[ValidationError]");
        boolean showsAll = what.endsWith("UPDATED_NEW") && (what.contains("l[") || what.contains("m.fresh"));
        boolean countsHalf = what.equals("units of a transaction") && simulated.equals("4.0") && real.equals("2.0");
        return refusesWhole || forgetsReasons || showsAll || countsHalf;
    }

    /// Both services, and a name that both have fresh tables of.
    record Pair(Service service, DynamoDbAsyncClient local, String name) {
        /// Makes a call to both.
        void compare(String what, Answer.Call call) {
            String simulated = Answer.simulated(service, call);
            String real = Answer.real(local, call);
            if (!isEmulatorWrong(what, simulated, real)) {
                assertThat(simulated).as(what).isEqualTo(real);
            }
        }
    }

    private static Pair freshTables(Service service) {
        String name = "Table" + tables++;
        for (var request : List.of(
                table(name, ScalarAttributeType.S, ScalarAttributeType.S),
                table(name + "N", ScalarAttributeType.N, ScalarAttributeType.N),
                table(name + "B", ScalarAttributeType.B, ScalarAttributeType.B),
                table(name + "H", ScalarAttributeType.S, null))) {
            service.run(it -> it.createTable(request));
            client.createTable(request).join();
        }
        return new Pair(service, client, name);
    }
}
