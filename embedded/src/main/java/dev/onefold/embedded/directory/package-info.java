/// What a data directory holds when it is opened, and whose it is.
@NullMarked
package dev.onefold.embedded.directory;

import org.jspecify.annotations.NullMarked;
