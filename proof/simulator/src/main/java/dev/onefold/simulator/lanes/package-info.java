/// Lives of a pipeline's batches on AWS: a queue, collectors, cutters, deliverers and a receiver, all of which fail.
@NullMarked
package dev.onefold.simulator.lanes;

import org.jspecify.annotations.NullMarked;
