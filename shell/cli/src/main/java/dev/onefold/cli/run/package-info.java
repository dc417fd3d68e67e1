/// `onefold run`: brings input to the engine, from files, from files that are still being written, from standard input,
/// a queue and a topic.
///
/// It is one idea: an input that a person names, until it ends or is stopped.
@NullMarked
package dev.onefold.cli.run;

import org.jspecify.annotations.NullMarked;
