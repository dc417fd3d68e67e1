/// The tables: requests that are sent again until they are answered, transactions and what became of them, and
/// reads that wait until a transaction is visible, whole.
@NullMarked
package dev.onefold.aws.store;

import org.jspecify.annotations.NullMarked;
