package dev.onefold.local.cloud;

import dev.onefold.local.gate.Gate;
import dev.onefold.local.gate.Role;
import dev.onefold.local.meter.Meters;
import dev.onefold.local.stack.Clients;
import dev.onefold.local.stack.Connections;
import dev.onefold.local.stack.Machine;
import dev.onefold.local.stack.StackFaults;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/// What stacks are made on.
///
/// @param machine whose class path is not used: functions run from the archive that the template names
/// @param direct clients of the servers themselves, not through the gate
record Ground(Machine machine, StackFaults faults, Gate gate, Connections connections, Clients direct, Meters meters) {
    /// The operator, and the roles of a stack.
    List<Role> callers(Collection<Role> roles) {
        List<Role> callers = new ArrayList<>(roles);
        callers.add(Role.OPERATOR);
        return callers;
    }
}
