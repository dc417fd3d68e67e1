/// Simulated queues, behind the SDK's own client interface.
@NullMarked
package dev.onefold.fakes.queue;

import org.jspecify.annotations.NullMarked;
