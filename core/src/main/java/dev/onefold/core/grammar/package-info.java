/// The grammar of pipeline files: documents to the model, with all that is wrong in them, and the model back to text.
@NullMarked
package dev.onefold.core.grammar;

import org.jspecify.annotations.NullMarked;
