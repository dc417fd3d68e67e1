/// `onefold serve`: engines of several pipelines in one process, by HTTP, with the inputs that they follow.
@NullMarked
package dev.onefold.cli.serve;

import org.jspecify.annotations.NullMarked;
