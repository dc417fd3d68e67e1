/// The content of a data directory when it is opened, and its owner.
@NullMarked
package dev.onefold.embedded.directory;

import org.jspecify.annotations.NullMarked;
