/// The sources that an application names: files that can be read again or grow and are rotated, batches of a log
/// or a queue, and the reports of the engine about them.
@NullMarked
package dev.onefold.embedded.source;

import org.jspecify.annotations.NullMarked;
