/// Where a pipeline's data lie, and how a command reaches the engine on them: by opening the directory, which it then
/// owns and serves to others over a socket, or through the process that owns it.
/// And the question before data are deleted.
@NullMarked
package dev.onefold.cli.data;

import org.jspecify.annotations.NullMarked;
