/// Batches into a database: [JdbcReceiver] writes the rows and the batch's number in one transaction.
/// Totals as tables: [JdbcTotals].
@NullMarked
package dev.onefold.jdbc;

import org.jspecify.annotations.NullMarked;
