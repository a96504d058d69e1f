import type { Server } from "node:http";
import type { Socket } from "node:net";
import { KeyedUsageCounter } from "@pragma/runtime/limits/keyed-counter";
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
  const openConnections = new KeyedUsageCounter();
  server.on("connection", (socket: Socket) => {
    const network = getClientIpNetwork(socket.remoteAddress ?? "unknown");
    if (openConnections.get(network) >= maxConnectionsPerAddress) return void socket.destroy();
    openConnections.add(1, network);
    socket.once("close", () => openConnections.add(-1, network));
  });
}
