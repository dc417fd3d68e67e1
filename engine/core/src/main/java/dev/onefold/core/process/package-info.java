/// A user's function per key: loaded, with its types checked, and the state of its keys as people see it.
@NullMarked
package dev.onefold.core.process;

import org.jspecify.annotations.NullMarked;
