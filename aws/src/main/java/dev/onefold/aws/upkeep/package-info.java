/// What keeps a deployment as it should be, a little each minute: another pipeline, an audit, views that nobody needs.
@NullMarked
package dev.onefold.aws.upkeep;

import org.jspecify.annotations.NullMarked;
