/** Every address that this process has asked the system to connect to, and what became of it. */
export interface ConnectionRecorder {
  addresses: string[];
  stop(): void;
}

interface TcpPrototype {
  connect: ConnectFunction;
  connect6: ConnectFunction;
}
type ConnectFunction = (request: unknown, address: string, port: number) => number;

/** Connection refused, as the system says it. */
const connectionRefused = -111;

/**
 * Notes each address at the last step before the system, below everything that resolves, checks or retries. Only
 * addresses that `isLet` are connected to; to others the connection is refused, so that nothing leaves this machine.
 */
export function recordConnections(isAllowed: (address: string) => boolean): ConnectionRecorder {
  const { binding } = process as unknown as { binding(name: string): { TCP: { prototype: TcpPrototype } } };
  const { prototype } = binding("tcp_wrap").TCP;
  const { connect, connect6 } = prototype;
  const watch: ConnectionRecorder = {
    addresses: [],
    stop() {
      Object.assign(prototype, { connect, connect6 });
    },
  };
  const recorded = (original: ConnectFunction): ConnectFunction =>
    function (this: unknown, request, address, port) {
      watch.addresses.push(address);
      return isAllowed(address) ? original.call(this, request, address, port) : connectionRefused;
    };
  Object.assign(prototype, { connect: recorded(connect), connect6: recorded(connect6) });
  return watch;
}
