/// A document as values with places: nodes and problems. It knows nothing of pipelines; the grammar reads
/// them from it.
@NullMarked
package dev.onefold.core.document;

import org.jspecify.annotations.NullMarked;
