import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";

/** Returns a response that its client has not read; it is closed with its socket. */
export function createUnreadResponse(): ServerResponse {
  const socket = new Socket();
  const outgoing = new ServerResponse(new IncomingMessage(socket));
  outgoing.assignSocket(socket);
  return outgoing;
}
