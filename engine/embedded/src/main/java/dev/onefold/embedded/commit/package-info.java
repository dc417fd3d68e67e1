/// Requests that come through the journal: checked, forced together, folded.
@NullMarked
package dev.onefold.embedded.commit;

import org.jspecify.annotations.NullMarked;
