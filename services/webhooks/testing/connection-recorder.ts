/** Records every address to which this process has tried to connect. */
export interface ConnectionRecorder {
  addresses: string[];
  stop(): void;
}

interface TcpPrototype {
  connect: ConnectFunction;
  connect6: ConnectFunction;
}
type ConnectFunction = (request: unknown, address: string, port: number) => number;

/** ECONNREFUSED as libuv returns it. */
const connectionRefused = -111;

/**
 * Records addresses at the last step before the system call, below all code that resolves, checks or retries.
 * Connections to addresses for which `isAllowed` returns false are refused, so that no traffic leaves this machine.
 */
export function recordOutgoingConnections(isAllowed: (address: string) => boolean): ConnectionRecorder {
  const { binding } = process as unknown as { binding(name: string): { TCP: { prototype: TcpPrototype } } };
  const { prototype } = binding("tcp_wrap").TCP;
  const { connect, connect6 } = prototype;
  const recorder: ConnectionRecorder = {
    addresses: [],
    stop() {
      Object.assign(prototype, { connect, connect6 });
    },
  };
  const withRecording = (original: ConnectFunction): ConnectFunction =>
    function (this: unknown, request, address, port) {
      recorder.addresses.push(address);
      return isAllowed(address) ? original.call(this, request, address, port) : connectionRefused;
    };
  Object.assign(prototype, { connect: withRecording(connect), connect6: withRecording(connect6) });
  return recorder;
}
