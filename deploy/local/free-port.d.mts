/** A TCP port of the loopback interface that nobody listens on at this moment. */
export function freePort(): Promise<number>;
/** Whether a server could listen on this port now, on the loopback interface or on all of them. */
export function isPortFree(port: number): Promise<boolean>;
