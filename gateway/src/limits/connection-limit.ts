import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { getClientIpNetwork } from "../server/client-address.ts";

/** Limits the connections of a server per client network. Closes connections that exceed the limit. */
export function limitConnectionsPerAddress(server: Server, maxConnectionsPerAddress: number): void {
  const openConnections = new Admission({ ...locationLimits.connections, perSender: maxConnectionsPerAddress });
  server.on("connection", (socket: Socket) => {
    const network = getClientIpNetwork(socket.remoteAddress ?? "unknown");
    if (openConnections.findError(network)) return void socket.destroy();
    const release = openConnections.holdBeyondLimit(network);
    socket.once("close", () => release());
  });
}
