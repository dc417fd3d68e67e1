package dev.onefold.core.pipeline;

/// The limits that every record and pipeline meets at the door, alike in every runtime.
public final class Limits {
    public static final int KEY_BYTES_MAX = 1_000;
    public static final int VERSION_DIGITS_MAX = 64;
    public static final int RECORD_BYTES_MAX = 10 * 1024 * 1024;

    /// Of key, groups and texts together.
    public static final int ROW_BYTES_MAX = 90 * 1000;

    /// Of one group: the values of its levels, with two bytes for the end of each. On AWS one record touches up to 24
    /// groups and texts, old and new ones, for two views: they are one item of 400 KB.
    public static final int GROUP_BYTES_MAX = 2_000;

    /// Of one text that is counted.
    public static final int TEXT_BYTES_MAX = 2_000;

    public static final int NESTING_MAX = 64;
    public static final int VALUE_DIGITS_MAX = 28;
    public static final int SUM_DIGITS_MAX = 38;
    public static final int LEVELS_MAX = 16;
    public static final int ROLLUPS_MAX = 16;
    public static final int MEASURES_MAX = 32;
    public static final int GROUPS_PER_RECORD_MAX = 90;
    public static final int FACTORS_MAX = 8;

    /// Of a formula in which the formulas that it names are written out.
    public static final int OPERANDS_MAX = 64;

    public static final int LETS_MAX = 32;

    /// Of a text that a derived field reads or makes.
    public static final int LET_BYTES_MAX = 10_000;

    /// Of one factor, before the point and behind it, each.
    public static final int FACTOR_DIGITS_MAX = 28;

    public static final int NAME_LENGTH_MAX = 64;
    public static final int KEY_FIELDS_MAX = 16;
    public static final int UNWRAPS_MAX = 4;
    public static final int PREFIX_LENGTH_MAX = 1_000;
    public static final int DURATION_DAYS_MAX = 36_500;

    /// Clocks and time zones differ by less. With a shorter horizon, records of a sender whose clock is behind would be
    /// too old on arrival.
    public static final int HORIZON_DAYS_MIN = 1;

    private Limits() {}
}
