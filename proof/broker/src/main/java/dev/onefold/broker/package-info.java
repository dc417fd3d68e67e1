/// A real broker of Kafka for tests and examples.
@NullMarked
package dev.onefold.broker;

import org.jspecify.annotations.NullMarked;
