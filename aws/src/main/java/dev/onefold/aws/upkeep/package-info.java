/// The upkeep of a deployment, a little each minute: another pipeline, audits, and views that nobody needs.
@NullMarked
package dev.onefold.aws.upkeep;

import org.jspecify.annotations.NullMarked;
