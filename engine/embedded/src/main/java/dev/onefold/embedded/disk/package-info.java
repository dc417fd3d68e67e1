/// Files: written, forced, checked, read again.
@NullMarked
package dev.onefold.embedded.disk;

import org.jspecify.annotations.NullMarked;
