package dev.onefold.aws.store;

/// A table was restored from a backup, or replaced by another one.
public final class OtherTable extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /// Nobody may write until a reset or a restore is done.
    public OtherTable() {
        super("The deployment is closed, because 'onefold aws reset' or 'onefold aws restored' is under way, or was"
                + " stopped. Nothing is written or answered until that has been run to its end.");
    }

    /// This table is another one than the deployment knows.
    public OtherTable(TableIds.Found table) {
        super("Table " + table.name() + " was restored from a backup, or replaced by another one, at "
                + table.created()
                + ": what it and the other tables hold may be from different times. Nothing is written"
                + " or answered until 'onefold aws restored' has been run.");
    }
}
