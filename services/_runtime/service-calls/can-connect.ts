import { connect } from "node:net";

const connectTimeoutMs = 1_500;

/** Returns whether the host of a URL accepts connections. */
export function canConnect(url: string): Promise<boolean> {
  const { hostname, port, protocol } = new URL(url);
  const address = {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: Number(port) || (protocol === "https:" ? 443 : 80),
  };
  return new Promise((resolve) => {
    const socket = connect({ ...address, timeout: connectTimeoutMs });
    const finish = (isConnected: boolean) => () => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.once("connect", finish(true)).once("timeout", finish(false)).once("error", finish(false));
  });
}
