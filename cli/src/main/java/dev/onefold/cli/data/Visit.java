package dev.onefold.cli.data;

import dev.onefold.cli.call.Caller;
import dev.onefold.cli.data.Frames.Frame;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// A command that is run by the owner of a data directory.
final class Visit {
    private Visit() {}

    /// Has the owner run a command line, and hands its output on. Empty when nobody owns the directory, or its owner
    /// is leaving and has said nothing yet.
    ///
    /// @throws IOException when the owner dies half-way
    static OptionalInt pay(Path directory, Caller caller, List<String> arguments) throws IOException {
        Optional<SocketChannel> channel = connect(directory);
        if (channel.isEmpty()) {
            return OptionalInt.empty();
        }
        boolean begun = false;
        try (Frames frames = new Frames(channel.get())) {
            byte[] request = Request.of(caller, arguments).json().getBytes(StandardCharsets.UTF_8);
            frames.send(Frames.COMMAND, request);
            for (Frame frame = frames.read(); frame != null; frame = frames.read()) {
                switch (frame.kind()) {
                    case Frames.OUT -> caller.out().write(frame.payload());
                    case Frames.ERR -> caller.err().write(frame.payload());
                    case Frames.WANT -> {
                        caller.out().flush();
                        frames.give(caller.in());
                    }
                    case Frames.EXIT -> {
                        return OptionalInt.of(frame.payload()[0] & 0xff);
                    }
                    default -> throw new IOException("The engine's owner sent a frame of unknown kind " + frame.kind());
                }
                begun = true;
            }
        } catch (IOException broken) {
            if (begun) {
                throw broken;
            }
            return OptionalInt.empty();
        }
        if (begun) {
            throw new IOException(
                    "The engine's process ended before it had answered, or had waited for this command for more than "
                            + Door.Limits.USUAL.person().toMinutes()
                            + " minutes (at a prompt, or for its output to be read)");
        }
        return OptionalInt.empty();
    }

    private static Optional<SocketChannel> connect(Path directory) throws IOException {
        if (!Files.exists(Address.file(directory))) {
            return Optional.empty();
        }
        try (Address address = Address.of(directory)) {
            return Optional.of(SocketChannel.open(address.socket()));
        } catch (IOException dead) {
            return Optional.empty(); // The file is there and nobody listens: its owner was killed.
        }
    }
}
