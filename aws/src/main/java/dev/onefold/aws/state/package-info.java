/// The first function: decodes, decides, and writes rows with their delta in one transaction.
@NullMarked
package dev.onefold.aws.state;

import org.jspecify.annotations.NullMarked;
