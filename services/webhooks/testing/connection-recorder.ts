/** The addresses to which this process has tried to open TCP connections since the recording started. */
export interface OutboundConnectionRecorder {
  addresses: string[];
  stop(): void;
}

interface TcpPrototype {
  connect: ConnectFunction;
  connect6: ConnectFunction;
}
type ConnectFunction = (request: unknown, address: string, port: number) => number;

/** The error code that libuv returns for ECONNREFUSED on Linux. */
const connectionRefused = -111;

/**
 * Records the address of every outgoing connection at the last step before the system call, so that no code path is
 * missed. Refuses connections to addresses for which `isAllowed` returns false, so that no traffic leaves this machine.
 */
export function restrictConnections(isAllowed: (address: string) => boolean): OutboundConnectionRecorder {
  const { binding } = process as unknown as { binding(name: string): { TCP: { prototype: TcpPrototype } } };
  const { prototype } = binding("tcp_wrap").TCP;
  const { connect, connect6 } = prototype;
  const recorder: OutboundConnectionRecorder = {
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
