package dev.onefold.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.List;

/// Reads a key and its certificates from files in PEM form (RFC 7468).
final class Pem {
    private static final String BEGIN = "-----BEGIN PRIVATE KEY-----";
    private static final String END = "-----END PRIVATE KEY-----";

    private Pem() {}

    /// @throws IOException if a file cannot be read, or has something else; the message has none of it
    static KeyStore keyStore(Settings.Tls tls) throws IOException {
        try (InputStream in = Files.newInputStream(tls.certificates())) {
            Certificate[] chain = CertificateFactory.getInstance("X.509")
                    .generateCertificates(in)
                    .toArray(new Certificate[0]);
            if (chain.length == 0) {
                throw new IOException("The file " + tls.certificates() + " has no certificate in PEM form");
            }
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("onefold", key(tls.key()), new char[0], chain);
            return store;
        } catch (GeneralSecurityException e) {
            throw new IOException("The certificates in " + tls.certificates() + " cannot be read", e);
        }
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String text = Files.readString(file);
        int from = text.indexOf(BEGIN);
        int to = text.indexOf(END);
        IOException wrong =
                new IOException("The file " + file + " has no private key in PEM form (PKCS #8) of RSA, EC or"
                        + " Ed25519 without a password. 'openssl pkcs8 -topk8 -nodes' makes one");
        if (from < 0 || to < from) {
            throw wrong;
        }
        PKCS8EncodedKeySpec encoded;
        try {
            encoded =
                    new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(text.substring(from + BEGIN.length(), to)));
        } catch (IllegalArgumentException e) {
            throw wrong;
        }
        for (String algorithm : List.of("RSA", "EC", "Ed25519")) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
            } catch (InvalidKeySpecException e) {
                wrong.addSuppressed(e);
            }
        }
        throw wrong;
    }
}
