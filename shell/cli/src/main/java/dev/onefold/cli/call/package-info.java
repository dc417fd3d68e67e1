/// The caller of a command, with its streams, current directory, environment and terminal; and the exit codes.
@NullMarked
package dev.onefold.cli.call;

import org.jspecify.annotations.NullMarked;
