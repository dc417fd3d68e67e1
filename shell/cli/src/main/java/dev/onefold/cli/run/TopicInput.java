package dev.onefold.cli.run;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.call.ExitCode;
import dev.onefold.cli.data.PipelineArgument;
import dev.onefold.core.Engine;
import dev.onefold.core.pipeline.Origin;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.embedded.EmbeddedEngine;
import dev.onefold.kafka.KafkaClients;
import dev.onefold.kafka.KafkaIntake;
import dev.onefold.kafka.TopicAgain;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The topic of Kafka that a pipeline reads by itself.
///
/// @param origin as the pipeline file has it
public record TopicInput(Origin.Kafka origin, KafkaClients clients) {
    private static final Pattern GAP = Pattern.compile("(.+)/([0-9]{1,9}):([0-9]{1,18})-([0-9]{1,18})");

    /// The topic of a pipeline file; empty if it names none, or if the pipeline is given by its name.
    ///
    /// @throws CommandFailure if the properties of its client are not possible
    public static Optional<TopicInput> of(Caller caller, PipelineArgument pipeline) {
        Pipeline definition = pipeline.directory().definition();
        return definition != null && definition.origin() instanceof Origin.Kafka kafka
                ? Optional.of(of(caller, pipeline.folder(), kafka))
                : Optional.empty();
    }

    /// The same of a pipeline file in a folder.
    ///
    /// @throws CommandFailure if the properties of its client are not possible
    public static TopicInput of(Caller caller, Path folder, Origin.Kafka origin) {
        try {
            return new TopicInput(origin, new KafkaClients(origin, folder, caller.environment()::get));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()).replaceFirst("\\.$", "") + ".");
        }
    }

    /// Lets an engine that was opened in this process read the topic of its pipeline file again.
    public static void lend(Optional<PipelineArgument> pipeline, Engine engine) {
        if (engine instanceof EmbeddedEngine here) { // Another process knows its topic itself.
            pipeline.flatMap(argument -> of(argument.caller(), argument))
                    .ifPresent(topic -> here.rereads(TopicAgain.of(topic.clients, topic.origin, here.directory())));
        }
    }

    /// The offsets that a person accepts to be lost.
    ///
    /// @param texts each like `trades/3:30-60`
    List<KafkaIntake.Gap> gaps(List<String> texts) {
        return texts.stream().map(this::gap).toList();
    }

    private KafkaIntake.Gap gap(String text) {
        Matcher matcher = GAP.matcher(text);
        if (!matcher.matches() || !matcher.group(1).equals(origin.log())) {
            throw CommandFailure.usage("--accept-gap is like " + origin.log() + "/3:30-60, for partition 3 of the"
                    + " topic that the pipeline reads; not " + text + ".");
        }
        return new KafkaIntake.Gap(
                Integer.parseInt(matcher.group(2)), Long.parseLong(matcher.group(3)), Long.parseLong(matcher.group(4)));
    }

    /// Folds records until a stop is wished.
    ///
    /// @return [ExitCode#DIFFERENT] if a partition is not read any more
    ///
    /// @param gaps that are accepted before
    public ExitCode fold(Caller caller, EmbeddedEngine engine, List<KafkaIntake.Gap> gaps, StopRequest stop) {
        KafkaIntake intake = new KafkaIntake(clients, origin, engine, gaps, caller::note);
        try {
            intake.run(stop::isMade);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()).replaceFirst("\\.$", "") + ".");
        }
        return intake.stopped().isEmpty() ? ExitCode.DONE : ExitCode.DIFFERENT;
    }
}
