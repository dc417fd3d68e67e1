/// SQS queues: [QueueIntake] brings their messages to the embedded engine, [QueueSender] sends lines to one.
@NullMarked
package dev.onefold.sqs;

import org.jspecify.annotations.NullMarked;
