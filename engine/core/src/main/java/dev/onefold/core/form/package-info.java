/// Answers in the forms that programs read: JSON and CSV.
@NullMarked
package dev.onefold.core.form;

import org.jspecify.annotations.NullMarked;
