import type { Server } from "node:http";
import type { Socket } from "node:net";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { getClientIpNetwork } from "../server/client-address.ts";

interface ConnectionLimits {
  maxConnections: number;
  /** Undefined behind a proxy, because all connections then come from the proxy's address. */
  maxConnectionsPerAddress: number | undefined;
}

/** Limits the connections of a server, in total and per client network. Closes connections that exceed a limit. */
export function limitServerConnections(
  server: Server,
  { maxConnections, maxConnectionsPerAddress }: ConnectionLimits,
): void {
  server.maxConnections = maxConnections;
  if (maxConnectionsPerAddress === undefined) return;
  const openConnections = new Admission({ ...locationLimits.connections, perSender: maxConnectionsPerAddress });
  server.on("connection", (socket: Socket) => {
    const network = getClientIpNetwork(socket.remoteAddress ?? "unknown");
    if (openConnections.findError(network)) return void socket.destroy();
    const release = openConnections.add(network);
    socket.once("close", () => release());
  });
}
