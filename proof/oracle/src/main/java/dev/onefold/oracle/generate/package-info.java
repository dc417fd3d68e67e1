/// Random pipelines and records for them, from a seed: all of `docs/pipelines.md`, and what the world puts in its way.
@NullMarked
package dev.onefold.oracle.generate;

import org.jspecify.annotations.NullMarked;
