/// JSON text: read into nodes, and written from values and Java records. Also two parts that readers of any text
/// share: the refusal that ends a reading, and the search for the word that was probably meant.
@NullMarked
package dev.onefold.core.json;

import org.jspecify.annotations.NullMarked;
