package dev.onefold.simulator.deployment;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.function.UpkeepFunction;
import dev.onefold.aws.upkeep.Upkeep;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.simulator.embedded.PipelineYaml;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Dump;
import org.snakeyaml.engine.v2.api.DumpSettings;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.common.ScalarStyle;
import org.snakeyaml.engine.v2.schema.FailsafeSchema;

/// Deploys changed pipelines while records arrive, back and forth, also before the one before has come to serve; and
/// wakes Upkeep, which is killed now and then, runs out of time, and audits.
///
/// A changed pipeline has more roll-ups, of levels and measures that are there already. So it refuses the same records
/// and settles conflicts alike, and its totals do not depend on when it was deployed. One may have narrower decimals,
/// too: it refuses more, and which version of a key it counts depends on when it was deployed. But it loses nothing, so
/// such a life ends with the first pipeline, whose totals are those of all records again.
final class Releases {
    private static final Pattern FUNCTION = Pattern.compile("(count|sum|average|min|max|distinct)\\(");
    private static final Duration TICK_MAX = Duration.ofSeconds(20);
    private static final int RELEASES_MAX = 3;
    private static final int STEPS_MAX = 50;
    private static final Pattern DECIMAL = Pattern.compile("decimal\\((\\d+),(\\d+)\\)");

    private final Deployment deployment;
    private final SplittableRandom random;
    private final List<String> story;
    private final Sandboxes sandboxes;
    private final List<String> yamls = new ArrayList<>();
    private final List<Pipeline> pipelines = new ArrayList<>();
    private int wanted;
    private boolean narrows;
    private boolean stopped;

    /// @param yaml the pipeline that was deployed first
    Releases(Deployment deployment, SplittableRandom random, double faultChance, String yaml, List<String> story) {
        this.deployment = deployment;
        this.random = random;
        this.story = story;
        sandboxes = new Sandboxes(
                deployment,
                random.split(),
                faultChance,
                client ->
                        event -> new UpkeepFunction(deployment.store(client), pipelines.get(wanted), Deployment.SILENT)
                                .handle(event, () -> random.nextInt(8) > 0));
        yamls.add(yaml);
        pipelines.add(PipelineYaml.read(yaml));
        for (int i = random.nextInt(RELEASES_MAX); i > 0; i--) {
            String changed = random.nextInt(3) == 0 ? narrower(changed(yaml)) : changed(yaml);
            Pipeline pipeline = PipelineYaml.read(changed);
            if (isPossible(pipeline)) {
                yamls.add(changed);
                pipelines.add(pipeline);
            }
        }
        later(TICK_MAX, this::tick);
        for (int i = random.nextInt(2 * RELEASES_MAX); i > 0; i--) {
            later(TICK_MAX.multipliedBy(3), () -> {
                if (!stopped) {
                    wanted = random.nextInt(pipelines.size());
                    story.add("deployed release " + wanted);
                }
            });
        }
    }

    /// Whether a release may refuse what another one takes.
    boolean narrow() {
        return narrows;
    }

    /// The same with digits taken from one decimal.
    private String narrower(String yaml) {
        List<String> types = DECIMAL.matcher(yaml)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList();
        if (types.isEmpty()) {
            return yaml;
        }
        String type = types.get(random.nextInt(types.size()));
        Matcher digits = DECIMAL.matcher(type);
        if (!digits.matches()) {
            throw new IllegalStateException("Not a decimal: " + type);
        }
        int scale = Integer.parseInt(digits.group(2));
        int whole = Integer.parseInt(digits.group(1)) - scale;
        boolean less = scale > 0 && random.nextInt(3) > 0;
        int scaleNow = less ? Math.max(random.nextInt(scale), whole == 0 ? 1 : 0) : scale; // One digit must be left.
        int wholeNow = less ? whole : Math.min(whole, 1 + random.nextInt(2));
        narrows = true;
        return yaml.replace(type, "decimal(" + (wholeNow + scaleNow) + "," + scaleNow + ")");
    }

    /// Whether the pipeline may change.
    boolean areSeveral() {
        return pipelines.size() > 1;
    }

    /// Whether the pipeline can be on AWS.
    static boolean isPossible(Pipeline pipeline) {
        try {
            AwsEngine.requirePossible(pipeline);
            return true;
        } catch (IllegalArgumentException refused) {
            return false;
        }
    }

    private String changed(String yaml) {
        LoadSettings settings = LoadSettings.builder()
                .setSchema(new FailsafeSchema())
                .setBufferSize(yaml.length() + 2)
                .build();
        Map<Object, Object> file = new LinkedHashMap<>();
        map(new Load(settings).loadFromString(yaml)).forEach(file::put);
        Map<Object, Object> rollups = new LinkedHashMap<>();
        if (file.containsKey("rollup")) {
            rollups.put("main", file.remove("rollup"));
        } else {
            map(file.get("rollups")).forEach(rollups::put);
        }
        List<Object> known = List.copyOf(rollups.values());
        for (int more = 1 + random.nextInt(2); more > 0; more--) {
            Map<?, ?> from = map(known.get(random.nextInt(known.size())));
            List<Object> levels = new ArrayList<>((List<?>) Objects.requireNonNull(from.get("levels")));
            levels.removeIf(_ -> random.nextInt(3) == 0);
            Map<Object, Object> measures = new LinkedHashMap<>();
            int before = 0;
            for (Map.Entry<?, ?> measure : map(from.get("measures")).entrySet()) {
                boolean isWhole = measures.size() == before++; // A formula may name any measure before it.
                boolean isFormula =
                        !FUNCTION.matcher(String.valueOf(measure.getValue())).lookingAt();
                if (measures.isEmpty() && !isFormula || (isWhole || !isFormula) && random.nextBoolean()) {
                    measures.put(measure.getKey(), measure.getValue());
                }
            }
            if (measures.isEmpty()) {
                map(from.get("measures")).forEach(measures::put);
            }
            rollups.put("more" + more, Map.of("levels", levels, "measures", measures));
        }
        file.put("rollups", rollups);
        DumpSettings written = DumpSettings.builder()
                .setSchema(new FailsafeSchema())
                .setDefaultScalarStyle(ScalarStyle.DOUBLE_QUOTED)
                .build();
        return new Dump(written).dumpToString(file);
    }

    private static Map<?, ?> map(@Nullable Object node) {
        return (Map<?, ?>) Objects.requireNonNull(node);
    }

    private void later(Duration max, Runnable action) {
        deployment.time.schedule(Duration.ofNanos(random.nextLong(max.toNanos()) + 1), action);
    }

    private void tick() {
        if (stopped) {
            return;
        }
        later(TICK_MAX, this::tick);
        String event = random.nextInt(8) == 0 ? "{\"audit\": " + (1 + random.nextInt(3)) + "}" : "{}";
        // What fails goes on at the next tick; the totals at the end say whether it did.
        var _ = sandboxes.invoke(event.getBytes(StandardCharsets.UTF_8));
    }

    /// No more of it, but for what is under way.
    void stop() {
        stopped = true;
    }

    /// The pipeline file that is deployed.
    String deployed() {
        return yamls.get(wanted);
    }

    /// Deploys the first release again, which takes all that another one refuses.
    void widen() {
        wanted = 0;
        story.add("deployed release 0 at the end");
    }

    /// Ends with the last release serving, everything else cleaned away, and an audit.
    void settle() {
        if (sandboxes.bug() != null) {
            throw new AssertionError("Upkeep failed", sandboxes.bug());
        }
        boolean audited = false;
        for (int steps = 1; steps <= STEPS_MAX; steps++) {
            Upkeep.Outcome outcome = Upkeep.step(
                    deployment.store(deployment.dynamo.client("settling")),
                    pipelines.get(wanted),
                    audited ? 0 : 2,
                    () -> true,
                    _ -> {});
            switch (outcome) {
                case Upkeep.Outcome.Refused(var reason) -> throw new AssertionError("Refused: " + reason);
                case Upkeep.Outcome.Audited(var verification) -> {
                    audited = true;
                    if (!verification.isEqual()) {
                        throw new AssertionError("An audit found " + verification.differences());
                    }
                }
                case Upkeep.Outcome.Idle _ -> {
                    if (audited) {
                        return;
                    }
                    deployment.time.runFor(Duration.ofMinutes(16)); // A view of somebody else is left behind.
                }
                case Upkeep.Outcome.Serving _, Upkeep.Outcome.Working _ -> {}
            }
        }
        throw new AssertionError("After " + STEPS_MAX + " steps Upkeep is not done");
    }
}
