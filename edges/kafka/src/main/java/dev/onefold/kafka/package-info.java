/// Kafka: [KafkaIntake] brings the records of a topic to the embedded engine. The order of the packages:
///
///     kafka > format
@NullMarked
package dev.onefold.kafka;

import org.jspecify.annotations.NullMarked;
