package dev.onefold.local.cloud;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.cloudformation.model.OnFailure;
import software.amazon.awssdk.services.cloudformation.model.Stack;
import software.amazon.awssdk.services.cloudformation.model.StackEvent;

/// What an update of a stack does and refuses, asked by AWS's own client. All servers are opened once.
@Tag("campaign")
class UpdatesTest {
    private static final String TEMPLATE = """
            Parameters:
              Protection: {Type: String, Default: 'false', AllowedValues: ['true', 'false']}
            Rules:
              Protected:
                Assertions: [{Assert: !Or [!Equals [!Ref Protection, 'true'], !Equals [!Ref Protection, 'false']], AssertDescription: 'no'}]
            Resources:
              Rows:
                Type: AWS::DynamoDB::Table
                DeletionPolicy: RetainExceptOnCreate
                Properties:
                  TableName: !Sub '${AWS::StackName}-rows'
                  AttributeDefinitions: [{AttributeName: k, AttributeType: S}]
                  KeySchema: [{AttributeName: k, KeyType: HASH}]
                  DeletionProtectionEnabled: !Ref Protection
                  BillingMode: PAY_PER_REQUEST
              Retries:
                Type: AWS::SQS::Queue
                Properties: {SqsManagedSseEnabled: true}
            Outputs:
              Table: {Value: !Ref Rows}
            """;

    private static final String SECOND = """
              Second:
                Type: AWS::SQS::Queue
                DeletionPolicy: RetainExceptOnCreate
                Properties: {%s}
            Outputs:
            """;

    private static LocalAccount account;

    @BeforeAll
    static void open() throws IOException {
        account = LocalAccount.open();
    }

    @AfterAll
    static void close() {
        account.close();
    }

    @AfterEach
    void clean() {
        account.tables
                .listTables()
                .join()
                .tableNames()
                .forEach(name -> account.tables
                        .updateTable(request -> request.tableName(name).deletionProtectionEnabled(false))
                        .join());
        account.stacks.describeStacks().join().stacks().forEach(stack -> account.delete(stack.stackId()));
        account.tables
                .listTables()
                .join()
                .tableNames()
                .forEach(name -> account.tables
                        .deleteTable(request -> request.tableName(name))
                        .join());
        account.queues
                .listQueues()
                .join()
                .queueUrls()
                .forEach(url -> account.queues
                        .deleteQueue(request -> request.queueUrl(url))
                        .join());
    }

    private static Stack made() {
        Stack stack = account.settled(account.create("small", TEMPLATE, Map.of(), OnFailure.ROLLBACK));
        assertThat(stack.stackStatusAsString())
                .as("%s", account.failures(stack.stackId()))
                .isEqualTo("CREATE_COMPLETE");
        return stack;
    }

    private static boolean isProtected() {
        return account.tables
                .describeTable(request -> request.tableName("small-rows"))
                .join()
                .table()
                .deletionProtectionEnabled();
    }

    @Test
    void an_update_changes_what_is_there_and_the_same_update_again_is_refused() {
        made();
        Stack stack = account.update("small", TEMPLATE, Map.of("Protection", "true"));
        assertThat(stack.stackStatusAsString()).isEqualTo("UPDATE_COMPLETE");
        assertThat(isProtected()).isTrue();
        assertThatThrownBy(() -> account.update("small", TEMPLATE, Map.of("Protection", "true")))
                .hasMessageContaining("No updates are to be performed.");
        assertThatThrownBy(() -> account.update("nobody", TEMPLATE, Map.of())).hasMessageContaining("does not exist");
    }

    @Test
    void a_table_with_a_name_of_its_own_is_not_replaced_and_what_was_changed_before_it_is_as_before() {
        made();
        Stack stack = account.update(
                "small", TEMPLATE.replace("AttributeName: k,", "AttributeName: other,"), Map.of("Protection", "true"));
        assertThat(stack.stackStatusAsString()).isEqualTo("UPDATE_ROLLBACK_COMPLETE");
        assertThat(account.failures(stack.stackId()).get("Rows"))
                .contains("cannot update a stack when a custom-named resource requires replacing", "small-rows");
        assertThat(isProtected()).isFalse();
    }

    @Test
    void what_an_update_has_made_goes_when_it_fails_and_stays_when_it_succeeds() {
        made();
        String failing = TEMPLATE.replace("Outputs:\n", SECOND.formatted("Wings: 2"));
        Stack failed = account.update("small", failing, Map.of("Protection", "true"));
        assertThat(failed.stackStatusAsString()).isEqualTo("UPDATE_ROLLBACK_COMPLETE");
        assertThat(account.failures(failed.stackId()).get("Second")).contains("Wings");
        assertThat(isProtected()).isFalse();
        assertThat(account.stored()).hasSize(2);
        assertThat(account.events(failed.stackId()))
                .extracting(StackEvent::resourceStatusAsString)
                .startsWith("UPDATE_ROLLBACK_COMPLETE")
                .contains("UPDATE_ROLLBACK_IN_PROGRESS", "UPDATE_ROLLBACK_COMPLETE_CLEANUP_IN_PROGRESS");
        String more = TEMPLATE.replace("Outputs:\n", SECOND.formatted("SqsManagedSseEnabled: true"));
        assertThat(account.update("small", more, Map.of()).stackStatusAsString())
                .isEqualTo("UPDATE_COMPLETE");
        assertThat(account.stored()).hasSize(3);
        assertThat(account.update("small", TEMPLATE, Map.of()).stackStatusAsString())
                .isEqualTo("UPDATE_COMPLETE");
    }

    @Test
    void a_first_deployment_that_fails_leaves_nothing_that_its_next_try_would_meet() {
        String failing = TEMPLATE.replace("{SqsManagedSseEnabled: true}", "{Wings: 2}");
        Stack failed = account.settled(account.create("small", failing, Map.of(), OnFailure.ROLLBACK));
        assertThat(failed.stackStatusAsString()).isEqualTo("ROLLBACK_COMPLETE");
        assertThat(account.stored()).isEmpty();
        assertThatThrownBy(() -> account.update("small", TEMPLATE, Map.of()))
                .hasMessageContaining("is in ROLLBACK_COMPLETE state and can not be updated");
        account.delete(failed.stackId());
        made();
    }

    @Test
    void a_rule_of_the_template_refuses_its_parameters() {
        assertThatThrownBy(() -> account.create(
                        "small",
                        TEMPLATE.replace("!Equals [!Ref Protection, 'false']", "!Equals [!Ref Protection, 'x']"),
                        Map.of(),
                        OnFailure.ROLLBACK))
                .hasMessageContaining("Template parameter validation failed: no");
    }
}
