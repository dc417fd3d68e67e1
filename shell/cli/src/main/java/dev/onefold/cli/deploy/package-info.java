/// `onefold aws deploy`: the stack of a pipeline, made or updated, with its bucket and its archive.
@NullMarked
package dev.onefold.cli.deploy;

import org.jspecify.annotations.NullMarked;
