/// Lives of pipelines whose tables are seeded while they change.
@NullMarked
package dev.onefold.simulator.seeding;

import org.jspecify.annotations.NullMarked;
