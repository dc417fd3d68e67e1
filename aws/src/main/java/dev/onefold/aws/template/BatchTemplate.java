package dev.onefold.aws.template;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.batch.Collect;
import dev.onefold.aws.batch.FunctionReceivers;
import dev.onefold.aws.template.Template.Service;
import dev.onefold.core.pipeline.Batching;
import dev.onefold.core.pipeline.Batching.Forget;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// The CloudFormation template that runs one batch pipeline. The same pipeline and input give the same text.
public final class BatchTemplate {
    private static final String NAME = "batch.yaml";

    /// How many collectors can write at once without getting in each other's way: 917 to 1,249 transactions a
    /// second.
    private static final int LANES = 64;

    static final int LANES_MAX = 256;

    private static final List<String> FUNCTIONS = List.of("Collect", "Seal", "Deliver");

    /// Names of variables that a function may have beside ours, those of Lambda, and those that the JVM, the
    /// shell, the loader or a client obeys.
    private static final String VARIABLE = "(?!AWS_|LAMBDA_|ONEFOLD_|LD_|LC_|BASH_|MALLOC_|GLIBC_)"
            + "(?!(?:JAVA|JDK)_(?:\\w+_)?(?:OPTIONS|OPTS|HOME)$)"
            + "(?!(?i:(?:HTTPS?|ALL|NO)_PROXY)$)"
            + "(?!(?:PATH|CLASSPATH|HOME|TZ|LANG|LANGUAGE|ENV|IFS|PWD|SHELL|USER|TMPDIR)$)"
            + "[a-zA-Z][a-zA-Z0-9_]{1,63}";

    /// How long a message waits for others by default: seldom enough to be cheap, and a small part of a batch's
    /// wait.
    private static final Duration WINDOW = Duration.ofSeconds(5);

    private static final int WINDOWS_PER_WAIT = 12;

    /// A record is sealed when its wait has ended and the next tick has come. Later than that is an alarm.
    private static final Duration UNSEALED_MAX = Duration.ofMinutes(5);

    /// How long a stream keeps records, in hours.
    private static final int STREAM_HOURS_MIN = 24;

    private static final int STREAM_HOURS = 168;
    private static final int STREAM_HOURS_MAX = 8_760;

    /// The usual time-out of Collect.
    private static final int COLLECT_SECONDS = 60;

    private static final int SECRET_CHARACTERS_MAX = 1_000;

    private static final String SECRET_PARAMETERS = "ReceiverSecret, ReceiverSecretArn, ReceiverSecretField,"
            + " ReceiverSecretKeyArn, ReceiverSecretVersion, ";

    /// The most characters that the variables of Deliver or Collect take, names and values, but for pipeline
    /// and secret.
    private static final int DELIVER_CHARACTERS = 900;

    private final String yaml;

    private BatchTemplate(String yaml) {
        this.yaml = yaml;
    }

    /// Where a deployed batch pipeline's records come from.
    public enum Input {
        /// An SQS queue that the template makes.
        NEW_QUEUE,
        /// An SQS queue that exists; a parameter of the template says which.
        QUEUE,
        /// A Kinesis stream that the template makes.
        NEW_STREAM,
        /// A Kinesis stream that exists; a parameter of the template says which.
        STREAM;

        private boolean isStream() {
            return this == NEW_STREAM || this == STREAM;
        }

        private boolean isNew() {
            return this == NEW_QUEUE || this == NEW_STREAM;
        }
    }

    /// The template of a pipeline.
    ///
    /// @throws IllegalArgumentException saying why the pipeline cannot run on AWS, and what to do
    public static BatchTemplate of(Pipeline pipeline, Input input) {
        return new BatchTemplate(unserved(pipeline, input));
    }

    /// The template of a pipeline that is served by HTTP, too.
    ///
    /// @throws IllegalArgumentException saying why the pipeline cannot run on AWS, or be served, and what to do
    public static BatchTemplate of(Pipeline pipeline, Input input, Service service) {
        String unserved = unserved(pipeline, input);
        if (service == Service.NONE) {
            return new BatchTemplate(unserved);
        }
        Template.refuseWhatCountsTwice(pipeline, service);
        ServeParts.Target target = new ServeParts.Target(true, !input.isStream(), input.isNew(), "");
        return new BatchTemplate(ServeParts.added(unserved, service, target, Environment.code(pipeline)));
    }

    private static String unserved(Pipeline pipeline, Input input) {
        Batching batching = AwsEngine.requireBatchesPossible(pipeline);
        String code = Environment.code(pipeline);
        if (code.length() > Environment.PIPELINE_CHARACTERS_MAX) {
            throw refusal(
                    pipeline,
                    "its text takes " + code.length() + " characters of a function's environment, and at most "
                            + Environment.PIPELINE_CHARACTERS_MAX + " are left for it. Make it shorter.");
        }
        Optional<String> secret = FunctionReceivers.secret(batching);
        if (secret.isPresent() && !secret.get().matches(VARIABLE)) {
            throw refusal(
                    pipeline,
                    "a function cannot have the environment variable " + secret.get()
                            + ", which its receiver names. Name another one, such as RECEIVER_SECRET.");
        }
        Optional<String> objects = FunctionReceivers.objects(batching);
        List<String> contents = FunctionReceivers.contentActions(batching);
        Optional<String> function = FunctionReceivers.function(batching);
        Set<String> conditions = conditions(batching, input);
        boolean forgets = !(batching.forget() instanceof Forget.Never);
        boolean asksRetention = input == Input.STREAM && forgets;
        if (asksRetention) {
            conditions.add("retention");
        }
        long retentionMax = retentionHoursMax(pipeline, batching, input);
        String text = TemplateFile.text(NAME, conditions)
                .replace("<secret>", secret.orElse(""))
                .replace("<secret parameters>", secret.isPresent() ? SECRET_PARAMETERS : "")
                .replace("<secret characters>", String.valueOf(secretCharactersMax(secret.orElse(""), code)))
                .replace("<objects>", objects.orElse(""))
                .replace("<content actions>", contents.stream().collect(Collectors.joining("', '", "'", "'")))
                .replace("<function>", function.map(BatchTemplate::resource).orElse(""))
                .replace("<secret version>", secret.isPresent() ? "secret ${ReceiverSecretVersion}, " : "")
                .replace("<lanes>", String.valueOf(LANES))
                .replace("<lanes max>", String.valueOf(LANES_MAX))
                .replace("<input>", input.isStream() ? Environment.INPUT_STREAM : Environment.INPUT_QUEUE)
                .replace("<retention parameter>", asksRetention ? "InputRetentionHours, " : "")
                .replace("<retention>", String.valueOf(Math.min(STREAM_HOURS, retentionMax)))
                .replace("<retention max>", String.valueOf(retentionMax))
                .replace("<redelivery>", redelivery(input, forgets))
                .replace("<retention version>", forgets ? retentionVersion(input) : "")
                .replace("<collect timeout>", String.valueOf(collectTimeout(batching)))
                .replace(
                        "<collect timeouts>",
                        collectTimeouts(batching).mapToObj(String::valueOf).collect(Collectors.joining(", ")))
                .replace("<window>", String.valueOf(window(batching)))
                .replace(
                        "<deliver timeout>",
                        String.valueOf(FunctionReceivers.invocationMax(batching).toSeconds()))
                .replace(
                        "<unsealed alarm>",
                        String.valueOf(batching.waitMax().plus(UNSEALED_MAX).toMillis()))
                .replace("<pipeline code>", code);
        return TemplateFile.withDigests(text, FUNCTIONS).replace("<pipeline name>", pipeline.name());
    }

    private static Set<String> conditions(Batching batching, Input input) {
        Set<String> conditions = new TreeSet<>(Set.of(TemplateFile.condition(input)));
        FunctionReceivers.secret(batching).ifPresent(_ -> conditions.add("secret"));
        FunctionReceivers.objects(batching).ifPresent(_ -> conditions.add("objects"));
        FunctionReceivers.function(batching).ifPresent(_ -> conditions.add("function"));
        if (!FunctionReceivers.contentActions(batching).isEmpty()) {
            conditions.add("contents");
        }
        conditions.add(batching.direct() ? "direct" : "collected");
        return conditions;
    }

    /// How long a secret may be beside the other variables of Deliver, whatever the stack is called.
    private static int secretCharactersMax(String name, String code) {
        int left = Environment.CHARACTERS_MAX - DELIVER_CHARACTERS - code.length() - name.length();
        return Math.min(SECRET_CHARACTERS_MAX, left);
    }

    /// For how many hours a source may give a record again. It decides nothing where no id is forgotten.
    private static String redelivery(Input input, boolean forgets) {
        return switch (input) {
            case NEW_STREAM -> forgets ? "!Ref StreamRetentionHours" : String.valueOf(STREAM_HOURS_MAX);
            case STREAM -> forgets ? "!Ref InputRetentionHours" : String.valueOf(STREAM_HOURS_MAX);
            case NEW_QUEUE, QUEUE -> String.valueOf(Collect.REDELIVERY_OF_QUEUES.toHours());
        };
    }

    private static String retentionVersion(Input input) {
        return switch (input) {
            case NEW_STREAM -> "${StreamRetentionHours} h, ";
            case STREAM -> "${InputRetentionHours} h, ";
            case NEW_QUEUE, QUEUE -> "";
        };
    }

    /// How long a stream may keep records: shorter than ids are remembered.
    ///
    /// @throws IllegalArgumentException if the source gives a record again for longer in any case
    private static long retentionHoursMax(Pipeline pipeline, Batching batching, Input input) {
        if (!(batching.forget() instanceof Forget.After(Duration time))) {
            return STREAM_HOURS_MAX;
        }
        if (!input.isStream() && time.compareTo(Collect.REDELIVERY_OF_QUEUES) <= 0) {
            throw refusal(
                    pipeline,
                    "it forgets ids after a time in which a queue may give a message again: a queue keeps messages for"
                            + " up to 14 days. Write 'forget: 15d' or longer.");
        }
        if (input.isStream() && time.toHours() <= STREAM_HOURS_MIN) {
            throw refusal(
                    pipeline,
                    "it forgets ids after a time in which a stream may give a record again: a stream keeps records for"
                            + " 24 hours or longer. Write 'forget: 2d' or longer.");
        }
        return Math.min(STREAM_HOURS_MAX, time.toHours() - 1);
    }

    /// Time-outs that Collect may have, in seconds.
    private static IntStream collectTimeouts(Batching batching) {
        long least = batching.direct() ? FunctionReceivers.directMin(batching).toSeconds() : 0;
        return IntStream.of(30, COLLECT_SECONDS, 120, 300, 900).filter(seconds -> seconds >= least);
    }

    private static int collectTimeout(Batching batching) {
        return collectTimeouts(batching)
                .filter(seconds -> seconds >= COLLECT_SECONDS)
                .findFirst()
                .orElseThrow();
    }

    private static long window(Batching batching) {
        boolean isAtOnce = batching.size() == 1; // Nobody gathers what goes out one by one.
        long seconds = batching.waitMax().dividedBy(WINDOWS_PER_WAIT).toSeconds();
        return isAtOnce ? 1 : Math.clamp(seconds, 1, WINDOW.toSeconds());
    }

    private static String resource(String function) {
        return function.startsWith("arn:")
                ? "'" + function + "'"
                : "!Sub 'arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:" + function + "'";
    }

    /// The text.
    public String yaml() {
        return yaml;
    }

    /// The text for a trial: when the stack is deleted, everything goes that it has made.
    public String deletableYaml() {
        return TemplateFile.deletable(yaml);
    }

    /// The names of its parameters.
    public List<String> parameters() {
        return TemplateFile.parameters(yaml);
    }

    private static IllegalArgumentException refusal(Pipeline pipeline, String reason) {
        return new IllegalArgumentException("Pipeline " + pipeline.name() + " cannot be on AWS: " + reason);
    }
}
