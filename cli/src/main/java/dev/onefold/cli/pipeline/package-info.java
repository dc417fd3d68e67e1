/// Pipeline files: YAML into the nodes that the core judges, and what is wrong with a file as a terminal shows it.
@NullMarked
package dev.onefold.cli.pipeline;

import org.jspecify.annotations.NullMarked;
