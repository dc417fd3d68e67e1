package dev.onefold.aws.template;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.onefold.aws.template.Template.Input;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// AWS's own validator over the template, with the schemas of all resources. It is a package of Node, which
/// npm fetches into the build folder once; without Node the test says that it was skipped, and
/// `ONEFOLD_NODE_REQUIRED=true` makes that a failure. What the validator misses, the other tests of this
/// package look at.
class ValidatorTest {
    private static final String REQUIRED = "ONEFOLD_NODE_REQUIRED";
    private static final String VALIDATOR = "@aws/cloudformation-validate";
    private static final String VERSION = "1.9.0-beta";
    private static final String PLANTED = "planted.yaml";
    private static final long MINUTES_MAX = 3;

    /// What is only advice here: that a later change of a property would replace a resource, and that resources
    /// could have tags, which the deploying command gives them.
    private static final List<String> ADVICE = List.of("I9001", "I9040");

    /// It takes ARNs and the name of a field for passwords, by their names.
    private static final String NO_PASSWORD = "W2509 ReceiverSecret(Arn|Field|KeyArn) ";

    private static final String SCRIPT = """
            const { RegoEngine, TemplateFile } = require("%s");
            const engine = new RegoEngine();
            const parameterOverrides = { AlarmTopicArn: "arn:aws:sns:eu-central-1:000000000000:t",
                VpcSubnetIds: "subnet-01234567,subnet-89abcdef", VpcSecurityGroupIds: "sg-01234567",
                KeyArn: "arn:aws:kms:eu-central-1:000000000000:key/01234567-89ab-cdef-0123-456789abcdef",
                ReceiverSecretKeyArn: "arn:aws:kms:eu-central-1:000000000000:key/89abcdef-89ab-cdef-0123-456789abcdef",
                ReceiverSecretArn: "arn:aws:secretsmanager:eu-central-1:000000000000:secret:s-AbCdEf" };
            for (const file of process.argv.slice(2)) {
                const report = engine.validateStandard(new TemplateFile(file), { parameterOverrides });
                console.log(JSON.stringify({ file, status: report.status, diagnostics: report.diagnostics }));
            }
            engine.free();
            """.formatted(VALIDATOR);

    private static final Path FOLDER = Path.of("target", "validator").toAbsolutePath();

    private static final Map<String, JsonNode> REPORTS = new HashMap<>();

    /// Validates all of it in one run, because the validator takes seconds to begin.
    @BeforeAll
    static void validate() throws IOException, InterruptedException {
        prepare();
        for (Map.Entry<String, String> text : Pipelines.texts().entrySet()) {
            Files.writeString(FOLDER.resolve(text.getKey() + ".yaml"), text.getValue());
        }
        String yaml = Template.of(Pipelines.trades(), Input.NEW_STREAM).yaml();
        Files.writeString(
                FOLDER.resolve(PLANTED),
                yaml.replace("Runtime: java25", "Runtime: java26").replace("KeySchema:", "KeyScheme:"));
        List<String> files = new ArrayList<>(List.of(PLANTED));
        Pipelines.texts().keySet().forEach(name -> files.add(name + ".yaml"));
        run(files).forEach(report -> REPORTS.put(report.get("file").asText(), report));
    }

    static Set<String> names() {
        return Pipelines.texts().keySet();
    }

    @ParameterizedTest
    @MethodSource("names")
    void the_validator_of_aws_finds_nothing_in_the_template_of_any_input(String name) {
        JsonNode report = REPORTS.get(name + ".yaml");
        assertThat(report.get("status").asText()).isEqualTo("OK");
        assertThat(report.get("diagnostics")).isNotEmpty();
        assertThat(findings(report)).isEmpty();
    }

    @Test
    void the_validator_of_aws_finds_mistakes_that_are_planted() {
        assertThat(findings(REPORTS.get(PLANTED)))
                .anyMatch(finding -> finding.contains("java26"))
                .anyMatch(finding -> finding.contains("KeyScheme"));
    }

    private static List<String> findings(JsonNode report) {
        List<String> findings = new ArrayList<>();
        for (JsonNode diagnostic : report.get("diagnostics")) {
            if (!ADVICE.contains(diagnostic.get("ruleId").asText())) {
                findings.add(diagnostic.get("severity").asText() + " "
                        + diagnostic.get("ruleId").asText() + " "
                        + diagnostic.at("/entity/logicalId").asText() + " "
                        + diagnostic.path("propertyPath").asText() + ": "
                        + diagnostic.get("message").asText());
            }
        }
        findings.removeIf(
                finding -> Pattern.compile(NO_PASSWORD).matcher(finding).find());
        return findings;
    }

    private static void prepare() throws IOException, InterruptedException {
        Files.createDirectories(FOLDER);
        Files.writeString(FOLDER.resolve("validate.js"), SCRIPT);
        if (Files.isRegularFile(
                FOLDER.resolve("node_modules").resolve(VALIDATOR).resolve("package.json"))) {
            return;
        }
        Files.writeString(FOLDER.resolve("package.json"), "{\"private\":true}");
        Path log = FOLDER.resolve("npm.txt");
        try {
            Process npm = new ProcessBuilder(
                            "npm",
                            "install",
                            "--no-audit",
                            "--no-fund",
                            "--no-package-lock",
                            "--fetch-retries=1",
                            VALIDATOR + "@" + VERSION)
                    .directory(FOLDER.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            boolean ended = npm.waitFor(MINUTES_MAX, TimeUnit.MINUTES);
            npm.destroy();
            if (!ended || npm.exitValue() != 0) {
                unavailable("npm could not fetch " + VALIDATOR + "; " + log + " says why.");
            }
        } catch (IOException missing) {
            unavailable("There is no npm here: " + missing.getMessage() + ".");
        }
    }

    private static void unavailable(String reason) {
        if ("true".equals(System.getenv(REQUIRED))) {
            Assertions.fail(reason + " " + REQUIRED + "=true, so this is a failure.");
        }
        Assumptions.abort("Skipped: " + reason);
    }

    private static List<JsonNode> run(List<String> files) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("node", "validate.js"));
        command.addAll(files);
        Path errors = FOLDER.resolve("errors.txt");
        ProcessBuilder builder =
                new ProcessBuilder(command).directory(FOLDER.toFile()).redirectError(errors.toFile());
        Process node;
        try {
            node = builder.start();
        } catch (IOException missing) {
            unavailable("There is no node here: " + missing.getMessage() + ".");
            return List.of();
        }
        List<JsonNode> reports = new ArrayList<>();
        for (String line : new String(node.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                .lines()
                .toList()) {
            reports.add(new ObjectMapper().readTree(line));
        }
        assertThat(node.waitFor()).as(Files.readString(errors)).isZero();
        return reports;
    }
}
