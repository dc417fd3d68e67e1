package dev.onefold.aws.letter;

/// The record of a dead letter is gone, or is not what it was. No later try would find it.
public final class UnreadableLetter extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    UnreadableLetter(LetterBytes.Place place, String what) {
        super("The record of a dead letter, object " + place.object() + " of bucket " + place.bucket() + ", " + what
                + ". The bucket keeps versions: restore the one that the letter was kept with, or purge the letter.");
    }
}
