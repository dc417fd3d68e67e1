package dev.onefold.aws.letter;

import dev.onefold.aws.store.Store;
import dev.onefold.core.bytes.Sha256;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// The records of dead letters, each an object of a bucket. An object's name is made of the letter's identity and of
/// its content, so it may be written any number of times, by anyone, and is always the same; behind them a record that
/// has taken another's place has an id. The [dev.onefold.aws.item.Incarnation] is in the name, too: a bucket has no
/// conditions, so a request to remove an object may come after any wait, and must not find the object of a letter that
/// was kept again after a reset. Any thread may call.
final class LetterBytes {
    private static final int FORBIDDEN = 403;

    private final Store store;

    /// Where a record lies.
    record Place(String bucket, String object) {
        /// Where another record of the same letter is to lie.
        ///
        /// @param id makes it a place where nothing has ever lain
        Place with(byte[] record, String id) {
            return new Place(bucket, object.substring(0, object.indexOf('/') + 1) + Sha256.hex(record) + "-" + id);
        }
    }

    LetterBytes(Store store) {
        this.store = store;
    }

    /// Where the record of a letter belongs.
    ///
    /// @param incarnation of the definition that it is kept under; empty where none is emptied for the next run
    static Place at(String bucket, String incarnation, Letter letter) {
        return new Place(
                bucket,
                Sha256.hex((incarnation + letter.identity()).getBytes(StandardCharsets.UTF_8)) + "/"
                        + Sha256.hex(letter.arrival().data()));
    }

    /// Durable when it returns. The service compares the hash with what has arrived.
    void put(Place place, byte[] record) {
        String hash = Base64.getEncoder().encodeToString(Sha256.of(record));
        store.retried(() -> store.bucket()
                .client()
                .get()
                .putObject(
                        request -> request.bucket(place.bucket())
                                .key(place.object())
                                .checksumSHA256(hash)
                                .contentLength((long) record.length),
                        AsyncRequestBody.fromBytesUnsafe(record)));
    }

    /// The record.
    ///
    /// @param sha256 of it, as the letter says
    byte[] read(Place place, String sha256) {
        byte[] record;
        try {
            record = store.retried(() -> store.bucket()
                            .client()
                            .get()
                            .getObject(
                                    request -> request.bucket(place.bucket()).key(place.object()),
                                    AsyncResponseTransformer.toBytes()))
                    .asByteArray();
        } catch (NoSuchKeyException gone) {
            throw new UnreadableLetter(place, "is not there any more");
        } catch (S3Exception refused) {
            if (refused.statusCode() != FORBIDDEN) {
                throw refused;
            }
            throw new UnreadableLetter(
                    place,
                    "may not be read, or is not there any more: a role that may not list the bucket is told"
                            + " 'forbidden' of both");
        }
        String hash = Sha256.hex(record);
        if (!hash.equals(sha256)) {
            throw new UnreadableLetter(place, "has been changed: its hash is " + hash + ", not " + sha256);
        }
        return record;
    }

    /// Removes the record, if it is there.
    void remove(Place place) {
        store.retried(() -> store.bucket()
                .client()
                .get()
                .deleteObject(request -> request.bucket(place.bucket()).key(place.object())));
    }
}
