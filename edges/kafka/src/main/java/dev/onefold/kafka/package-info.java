/// Kafka: [KafkaIntake] brings the records of a topic to the embedded engine.
@NullMarked
package dev.onefold.kafka;

import org.jspecify.annotations.NullMarked;
