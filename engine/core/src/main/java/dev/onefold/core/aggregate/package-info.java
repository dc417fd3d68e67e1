/// The fifth room: amounts added up.
@NullMarked
package dev.onefold.core.aggregate;

import org.jspecify.annotations.NullMarked;
