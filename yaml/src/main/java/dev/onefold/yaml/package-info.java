/// Pipeline files: YAML into the nodes that the core judges, and what is wrong with a file as a terminal shows it. A
/// program that embeds the engine reads a file with [PipelineFile#pipeline].
@NullMarked
package dev.onefold.yaml;

import org.jspecify.annotations.NullMarked;
