package dev.onefold.benchmark;

import dev.onefold.core.event.Decoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/// One message through the decoder: scan, key, version, time, group and amount.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class DecoderBenchmark {
    private static final String MESSAGE =
            "{\"TradeID\":\"0f3c9a52-7b1e-4c44-9d0a-5f6e7d8c9b0a\",\"Value\":12345.67,\"Version\":3,"
                    + "\"Timestamp\":1616413258.0123456,\"Hierarchy\":{\"RiskType\":\"PV\",\"Region\":\"EMEA\",\"TradeDesk\":\"FXSpot\"}}";

    private final Decoder decoder = new Decoder(EngineRun.pipeline());
    private final byte[] line = (MESSAGE + " ".repeat(Decoder.PADDING)).getBytes(StandardCharsets.UTF_8);

    /// Returns what it decoded to, so that nothing of it can be left out.
    @Benchmark
    public Object decode() {
        Object malformed = decoder.decode(line, 0, MESSAGE.length());
        return malformed == null ? decoder.event() : malformed;
    }
}
