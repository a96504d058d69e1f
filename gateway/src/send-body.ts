import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";

/** A request's body on its way to a service. */
export interface BodySending {
  /** Whether all of it has been sent. */
  isDone(): boolean;
  /** Sends no more of it; what still comes is taken from the client and thrown away. */
  stop(): void;
}

/** Sends a body as it comes, no faster than the service takes it; in chunks when nobody knows how long it is. */
export function sendBody(incoming: IncomingMessage, socket: Socket, { inChunks }: { inChunks: boolean }): BodySending {
  let isDone = false;

  const resume = () => incoming.resume();
  const send = (part: Buffer) => {
    if (inChunks) socket.write(`${part.length.toString(16)}\r\n`, "latin1");
    const isTaken = socket.write(part);
    if (inChunks) socket.write("\r\n", "latin1");
    if (!isTaken) incoming.pause();
  };
  const finish = () => {
    isDone = true;
    if (inChunks) socket.write("0\r\n\r\n", "latin1");
    detach();
  };
  function detach(): void {
    incoming.off("data", send).off("end", finish);
    socket.off("drain", resume);
  }

  incoming.on("data", send).once("end", finish);
  socket.on("drain", resume);
  return {
    isDone: () => isDone,
    stop() {
      detach();
      incoming.resume();
    },
  };
}
