package dev.onefold.tables;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.onefold.core.builder.PipelineBuilder;
import dev.onefold.core.pipeline.Pipeline;
import org.junit.jupiter.api.Test;

class SourceTableTest {
    private static final String ARN = "arn:aws:dynamodb:eu-west-1:123456789012:table/";

    private static Pipeline changesOf(String table) {
        return PipelineBuilder.named("seats")
                .dynamoDbStream()
                .table(table)
                .key("id")
                .rollup(rollup -> rollup.count("n"))
                .build();
    }

    @Test
    void rows_of_another_table_than_the_one_whose_changes_the_pipeline_reads_are_refused() {
        assertThatThrownBy(() -> SourceTable.requireNamed(changesOf("Seats"), "Seats-old"))
                .hasMessageContaining("reads the changes of the table Seats")
                .hasMessageContaining("write 'table: Seats-old'");
        assertThatThrownBy(() ->
                        SourceTable.requireNamed(changesOf(ARN + "Seats"), ARN.replace("west", "north") + "Seats"))
                .hasMessageContaining("reads the changes of the table " + ARN + "Seats");
        for (String same : new String[] {"Seats", ARN + "Seats"}) {
            assertThatCode(() -> SourceTable.requireNamed(changesOf("Seats"), same))
                    .doesNotThrowAnyException();
            assertThatCode(() -> SourceTable.requireNamed(changesOf(ARN + "Seats"), same))
                    .doesNotThrowAnyException();
        }
        Pipeline any =
                PipelineBuilder.named("n").rollup(rollup -> rollup.count("n")).build();
        assertThatCode(() -> SourceTable.requireNamed(any, "Seats")).doesNotThrowAnyException();
    }
}
