/// The engine on one machine: one durable process.
@NullMarked
package dev.onefold.embedded;

import org.jspecify.annotations.NullMarked;
