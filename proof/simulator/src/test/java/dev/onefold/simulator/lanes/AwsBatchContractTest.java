package dev.onefold.simulator.lanes;

import dev.onefold.aws.AwsBatchEngine;
import dev.onefold.aws.batch.BatchDefinition;
import dev.onefold.aws.store.Store;
import dev.onefold.core.BatchContract;
import dev.onefold.core.Engine;
import dev.onefold.core.batch.Manifest;
import dev.onefold.core.batch.Outcome;
import dev.onefold.core.pipeline.Pipeline;
import java.time.Duration;
import java.util.List;
import java.util.function.BiFunction;

/// Batches on AWS keep the contract, on simulated services with a clock of their own.
class AwsBatchContractTest implements BatchContract {
    @Override
    public Running open(Pipeline pipeline, BiFunction<Manifest, List<String>, Outcome> receiver) {
        DeliveriesAtWork life = new DeliveriesAtWork(pipeline);
        life.receiver = attempt -> receiver.apply(attempt.handover().manifest(), attempt.lines());
        Store store = life.deployment.process(life.deployment.dynamo.client("person"));
        BatchDefinition.openOrCreate(store, pipeline, DeliveriesAtWork.LANES);
        AwsBatchEngine engine = AwsBatchEngine.deployed(store);
        return new Running() {
            @Override
            public Engine engine() {
                return engine;
            }

            @Override
            public void feed(List<String> records) {
                life.collect(records.toArray(String[]::new));
            }

            @Override
            public void passed(Duration time) {
                for (long minute = 0; minute < time.toMinutes(); minute++) {
                    life.passed(Duration.ofSeconds(50));
                    life.cut();
                    life.passed(Duration.ofSeconds(10)); // Clocks differ by three seconds.
                    life.deliver();
                }
            }

            @Override
            public void close() {
                engine.close();
            }
        };
    }
}
