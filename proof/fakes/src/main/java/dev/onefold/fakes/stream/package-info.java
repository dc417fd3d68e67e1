/// Simulated streams: Kinesis, and the change streams of simulated tables, behind the SDK's own client interfaces.
@NullMarked
package dev.onefold.fakes.stream;

import org.jspecify.annotations.NullMarked;
