/// The pipeline model: the content of a pipeline file, as values. It imports no room; every room may import
/// it.
@NullMarked
package dev.onefold.core.pipeline;

import org.jspecify.annotations.NullMarked;
