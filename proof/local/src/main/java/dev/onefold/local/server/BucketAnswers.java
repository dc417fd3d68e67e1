package dev.onefold.local.server;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/// What the object server says of buckets.
final class BucketAnswers {
    private static final String NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";
    private static final int KEYS_MAX = 1_000;

    private BucketAnswers() {}

    static ObjectAnswer list(Map<String, Bucket> buckets, String prefix) {
        return ObjectAnswer.xml(Xml.document(
                "ListAllMyBucketsResult",
                NAMESPACE,
                xml -> xml.in(
                        "Buckets",
                        () -> buckets.forEach((name, bucket) -> {
                            if (name.startsWith(prefix)) {
                                xml.in("Bucket", () -> xml.add("Name", name).add("CreationDate", bucket.made()));
                            }
                        }))));
    }

    /// Answers what is asked of a bucket itself.
    static ObjectAnswer of(Bucket bucket, ObjectRequest asked) {
        String what = asked.method() + " "
                + List.of("versioning", "versions", "delete", "tagging", "list-type").stream()
                        .filter(asked.query()::containsKey)
                        .findFirst()
                        .orElse("");
        return switch (what) {
            case "HEAD " -> ObjectAnswer.done(200);
            case "GET versions" -> versions(bucket, asked);
            case "GET list-type" -> objects(bucket, asked);
            case "POST delete" -> delete(bucket, asked);
            case "GET versioning" ->
                ObjectAnswer.xml(Xml.document("VersioningConfiguration", NAMESPACE, xml -> {
                    if (bucket.isVersioned()) {
                        xml.add("Status", "Enabled");
                    }
                }));
            case "PUT versioning" -> version(bucket, asked);
            case "PUT tagging" -> {
                bucket.tag(asked.content());
                yield ObjectAnswer.done(204);
            }
            case "GET tagging" ->
                bucket.tags()
                        .map(ObjectAnswer::xml)
                        .orElseGet(() -> ObjectAnswer.refused(404, "NoSuchTagSet", "The TagSet does not exist"));
            default -> ObjectAnswer.refused(501, "NotImplemented", "The stand-in for S3 does not do '" + what + "'.");
        };
    }

    private static ObjectAnswer version(Bucket bucket, ObjectRequest asked) {
        if (!new String(asked.content(), StandardCharsets.UTF_8).contains("<Status>Enabled</Status>")) {
            return ObjectAnswer.refused(
                    501, "NotImplemented", "The stand-in for S3 does not suspend the versions of a bucket.");
        }
        bucket.keepVersions();
        return ObjectAnswer.done(200);
    }

    private static ObjectAnswer versions(Bucket bucket, ObjectRequest asked) {
        String prefix = asked.query("prefix").orElse("");
        List<Bucket.Version> rest = new ArrayList<>(
                bucket.all().filter(version -> version.key().startsWith(prefix)).toList());
        Optional<String> behind = asked.query("key-marker");
        Optional<String> behindVersion = asked.query("version-id-marker");
        behind.ifPresent(key -> {
            int at = 0;
            while (at < rest.size() && !isBehind(rest.get(at), key, behindVersion)) {
                at++;
            }
            rest.subList(0, at).clear();
        });
        int most = Math.min(asked.number("max-keys", KEYS_MAX), KEYS_MAX);
        List<Bucket.Version> page = rest.subList(0, Math.min(most, rest.size()));
        return ObjectAnswer.xml(Xml.document("ListVersionsResult", NAMESPACE, xml -> {
            xml.add("Name", asked.bucket()).add("Prefix", prefix).add("MaxKeys", most);
            xml.add("IsTruncated", rest.size() > page.size());
            if (rest.size() > page.size()) {
                xml.add("NextKeyMarker", page.getLast().key())
                        .add("NextVersionIdMarker", page.getLast().id());
            }
            page.forEach(version -> xml.in(version.isMarker() ? "DeleteMarker" : "Version", () -> {
                xml.add("Key", version.key()).add("VersionId", version.id());
                xml.add("IsLatest", bucket.isLatest(version)).add("LastModified", version.changed());
                if (version.content() != null) {
                    xml.add("Size", version.content().length);
                }
            }));
        }));
    }

    /// Versions come by their keys, and those of one key from the latest, which has the greatest name.
    private static boolean isBehind(Bucket.Version version, String key, Optional<String> id) {
        int order = Arrays.compareUnsigned(
                version.key().getBytes(StandardCharsets.UTF_8), key.getBytes(StandardCharsets.UTF_8));
        return order > 0
                || (order == 0
                        && id.map(marker -> version.id().compareTo(marker) < 0).orElse(false));
    }

    private static ObjectAnswer objects(Bucket bucket, ObjectRequest asked) {
        String prefix = asked.query("prefix").orElse("");
        Optional<String> behind = asked.query("continuation-token").or(() -> asked.query("start-after"));
        List<Bucket.Version> rest = bucket.objects()
                .filter(version -> version.key().startsWith(prefix))
                .filter(version -> behind.map(key -> isBehind(version, key, Optional.empty()))
                        .orElse(true))
                .toList();
        int most = Math.min(asked.number("max-keys", KEYS_MAX), KEYS_MAX);
        List<Bucket.Version> page = rest.subList(0, Math.min(most, rest.size()));
        return ObjectAnswer.xml(Xml.document("ListBucketResult", NAMESPACE, xml -> {
            xml.add("Name", asked.bucket()).add("Prefix", prefix).add("MaxKeys", most);
            xml.add("KeyCount", page.size()).add("IsTruncated", rest.size() > page.size());
            if (rest.size() > page.size()) {
                xml.add("NextContinuationToken", page.getLast().key());
            }
            page.forEach(version -> xml.in("Contents", () -> {
                xml.add("Key", version.key()).add("LastModified", version.changed());
                xml.add("Size", version.content() == null ? 0 : version.content().length);
            }));
        }));
    }

    private record Doomed(String key, Optional<String> version) {}

    private static ObjectAnswer delete(Bucket bucket, ObjectRequest asked) {
        List<Doomed> doomed;
        try {
            doomed = doomed(asked.content());
        } catch (XMLStreamException e) {
            return ObjectAnswer.refused(400, "MalformedXML", "The XML you provided was not well-formed.");
        }
        if (doomed.isEmpty() || doomed.size() > KEYS_MAX) {
            return ObjectAnswer.refused(
                    400, "MalformedXML", "1 to " + KEYS_MAX + " objects can be deleted at once: " + doomed.size());
        }
        return ObjectAnswer.xml(Xml.document(
                "DeleteResult",
                NAMESPACE,
                xml -> doomed.forEach(object -> xml.in("Deleted", () -> {
                    xml.add("Key", object.key());
                    if (object.version().isPresent()) {
                        bucket.deleteVersion(object.key(), object.version().get());
                        xml.add("VersionId", object.version().get());
                    } else {
                        bucket.delete(object.key())
                                .ifPresent(marker ->
                                        xml.add("DeleteMarker", true).add("DeleteMarkerVersionId", marker.id()));
                    }
                }))));
    }

    private static List<Doomed> doomed(byte[] document) throws XMLStreamException {
        XMLInputFactory factory = XMLInputFactory.newFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        XMLStreamReader reader = factory.createXMLStreamReader(new ByteArrayInputStream(document));
        List<Doomed> doomed = new ArrayList<>();
        String key = "";
        Optional<String> version = Optional.empty();
        while (reader.hasNext()) {
            int event = reader.next();
            if (event == XMLStreamReader.START_ELEMENT) {
                switch (reader.getLocalName()) {
                    case "Key" -> key = reader.getElementText();
                    case "VersionId" -> version = Optional.of(reader.getElementText());
                    default -> {} // The elements around them, and the choice of a short answer.
                }
            } else if (event == XMLStreamReader.END_ELEMENT
                    && reader.getLocalName().equals("Object")) {
                doomed.add(new Doomed(key, version));
                version = Optional.empty();
            }
        }
        return doomed;
    }
}
