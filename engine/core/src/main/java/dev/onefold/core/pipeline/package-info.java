/// The pipeline model: the content of a pipeline file, as values. It imports no room; every room may import
/// it. It is one idea: the parts of one file.
@NullMarked
package dev.onefold.core.pipeline;

import org.jspecify.annotations.NullMarked;
