package dev.onefold.aws.item;

/// Names a delta: the lane that it stands in, and what is unique there. Ids of a lane are about in the order of time,
/// on which only depends how much one run of Reduce takes.
///
/// @param lane from 0
public record DeltaId(int lane, String id) {
    /// Reads what [#toString] wrote.
    public static DeltaId parse(String text) {
        int slash = text.indexOf('/');
        return new DeltaId(Integer.parseInt(text, 0, slash, 10), text.substring(slash + 1));
    }

    @Override
    public String toString() {
        return lane + "/" + id;
    }
}
