package dev.onefold.cli.aws;

import dev.onefold.aws.AwsEngine;
import dev.onefold.aws.event.Arrival;
import dev.onefold.aws.state.StateAndMap;
import dev.onefold.aws.store.Store;
import dev.onefold.cli.Cli;
import dev.onefold.cli.Cli.Result;
import dev.onefold.core.pipeline.Pipeline;
import dev.onefold.yaml.PipelineFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A deployment of one test, under a name of its own, and the command line that is told this name.
///
/// @param store its tables, as a process sees them
record Deployed(LocalServices services, String name, Cli cli, Store store) {
    private static int deployments;

    /// One whose tables are yet to be made.
    ///
    /// @param folder that the command line is called in
    static Deployed in(Path folder, LocalServices services) {
        String name = "test-" + ++deployments;
        return new Deployed(services, name, Cli.in(folder), services.store(name));
    }

    void deploy(Pipeline pipeline) {
        services.deploy(name, pipeline);
    }

    /// Writes a pipeline file and deploys it.
    void deploy(String file, String text) {
        deploy(PipelineFile.pipeline(cli.write(file, text)));
    }

    /// Brings these records into the rows and into the totals.
    void fold(String... records) {
        List<Arrival> arrivals = new ArrayList<>();
        for (String record : records) {
            arrivals.add(new Arrival(
                    "s/shard", Integer.toString(arrivals.size() + 1), 0, record.getBytes(StandardCharsets.UTF_8)));
        }
        StateAndMap.process(store, arrivals);
        AwsEngine.deployed(store).reduce();
    }

    /// A command of `onefold aws` that finds the deployment.
    String[] command(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--deployment", name));
        return services.command(all.toArray(String[]::new));
    }

    Result aws(String... arguments) {
        return cli.run(command(arguments));
    }
}
