/// Load for trying pipelines: seeded messages, and the producer's own totals of them.
@NullMarked
package dev.onefold.cli.generate;

import org.jspecify.annotations.NullMarked;
