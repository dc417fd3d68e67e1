package dev.onefold.cli.call;

import java.net.URI;
import java.net.URISyntaxException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/// Addresses of services that are given as options.
public final class EndpointOption implements ITypeConverter<URI> {
    @Override
    public URI convert(String text) {
        try {
            URI uri = new URI(text);
            if (Endpoint.isPossible(uri) && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))) {
                return uri;
            }
        } catch (URISyntaxException e) {
            throw wrong(text);
        }
        throw wrong(text);
    }

    private static TypeConversionException wrong(String text) {
        return new TypeConversionException("'" + text + "' is no address such as http://localhost:8000");
    }
}
