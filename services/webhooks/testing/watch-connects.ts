/** Every address that this process has asked the system to connect to, and what became of it. */
export interface ConnectWatch {
  addresses: string[];
  stop(): void;
}

interface TcpPrototype {
  connect: Connect;
  connect6: Connect;
}
type Connect = (request: unknown, address: string, port: number) => number;

/** Connection refused, as the system says it. */
const refused = -111;

/**
 * Notes each address at the last step before the system, below everything that resolves, checks or retries. Only
 * addresses that `isLet` are connected to; to others the connection is refused, so that nothing leaves this machine.
 */
export function watchConnects(isLet: (address: string) => boolean): ConnectWatch {
  const { binding } = process as unknown as { binding(name: string): { TCP: { prototype: TcpPrototype } } };
  const { prototype } = binding("tcp_wrap").TCP;
  const { connect, connect6 } = prototype;
  const watch: ConnectWatch = {
    addresses: [],
    stop() {
      Object.assign(prototype, { connect, connect6 });
    },
  };
  const watched = (original: Connect): Connect =>
    function (this: unknown, request, address, port) {
      watch.addresses.push(address);
      return isLet(address) ? original.call(this, request, address, port) : refused;
    };
  Object.assign(prototype, { connect: watched(connect), connect6: watched(connect6) });
  return watch;
}
