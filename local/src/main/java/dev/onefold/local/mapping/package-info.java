/// The event source mapping: what reads streams and queues and invokes functions with what it finds.
@NullMarked
package dev.onefold.local.mapping;

import org.jspecify.annotations.NullMarked;
