package dev.onefold.tables;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

/// The files of an export: in a folder of this machine, or in a bucket.
public sealed interface Folder {
    /// A name for the place of the files.
    String name();

    /// The paths of all files whose path has this end, from here.
    List<String> find(String end) throws IOException;

    /// Opens a file by its path from here.
    InputStream open(String path) throws IOException;

    /// On this machine.
    record OnDisk(Path path) implements Folder {
        @Override
        public String name() {
            return path.toString();
        }

        @Override
        public List<String> find(String end) throws IOException {
            try (Stream<Path> files = Files.walk(path)) {
                return files.filter(Files::isRegularFile)
                        .map(file -> path.relativize(file).toString().replace('\\', '/'))
                        .filter(file -> file.endsWith(end))
                        .sorted()
                        .toList();
            }
        }

        @Override
        public InputStream open(String file) throws IOException {
            return Files.newInputStream(path.resolve(file));
        }
    }

    /// In a bucket.
    ///
    /// @param prefix the beginning of all keys; empty, or with a slash at its end
    record InBucket(S3AsyncClient client, String bucket, String prefix) implements Folder {
        @Override
        public String name() {
            return "s3://" + bucket + "/" + prefix;
        }

        @Override
        public List<String> find(String end) throws IOException {
            List<String> found = new ArrayList<>();
            try {
                client.listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix))
                        .contents()
                        .map(S3Object::key)
                        .filter(key -> key.endsWith(end))
                        .subscribe(key -> found.add(key.substring(prefix.length())))
                        .join();
            } catch (CompletionException e) {
                throw failed(name(), e);
            }
            found.sort(null);
            return found;
        }

        @Override
        public InputStream open(String path) throws IOException {
            try {
                return client.getObject(
                                request -> request.bucket(bucket).key(prefix + path),
                                AsyncResponseTransformer.<GetObjectResponse>toBlockingInputStream())
                        .join();
            } catch (CompletionException e) {
                throw failed(name() + path, e);
            }
        }

        private static IOException failed(String what, CompletionException e) {
            String why =
                    e.getCause() instanceof SdkException failure ? failure.getMessage() : String.valueOf(e.getCause());
            return new IOException(what + ": " + why, e);
        }
    }
}
