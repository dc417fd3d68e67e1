/// Pipeline files: YAML into the nodes that the core checks, and the problems of a file as a terminal shows
/// them. A program that embeds the engine reads a file with [PipelineFile#pipeline].
@NullMarked
package dev.onefold.yaml;

import org.jspecify.annotations.NullMarked;
