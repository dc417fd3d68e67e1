package dev.onefold.aws.batch;

import dev.onefold.aws.item.Items;
import dev.onefold.aws.item.RowItem;
import dev.onefold.core.batch.BatchNumber;
import dev.onefold.core.batch.Delivery;
import dev.onefold.core.batch.Delivery.How;
import dev.onefold.core.batch.Delivery.Tries;
import dev.onefold.core.batch.Members;
import dev.onefold.core.batch.Members.Range;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/// How far the delivery of a batch, or of a part of one, is. Every change is conditional on the revision that it was
/// made of, so of two deliverers one is refused.
///
///     item = k 00 "batch/<number>", v revision, y state, tc, tf, tg, tu its tries, w time, q reason, o owner, u when
///            that owner is gone, n its slot, g 1 if an owner was gone without an answer, lt how
///            often in a row an invocation had no time left for it, e how it ended, d how many
/// parts it was divided into, a its members where it is a
///            part, h, p, z its proof, j the object of its content, rm where it is being
///            removed
///
/// @param attributes of the item, all of them
record DeliveryItem(BatchNumber number, Map<String, AttributeValue> attributes) {
    /// The hash and the size that prove the content. They are recorded before the first attempt and never change.
    ///
    /// @param sha256 of the content
    /// @param previous SHA-256 of the batch before; empty for the first one and for a part
    /// @param bytes of the content
    /// @param object name of the content's object in the stack's bucket; empty if there is none
    record Proof(String sha256, String previous, long bytes, String object) {
        Proof in(String written) {
            return new Proof(sha256, previous, bytes, written);
        }
    }

    static final String REMOVED = "rm";

    DeliveryItem {
        attributes = Map.copyOf(attributes);
    }

    static Map<String, AttributeValue> key(BatchNumber number) {
        return RowItem.other("batch/" + number);
    }

    /// Of a batch that is sealed now.
    static DeliveryItem sealed(BatchNumber number, SealedBatch batch, Delivery delivery) {
        Map<String, AttributeValue> item = new TreeMap<>(key(number));
        item.putAll(batch.attributes());
        return new DeliveryItem(number, with(item, 1, delivery));
    }

    /// The attributes of a delivery that was begun before its batch was sealed; see [Direct].
    ///
    /// @param goneMs when the owner of its attempt is gone for certain
    static Map<String, AttributeValue> begun(Delivery delivery, long goneMs) {
        Map<String, AttributeValue> item = new TreeMap<>(with(Map.of(), 1, delivery));
        item.put("u", Items.number(goneMs));
        return item;
    }

    /// The same with other attributes of its delivery.
    DeliveryItem with(Map<String, AttributeValue> begun) {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.putAll(begun);
        return new DeliveryItem(number, item);
    }

    /// Of a part that arises now.
    static DeliveryItem part(Delivery.Part part) {
        Map<String, AttributeValue> item = new TreeMap<>(key(part.number()));
        ByteBuffer packed = ByteBuffer.allocate(part.members().ranges().size() * 2 * Integer.BYTES);
        part.members().ranges().forEach(range -> packed.putInt(range.from()).putInt(range.to()));
        item.put("a", Items.bytes(packed.array()));
        return new DeliveryItem(part.number(), with(item, 1, part.delivery()));
    }

    /// The same in another state, under the next revision.
    DeliveryItem next(Delivery delivery) {
        return new DeliveryItem(number, with(attributes, revision() + 1, delivery));
    }

    /// The same under another revision.
    DeliveryItem at(long revision) {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.put("v", Items.number(revision));
        return new DeliveryItem(number, item);
    }

    /// The same with its proof, under the next revision.
    DeliveryItem proven(Proof proof) {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.put("h", AttributeValue.fromS(proof.sha256));
        item.put("p", AttributeValue.fromS(proof.previous));
        item.put("z", Items.number(proof.bytes));
        if (!proof.object.isEmpty()) {
            item.put("j", AttributeValue.fromS(proof.object));
        }
        item.put("v", Items.number(revision() + 1));
        return new DeliveryItem(number, item);
    }

    /// The same under the same revision, about to be begun by an owner that is gone for certain at a time.
    DeliveryItem ownedUntil(long goneMs, int slot) {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.put("u", Items.number(goneMs));
        item.put("n", Items.number(slot));
        return new DeliveryItem(number, item);
    }

    /// The same under the same revision, whose owner is gone without an answer.
    DeliveryItem unanswered() {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.put("g", Items.number(1));
        item.remove("lt");
        return new DeliveryItem(number, item);
    }

    /// Whether an invocation has ended while it made an attempt: the next attempts are made alone in theirs.
    boolean isAlone() {
        return attributes.containsKey("g");
    }

    /// The same under the same revision, whose attempt was not begun for want of time.
    DeliveryItem late() {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.put("lt", Items.number(lateTimes() + 1));
        return new DeliveryItem(number, item);
    }

    /// The same under the same revision, whose attempt was begun.
    DeliveryItem inTime() {
        Map<String, AttributeValue> item = new TreeMap<>(attributes);
        item.remove("lt");
        return new DeliveryItem(number, item);
    }

    /// How often in a row it was [#late].
    int lateTimes() {
        return attributes.containsKey("lt") ? (int) Items.number(attributes, "lt") : 0;
    }

    /// The slot of the attempt that is under way; 0 if none is.
    int slot() {
        return attributes.containsKey("n") ? (int) Items.number(attributes, "n") : 0;
    }

    /// When the owner of the last attempt is gone for certain; 0 if there was no attempt.
    long goneMs() {
        return attributes.containsKey("u") ? Items.number(attributes, "u") : 0;
    }

    /// Whether it is being removed: it and all of its parts are ended.
    boolean isRemoved() {
        return attributes.containsKey(REMOVED);
    }

    long revision() {
        return Items.number(attributes, "v");
    }

    Optional<Proof> proof() {
        return attributes.containsKey("h")
                ? Optional.of(new Proof(
                        Items.text(attributes, "h"),
                        Items.text(attributes, "p"),
                        Items.number(attributes, "z"),
                        attributes.containsKey("j") ? Items.text(attributes, "j") : ""))
                : Optional.empty();
    }

    /// The members of a part among the records of its batch, or all of a batch.
    Members members() {
        if (number.isWhole()) {
            return Members.all((int) Items.number(attributes, "r"));
        }
        ByteBuffer packed = ByteBuffer.wrap(Items.bytes(attributes, "a"));
        List<Range> ranges = new ArrayList<>();
        while (packed.hasRemaining()) {
            ranges.add(new Range(packed.getInt(), packed.getInt()));
        }
        return new Members(ranges);
    }

    /// How many parts it was divided into; 0 if it was not.
    int parts() {
        return attributes.containsKey("d") ? (int) Items.number(attributes, "d") : 0;
    }

    /// The state. Parts are items of their own and are left out.
    Delivery delivery() {
        Tries tries = new Tries(
                (int) Items.number(attributes, "tc"),
                Items.number(attributes, "tf"),
                (int) Items.number(attributes, "tg"),
                Items.number(attributes, "tu") == 1);
        long at = Items.number(attributes, "w");
        String reason = Items.text(attributes, "q");
        String owner = Items.text(attributes, "o");
        String end = Items.text(attributes, "e");
        return switch (Items.text(attributes, "y")) {
            case "waiting" -> new Delivery.Waiting(tries, at, reason);
            case "started" -> new Delivery.Started(tries, owner, at);
            case "done" -> new Delivery.Done(tries, at, How.valueOf(end));
            case "in-doubt" -> new Delivery.InDoubt(tries, owner, at, reason);
            case "aside" -> new Delivery.Aside(tries, at, reason, !end.isEmpty());
            case "divided" -> new Delivery.Divided(tries, List.of());
            default ->
                throw new IllegalStateException("Batch " + number + " is in a state that this version does not know: "
                        + Items.text(attributes, "y") + ". Deploy the version that wrote it.");
        };
    }

    private static Map<String, AttributeValue> with(
            Map<String, AttributeValue> before, long revision, Delivery delivery) {
        Written written = Written.of(delivery);
        Map<String, AttributeValue> item = new TreeMap<>(before);
        item.put("v", Items.number(revision));
        item.put("y", AttributeValue.fromS(written.state));
        item.put("w", Items.number(written.atMs));
        item.put("q", AttributeValue.fromS(written.reason));
        item.put("o", AttributeValue.fromS(written.owner));
        item.put("e", AttributeValue.fromS(written.end));
        item.put("tc", Items.number(delivery.tries().count()));
        item.put("tf", Items.number(delivery.tries().firstMs()));
        item.put("tg", Items.number(delivery.tries().generation()));
        item.put("tu", Items.number(delivery.tries().isPerhapsIn() ? 1 : 0));
        if (!(delivery instanceof Delivery.Started)) {
            item.remove("n");
        }
        if (delivery instanceof Delivery.Divided divided) {
            item.put("d", Items.number(divided.parts().size()));
        }
        return item;
    }

    /// A state as attributes.
    private record Written(String state, long atMs, String reason, String owner, String end) {
        static Written of(Delivery delivery) {
            return switch (delivery) {
                case Delivery.Waiting waiting ->
                    new Written("waiting", waiting.notBeforeMs(), waiting.reason(), "", "");
                case Delivery.Started started -> new Written("started", started.atMs(), "", started.owner(), "");
                case Delivery.Done done ->
                    new Written("done", done.atMs(), "", "", done.how().name());
                case Delivery.InDoubt doubt ->
                    new Written("in-doubt", doubt.startedMs(), doubt.reason(), doubt.owner(), "");
                case Delivery.Aside aside ->
                    new Written("aside", aside.atMs(), aside.reason(), "", aside.isConflict() ? "CONFLICT" : "");
                case Delivery.Divided _ -> new Written("divided", 0, "", "", "");
            };
        }
    }
}
