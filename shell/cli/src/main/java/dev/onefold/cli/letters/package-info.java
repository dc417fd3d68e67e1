/// The verbs on dead letters: the rejected records of a pipeline, each whole, with its reason.
@NullMarked
package dev.onefold.cli.letters;

import org.jspecify.annotations.NullMarked;
