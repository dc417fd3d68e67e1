/// `onefold aws trial` and `onefold aws clean`: a deployment that is made, fed, compared and deleted again.
@NullMarked
package dev.onefold.cli.trial;

import org.jspecify.annotations.NullMarked;
