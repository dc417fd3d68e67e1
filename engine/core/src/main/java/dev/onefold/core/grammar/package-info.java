/// The grammar of pipeline files: documents to the model, with all that is wrong in them, and the model back to text.
/// It is one idea: the parts of one language, which share their tokens.
@NullMarked
package dev.onefold.core.grammar;

import org.jspecify.annotations.NullMarked;
