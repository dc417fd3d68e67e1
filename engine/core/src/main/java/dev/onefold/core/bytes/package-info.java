/// Bytes: written and read, hashed, digested. It knows nothing of events.
@NullMarked
package dev.onefold.core.bytes;

import org.jspecify.annotations.NullMarked;
