package dev.onefold.cli.aws;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.OperatingSystemMXBean;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// How many records one process puts a second: judged by the processor that each takes, because a machine that is busy
/// has no other measure. The sink takes its part of that.
class ProduceRateTest {
    private static final int RECORDS = 400_000;
    private static final int RATE = 50_000;
    private static final int CORES = 2;

    @TempDir
    Path folder;

    @Test
    @Tag("campaign")
    void two_cores_put_fifty_thousand_records_a_second_and_none_is_lost_where_entries_are_refused() throws IOException {
        System.setProperty("aws.accessKeyId", "local");
        System.setProperty("aws.secretAccessKey", "local");
        System.setProperty("aws.cborEnabled", "false");
        Cli cli = Cli.in(folder);
        cli.write("trades.yaml", Cli.TRADES);
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < RECORDS; i++) {
            lines.append("{\"id\":\"97ea87f7-e45c-40a5-9018-")
                    .append(i)
                    .append("\",\"v\":1,\"value\":\"16036.54\",")
                    .append("\"desk\":\"FXOptions\",\"risk\":\"Delta\",\"region\":\"APAC\",\"at\":1616413258}\n");
        }
        cli.write("lines.ndjson", lines.toString());
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        try (PutSink sink = new PutSink()) {
            String[] command = {
                "aws",
                "produce",
                "trades.yaml",
                "lines.ndjson",
                "--stream",
                "any",
                "--region",
                "eu-central-1",
                "--kinesis-endpoint",
                sink.endpoint().toString()
            };
            cli.run(command); // Warms up.
            long before = sink.taken();
            long cpuBefore = process.getProcessCpuTime();
            long began = System.nanoTime();
            Result result = cli.run(command);
            double cpuSeconds = (process.getProcessCpuTime() - cpuBefore) / 1e9;
            System.out.printf(
                    "%,d records: %,.0f a second, %.1f microseconds of a processor each%n",
                    RECORDS, RECORDS / ((System.nanoTime() - began) / 1e9), cpuSeconds / RECORDS * 1e6);
            assertThat(result.exitCode()).as(result.toString()).isZero();
            assertThat(sink.taken() - before).isEqualTo(RECORDS);
            assertThat(sink.refused()).isPositive();
            assertThat(cpuSeconds / RECORDS).isLessThan((double) CORES / RATE);
        }
    }
}
