package dev.onefold.aws.template;

import dev.onefold.aws.Connection;
import dev.onefold.aws.Priming;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.content.StoredSecret;
import dev.onefold.aws.serve.Access;
import dev.onefold.aws.store.Store;
import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// The settings that a template gives a function by variables of its environment: the names of its resources,
/// and the pipeline. So the code and the definition of one deployment change in one step, with the function's
/// version. A function asks for what it uses; a variable that is missing then is named by an
/// [IllegalStateException].
public final class Environment {
    static final String STACK = "ONEFOLD_STACK";
    static final String ROWS = "ONEFOLD_ROWS";
    static final String DELTAS = "ONEFOLD_DELTAS";
    static final String TOTALS = "ONEFOLD_TOTALS";
    static final String LETTERS = "ONEFOLD_LETTERS";
    static final String BUCKET = "ONEFOLD_BUCKET";
    static final String LANES = "ONEFOLD_LANES";
    static final String GATES = "ONEFOLD_GATES";
    static final String PIPELINE = "ONEFOLD_PIPELINE";
    static final String FAIL_PERCENT = "ONEFOLD_FAIL_PERCENT";

    /// Only Collect has them.
    private static final String INPUT = "ONEFOLD_INPUT";
    private static final String REDELIVERY = "ONEFOLD_REDELIVERY_HOURS";

    private static final String INITIALIZATION = "AWS_LAMBDA_INITIALIZATION_TYPE";

    static final String INPUT_QUEUE = "queue";
    static final String INPUT_STREAM = "stream";

    /// Only Deliver has them, if its receiver's secret is one of Secrets Manager.
    private static final String SECRET_ARN = "ONEFOLD_SECRET_ARN";
    private static final String SECRET_FIELD = "ONEFOLD_SECRET_FIELD";

    /// Only Serve has them.
    private static final String SERVE = "ONEFOLD_SERVE_";

    /// Characters of all variables of a function, names and values: a limit of Lambda.
    static final int CHARACTERS_MAX = 4_096;

    /// The most characters that a pipeline may take of them. The rest is for the names, of which CloudFormation
    /// makes long ones.
    static final int PIPELINE_CHARACTERS_MAX = 2_580;

    /// The same of a function that is served by HTTP: issuer, audience and keys of tokens take their part.
    static final int SERVED_CHARACTERS_MAX = 1_820;

    /// No pipeline's text is longer; so a broken variable cannot fill the memory.
    private static final int PIPELINE_BYTES_MAX = 1 << 20;

    private static final BigDecimal ALL = BigDecimal.valueOf(100); // Percent.
    private static final int DIGITS_OF_MILLION = 4;

    private final Map<String, String> variables;
    private final Pipeline pipeline;

    private Environment(Map<String, String> variables) {
        this.variables = variables;
        pipeline = pipeline(required(PIPELINE));
    }

    /// The variables of this process.
    public static Environment ofProcess() {
        return of(System.getenv());
    }

    static Environment of(Map<String, String> variables) {
        return new Environment(variables);
    }

    /// The pipeline as it was deployed.
    public Pipeline pipeline() {
        return pipeline;
    }

    /// The tables and the bucket of the deployment. Where Lambda takes a snapshot of the process, requests are
    /// primed.
    public Store store() {
        Priming.ofFunction(pipeline, variables.getOrDefault(INITIALIZATION, ""));
        return Connection.store(tables(), bucket());
    }

    /// A batch pipeline has no table of totals.
    Store.Tables tables() {
        String totals = pipeline.fold() instanceof Batching ? "" : required(TOTALS);
        return new Store.Tables(required(ROWS), required(DELTAS), totals, required(LETTERS));
    }

    /// Name of the bucket that holds the bytes of dead letters and of large records.
    String bucket() {
        return required(BUCKET);
    }

    /// The stack's name, which metrics carry.
    public String stack() {
        return required(STACK);
    }

    /// The layout of a deployment that State finds without a definition.
    public Layout layout() {
        return new Layout(number(LANES), number(GATES));
    }

    /// The lanes of a deployment that has collected nothing yet.
    public int batchLanes() {
        int lanes = number(LANES);
        if (lanes < 1 || lanes > BatchTemplate.LANES_MAX) {
            throw new IllegalArgumentException(
                    "A deployment has 1 to " + BatchTemplate.LANES_MAX + " lanes, not " + lanes);
        }
        return lanes;
    }

    /// Whether records to collect come from a stream; a queue then brings the places of those that no
    /// invocation took.
    public boolean isStream() {
        return INPUT_STREAM.equals(variables.get(INPUT));
    }

    /// For how long after its arrival a source may give a record again, where ids are forgotten.
    public Duration redelivery() {
        return variables.containsKey(REDELIVERY) ? Duration.ofHours(number(REDELIVERY)) : Collect.REDELIVERY_OF_QUEUES;
    }

    /// Where the secret of the receiver is, if it is not in a variable.
    public Optional<StoredSecret.Place> secret() {
        return Optional.ofNullable(variables.get(SECRET_ARN))
                .map(arn -> new StoredSecret.Place(arn, variables.getOrDefault(SECRET_FIELD, "")));
    }

    /// Name or ARN of the stream that takes records by HTTP; empty if there is none.
    public String servedStream() {
        return serve("STREAM");
    }

    /// Address or ARN of the queue that takes records by HTTP; empty if there is none.
    public String servedQueue() {
        return serve("QUEUE");
    }

    /// The rule for the callers by HTTP that are let in.
    ///
    /// @throws IllegalArgumentException if nobody can be let in
    public Access access() {
        return Access.of(serve("ISSUER"), serve("AUDIENCE"), serve("KEYS"));
    }

    private String serve(String name) {
        return variables.getOrDefault(SERVE + name, "");
    }

    /// How many invocations of this function are to fail on purpose, of a million.
    ///
    /// @throws IllegalStateException if the variable is not a number from 0 to 100
    public int failOfMillion() {
        String percent = variables.getOrDefault(FAIL_PERCENT, "0");
        try {
            BigDecimal value = new BigDecimal(percent);
            if (value.signum() >= 0 && value.compareTo(ALL) <= 0) {
                return value.movePointRight(DIGITS_OF_MILLION).intValueExact();
            }
        } catch (ArithmeticException | NumberFormatException e) {
            throw refused(percent, e);
        }
        throw refused(percent, null);
    }

    private static IllegalStateException refused(String percent, @Nullable Exception cause) {
        return new IllegalStateException(
                "The function's variable " + FAIL_PERCENT + " is a number from 0 to 100, with at most "
                        + DIGITS_OF_MILLION + " decimals; not " + percent + ". Correct FailStatePercent or"
                        + " FailReducePercent.",
                cause);
    }

    private String required(String name) {
        String value = variables.get(name);
        if (value == null || value.isEmpty()) {
            throw new IllegalStateException("The function's environment has no variable " + name
                    + ". Deploy the template that 'onefold aws template' writes.");
        }
        return value;
    }

    private int number(String name) {
        String value = required(name);
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalStateException("The function's variable " + name + " is not a number: " + value, e);
        }
    }

    private static Pipeline pipeline(String code) {
        return switch (PipelineText.read(text(code))) {
            case Reading.Read(Pipeline pipeline) -> pipeline;
            case Reading.Refused refused ->
                throw new IllegalStateException("The variable " + PIPELINE + " holds a pipeline that is refused: "
                        + refused.problems().getFirst().message());
        };
    }

    /// The canonical text of a pipeline in few characters: deflated, in base64.
    static String code(Pipeline pipeline) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true)) {
            deflater.setInput(PipelineText.write(pipeline).getBytes(StandardCharsets.UTF_8));
            deflater.finish();
            byte[] buffer = new byte[1 << 12];
            while (!deflater.finished()) {
                bytes.write(buffer, 0, deflater.deflate(buffer));
            }
        }
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes.toByteArray());
    }

    private static String text(String code) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (Inflater inflater = new Inflater(true)) {
            inflater.setInput(Base64.getUrlDecoder().decode(code));
            byte[] buffer = new byte[1 << 12];
            while (!inflater.finished()) {
                int length = inflater.inflate(buffer);
                if (length == 0 || bytes.size() > PIPELINE_BYTES_MAX) {
                    throw broken("its compressed text does not end");
                }
                bytes.write(buffer, 0, length);
            }
        } catch (DataFormatException | IllegalArgumentException broken) {
            throw broken(String.valueOf(broken.getMessage()));
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }

    private static IllegalStateException broken(String reason) {
        return new IllegalStateException("The variable " + PIPELINE + " holds no pipeline: " + reason
                + ". Deploy the template that 'onefold aws template' writes.");
    }
}
