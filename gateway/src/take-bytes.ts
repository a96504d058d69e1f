import type { Socket } from "node:net";

/** What connections are read into, one after the other. */
const room = Buffer.alloc(64 * 1024);

/** An accepted connection with what node:net uses for `onread`, which it offers only for connections that it makes. */
interface Accepted extends Socket {
  _handle?: { useUserBuffer?(room: Uint8Array): void } | null;
  [part: symbol]: unknown;
}

/**
 * Has what comes on an accepted connection handed to `take`, whose it is until it returns. It does not pass through the
 * stream that the socket is, for which node makes 64 KB of room at each read: a request here is one read. Where node has
 * changed so that this cannot be, it comes from the stream after all.
 *
 * @returns what ends it: from then on everything comes from the stream.
 */
export function takeBytes(socket: Socket, take: (bytes: Buffer) => void): () => void {
  const accepted = socket as Accepted;
  const [kBuffer, kBufferCb] = ["kBuffer", "kBufferCb"].map((name) => symbolOf(accepted, name));
  if (!kBuffer || !kBufferCb || !accepted._handle?.useUserBuffer) {
    socket.on("data", take);
    return () => socket.off("data", take);
  }
  accepted._handle.useUserBuffer(room);
  accepted[kBuffer] = room;
  accepted[kBufferCb] = (size: number) => take(room.subarray(0, size));
  socket.resume();
  return () => {
    accepted[kBufferCb] = (size: number) => socket.push(Buffer.from(room.subarray(0, size)));
  };
}

function symbolOf(object: object, name: string): symbol | undefined {
  return Object.getOwnPropertySymbols(object).find(({ description }) => description === name);
}
