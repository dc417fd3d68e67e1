/// A simulated DynamoDB: the SDK's own client interface over tables in memory, in virtual time, with the faults that
/// the real service has. One seed, one schedule.
@NullMarked
package dev.onefold.fakes.aws;

import org.jspecify.annotations.NullMarked;
