/// The command `onefold`: the one place where the parts are put together.
@NullMarked
package dev.onefold.cli;

import org.jspecify.annotations.NullMarked;
