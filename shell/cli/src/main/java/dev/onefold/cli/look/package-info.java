/// Looks at real input before there is a pipeline for it, or before the pipeline is run.
@NullMarked
package dev.onefold.cli.look;

import org.jspecify.annotations.NullMarked;
