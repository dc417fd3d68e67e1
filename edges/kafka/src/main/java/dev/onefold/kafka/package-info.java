/// Kafka: [KafkaIntake] brings the records of a topic to the embedded engine; [KafkaTotals] writes its totals to one,
/// and [KafkaReceiver] its batches. The order of the packages:
///
///     kafka > format
@NullMarked
package dev.onefold.kafka;

import org.jspecify.annotations.NullMarked;
