/// The seedings and repairs of an engine on a data directory, noted in the folder `seeds` of the directory.
@NullMarked
package dev.onefold.api.sync;

import org.jspecify.annotations.NullMarked;
