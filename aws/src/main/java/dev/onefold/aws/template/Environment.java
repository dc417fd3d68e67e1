package dev.onefold.aws.template;

import dev.onefold.core.grammar.PipelineText;
import dev.onefold.core.grammar.Reading;
import dev.onefold.core.pipeline.Pipeline;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import org.jspecify.annotations.Nullable;

/// The settings that the template gives a function by variables of its environment: the names of its resources,
/// and the pipeline. So the code and the definition of one deployment change in one step, with the function's
/// version.
///
/// @param stack the stack's name, which metrics carry
/// @param rows name of the table of rows
/// @param deltas name of the table of deltas
/// @param totals name of the table of totals
/// @param letters name of the table of dead letters
/// @param bucket name of the bucket that holds the bytes of dead letters
/// @param layout of a deployment that State finds without a definition
/// @param pipelineCode see [#code(Pipeline)]
public record Environment(
        String stack,
        String rows,
        String deltas,
        String totals,
        String letters,
        String bucket,
        Layout layout,
        String pipelineCode) {
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

    /// Reads the variables of a function.
    ///
    /// @throws IllegalStateException naming one that is missing
    public static Environment of(Map<String, String> variables) {
        return new Environment(
                required(variables, STACK),
                required(variables, ROWS),
                required(variables, DELTAS),
                required(variables, TOTALS),
                required(variables, LETTERS),
                required(variables, BUCKET),
                new Layout(number(variables, LANES), number(variables, GATES)),
                required(variables, PIPELINE));
    }

    /// How many invocations of a function are to fail on purpose, of a million.
    ///
    /// @throws IllegalStateException if the variable is not a number from 0 to 100
    public static int failOfMillion(Map<String, String> variables) {
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

    static String required(Map<String, String> variables, String name) {
        String value = variables.get(name);
        if (value == null || value.isEmpty()) {
            throw new IllegalStateException("The function's environment has no variable " + name
                    + ". Deploy the template that 'onefold aws template' writes.");
        }
        return value;
    }

    static int number(Map<String, String> variables, String name) {
        String value = required(variables, name);
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalStateException("The function's variable " + name + " is not a number: " + value, e);
        }
    }

    /// The pipeline that the variables carry.
    public Pipeline pipeline() {
        return pipeline(pipelineCode);
    }

    static Pipeline pipeline(String code) {
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
