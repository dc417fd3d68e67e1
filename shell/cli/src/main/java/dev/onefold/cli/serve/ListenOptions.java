package dev.onefold.cli.serve;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.call.CommandFailure;
import dev.onefold.cli.serve.ServeFile.Setting;
import dev.onefold.server.Settings;
import dev.onefold.server.Tokens;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// How the service listens, as options. An option overrides the file of settings.
final class ListenOptions {
    private static final int PORT_USUAL = 8080;
    private static final int PORT_MAX = 65_535;

    @Option(
            names = "--address",
            paramLabel = "HOST",
            description = "The address to listen at. Default: the loopback address, which only programs on this machine"
                    + " reach. Any other one needs --tokens, and TLS or --insecure.")
    private @Nullable String address;

    @Option(
            names = "--port",
            paramLabel = "N",
            description = "The port to listen at; 0 takes a free one. Default: 8080.")
    private @Nullable Integer port;

    @Option(
            names = "--tls-certificate",
            paramLabel = "FILE",
            description = "The certificates of the service, in PEM form, its own first. Together with --tls-key.")
    private @Nullable String certificate;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "The private key of the certificate, in PEM form (PKCS #8).")
    private @Nullable String key;

    @Option(
            names = "--tokens",
            paramLabel = "FILE",
            description =
                    "Who may do what: a file that 'onefold token' writes. Without it every program that reaches the"
                            + " address may do everything.")
    private @Nullable String tokens;

    @Option(
            names = "--insecure",
            description = "Listens at an address that other machines reach without TLS, for example behind a proxy that"
                    + " has it. Tokens and records are readable on the way.")
    private boolean insecure;

    @Option(
            names = "--jwt-issuer",
            paramLabel = "NAME",
            description = "Takes tokens (JWT) that this issuer has signed, too; the name is their claim 'iss'. Together"
                    + " with --jwt-audience and --jwt-keys.")
    private @Nullable String issuer;

    @Option(
            names = "--jwt-audience",
            paramLabel = "NAME",
            description = "The name of this service in the claim 'aud' of such tokens.")
    private @Nullable String audience;

    @Option(
            names = "--jwt-keys",
            paramLabel = "URL",
            description = "Where the issuer has its keys (a JSON Web Key Set), by https.")
    private @Nullable String issuerKeys;

    @Option(
            names = "--proxies",
            paramLabel = "ADDRESS,…",
            description = "Addresses through which many clients come. Any other address has half of the connections at"
                    + " most.")
    private @Nullable String proxies;

    private @Nullable Tokens tokens(Caller caller, ServeFile file) throws IOException {
        String given = tokens == null ? file.setting(Setting.TOKENS).orElse(null) : tokens;
        Tokens read = given == null ? null : Tokens.read(Files.readAllLines(file(caller, given)));
        String name = issuer == null ? file.setting(Setting.ISSUER).orElse(null) : issuer;
        String service = audience == null ? file.setting(Setting.AUDIENCE).orElse(null) : audience;
        String keys = issuerKeys == null ? file.setting(Setting.ISSUER_KEYS).orElse(null) : issuerKeys;
        if (name == null && service == null && keys == null) {
            return read;
        }
        if (name == null || service == null || keys == null) {
            throw CommandFailure.usage("An issuer of tokens needs its name, this service's name for it, and its keys:"
                    + " --jwt-issuer, --jwt-audience and --jwt-keys.");
        }
        URI at = URI.create(keys);
        return read == null ? Tokens.signedBy(name, service, at) : read.orSignedBy(name, service, at);
    }

    /// The settings of the service.
    Settings settings(Caller caller, ServeFile file) throws IOException {
        InetAddress at = address(address == null ? file.setting(Setting.ADDRESS).orElse(null) : address);
        String certificates =
                certificate == null ? file.setting(Setting.CERTIFICATE).orElse(null) : certificate;
        String privateKey = key == null ? file.setting(Setting.KEY).orElse(null) : key;
        if ((certificates == null) != (privateKey == null)) {
            throw CommandFailure.usage("A certificate and its key go together: --tls-certificate and --tls-key.");
        }
        Settings.Tls tls = certificates == null || privateKey == null
                ? null
                : new Settings.Tls(file(caller, certificates), file(caller, privateKey));
        boolean isInsecure = insecure || truth(file.setting(Setting.INSECURE).orElse("false"));
        if (!at.isLoopbackAddress() && tls == null && !isInsecure) {
            throw CommandFailure.usage("Other machines can reach the address " + at.getHostAddress()
                    + ", and there is no TLS: tokens and records would be readable on the way. Give --tls-certificate"
                    + " and --tls-key, or --insecure if something in front of the service has TLS.");
        }
        try {
            return new Settings(at, port(file), tls, tokens(caller, file), Settings.Limits.USUAL, proxies(file));
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(e.getMessage() + ".");
        }
    }

    private static InetAddress address(@Nullable String host) {
        if (host == null) {
            return InetAddress.getLoopbackAddress();
        }
        try {
            return InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw CommandFailure.usage("There is no address '" + host + "' to listen at.");
        }
    }

    private Set<InetAddress> proxies(ServeFile file) {
        String text = proxies == null ? file.setting(Setting.PROXIES).orElse("") : proxies;
        Set<InetAddress> all = new HashSet<>();
        for (String each : text.isBlank() ? List.<String>of() : List.of(text.split(",", -1))) {
            try {
                all.add(InetAddress.ofLiteral(each.strip()));
            } catch (IllegalArgumentException e) {
                throw CommandFailure.usage("'" + each + "' among the proxies is not an address such as 10.0.0.7.");
            }
        }
        return all;
    }

    private int port(ServeFile file) {
        String text = file.setting(Setting.PORT).orElse(Integer.toString(PORT_USUAL));
        if (port == null && !text.matches("[0-9]{1,5}")) {
            throw CommandFailure.usage("The port is 0 to " + PORT_MAX + ", not '" + text + "'.");
        }
        int number = port == null ? Integer.parseInt(text) : port;
        if (number < 0 || number > PORT_MAX) {
            throw CommandFailure.usage("The port is 0 to " + PORT_MAX + ", not " + number + ".");
        }
        return number;
    }

    private static boolean truth(String text) {
        return switch (text) {
            case "true" -> true;
            case "false" -> false;
            default -> throw CommandFailure.usage("'insecure' is true or false, not '" + text + "'.");
        };
    }

    private static Path file(Caller caller, String text) {
        Path path = caller.path(text);
        if (!Files.isRegularFile(path)) {
            throw CommandFailure.usage("There is no file " + caller.shown(path) + ".");
        }
        return path;
    }
}
